"""Table and picture of the demo on real middleware."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...model.tree import PRISMATIC
from ...robot import Robot
from .pictures import BELOW

if TYPE_CHECKING:
    from .system import Recording

FIGURES = 7  # stick figures during one stroke


def table(robot: Robot, recording: Recording) -> str:
    """The numbers of the motion as a text of a few lines."""
    r = recording
    error = np.abs(r.y - r.command)
    kind = "real time, with feedback" if r.real_time else "pure feedforward, in lockstep"
    lines = [
        "",
        f"rh5_leg: {robot.n} joints, {robot.m} independent, {robot.p} driven, "
        f"{len(robot.branches)} mechanisms with loops",
        f"the foot goes up and down by 15 cm; {kind}; {len(r.time)} states over DDS",
        "",
        f"  {'independent joint':<24}{'from':>9}{'to':>9}{'':5}{'error rms':>12}{'error max':>12}",
    ]
    for i, name in enumerate(robot.names.independent):
        low, high = _ends(r.y[:, i])
        rms = np.sqrt(np.mean(error[:, i] ** 2))
        lines.append(
            f"  {name:<24}{low:>9.3f}{high:>9.3f} rad {rms:>12.1e}{error[:, i].max():>12.1e} rad"
        )
    lines += ["", f"  {'actuator':<24}{'from':>9}{'to':>9}{'':5}{'peak force':>12}"]
    for i, name in enumerate(robot.names.actuator):
        linear = _is_linear(robot, name)
        unit, scale, force, digits = ("mm", 1e3, "N", 1) if linear else ("rad", 1.0, "N·m", 3)
        low, high = _ends(scale * r.u[:, i])
        peak = np.abs(r.tau[:, i]).max()
        lines.append(
            f"  {name:<24}{low:>9.{digits}f}{high:>9.{digits}f} {unit:<4}{peak:>12.1f} {force}"
        )
    lines += ["", f"  {'largest gap of a loop':<24}{loop_gap(robot, r.q):>9.1e} m in all states"]
    return "\n".join([*lines, *_rates(r)])


def _ends(values: Array) -> tuple[float, float]:
    """Smallest and largest; what rounds to zero is zero, without a sign."""
    return round(float(values.min()), 9) + 0.0, round(float(values.max()), 9) + 0.0


def _rates(r: Recording) -> list[str]:
    """How fast commands followed each other by the wall clock."""
    arrived = np.sort(r.arrived)
    took = arrived[-1] - arrived[0]
    periods = 1e3 * np.diff(arrived)
    p50, p99 = np.percentile(periods, [50, 99])
    return [
        f"  {'control rate':<24}{len(r.arrived) / took:>9.0f} Hz "
        f"({(r.time[-1] - r.time[0]) / took:.2f} × real time)",
        f"  {'control period':<24}{p50:>9.2f} ms median, {p99:.2f} ms p99, "
        f"{periods.max():.2f} ms longest",
        f"  {'of which computing':<24}{1e3 * r.cycle:>9.2f} ms in the feedforward node, mean",
    ]


def loop_gap(robot: Robot, q: Array) -> float:
    """Largest distance between the two sides of a cut over (N, n) spanning positions [m]."""
    from ...quantities.links import body_poses, cut_points

    pairs = np.array(
        [cut_points(robot.branches, poses) for poses in body_poses(robot.mechanism, q)]
    )
    return float(np.linalg.norm(pairs[:, :, 0] - pairs[:, :, 1], axis=-1).max())


def _is_linear(robot: Robot, name: str) -> bool:
    tree = robot.mechanism.tree
    return tree.bodies[tree.joint_index(name)].joint.kind == PRISMATIC


# -- picture --------------------------------------------------------------------------------------


def draw(robot: Robot, recording: Recording, output: Path) -> None:
    """Save one picture: the leg, the independent joints, the actuators' positions and forces."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14.0, 9.5), layout="constrained")
    FigureCanvasAgg(figure)
    leg, joints, positions, forces = figure.subplot_mosaic("AAA;BCD", height_ratios=(5, 4)).values()
    leg.set_title(
        "the foot rises by 15 cm and sinks again; cylinders in colour, seen from the right"
    )
    draw_leg(leg, robot, recording)
    moving = [i for i in range(robot.m) if np.ptp(recording.command[:, i]) > 1e-6]
    joints.set_title("you command: independent joints")
    for i in moving:
        name = robot.names.independent[i]
        style = (0, (4, 4)) if name == "ankle_pitch" else "-"  # it lies on the hip's curve
        joints.plot(recording.time, recording.y[:, i], linestyle=style, label=name)
    joints.plot(recording.time, recording.command[:, moving], ":", color="0.2", lw=1.0)
    joints.set(xlabel="time [s]", ylabel="angle [rad] (dotted: command)")
    joints.legend(**BELOW)
    positions.set_title("you get: strokes of the cylinders")
    draw_cylinders(positions, robot, recording.time, 1e3 * recording.u)
    positions.set_ylabel("stroke [mm]")
    forces.set_title("... and their forces")
    draw_cylinders(forces, robot, recording.time, recording.tau)
    forces.set_ylabel("force [N]")
    for axes in (leg, joints, positions, forces):
        axes.grid(alpha=0.3)
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=120)


def draw_cylinders(axes: Any, robot: Robot, t: Array, values: Array) -> None:
    """One curve per cylinder; the two motors of the hip have nothing to do in this motion."""
    for i, name in enumerate(robot.names.actuator):
        if _is_linear(robot, name):
            # The two cylinders of the ankle do the same as long as the foot does not roll.
            style = (0, (4, 4)) if "right" in name else "-"
            axes.plot(t, values[:, i], linestyle=style, color=f"C{i}", label=name)
    axes.set_xlabel("time [s]")
    axes.legend(**{**BELOW, "ncols": 2})


def draw_leg(axes: Any, robot: Robot, r: Recording) -> None:
    """Stick figures in side view, one beside the other during the first stroke."""
    rise = np.flatnonzero(r.time <= 0.5 * r.time[-1] - 0.2)
    spacing = 0.42
    for place, k in enumerate(np.linspace(0, rise[-1], FIGURES).astype(int)):
        y = r.y[k]
        for points, color, width in _sticks(robot, y):
            x, z = np.array(points).T
            axes.plot(x + place * spacing, z, "o-", color=color, lw=width, ms=0.5 * width + 1.0)
        axes.text(place * spacing, 1.10, f"{r.time[k]:.2f} s", ha="center")
    axes.axhline(robot.pose("foot", r.y[0])[2, 3] - 0.08, color="0.6", lw=0.8, ls=":")
    axes.set(ylabel="z [m]", aspect="equal", xticks=[], ylim=(0.05, 1.16))


def _sticks(robot: Robot, y: Array) -> list[tuple[list[Array], str, float]]:
    """Polylines of the plane (x, z), their colours and widths."""

    def at(link: str, x: float = 0.0, z: float = 0.0) -> Array:
        point: Array = (robot.pose(link, y) @ (x, 0.0, z, 1.0))[[0, 2]]
        return point

    hip, knee, ankle = at("thigh"), at("shank"), at("foot")
    sole = [at("foot", -0.075, -0.08), at("foot", 0.145, -0.08)]
    ends = {
        name: [at(f"{name}_barrel"), at(f"{name}_rod")]
        for name in ("hip_cylinder", "knee_cylinder", "ankle_left_cylinder")
    }
    front, back, heel = ends.values()
    middle = hip + (knee - hip) * 0.675  # where the hip's rod pulls at the thigh
    sticks = [
        ([hip, knee, ankle], "0.45", 6.0),
        ([ankle, *sole, ankle], "0.45", 3.0),
        ([hip, front[0]], "0.45", 3.0),
        ([middle, front[1]], "0.45", 3.0),
        ([hip + (knee - hip) * 0.2, back[0]], "0.45", 3.0),
        ([knee, back[1]], "0.45", 3.0),
        ([knee + (ankle - knee) * 0.275, heel[0]], "0.45", 3.0),
        ([ankle, heel[1]], "0.45", 3.0),
    ]
    return sticks + [
        (pair, f"C{color}", 4.5) for pair, color in zip(ends.values(), (2, 3, 4), strict=True)
    ]
