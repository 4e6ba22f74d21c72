"""Table and picture of the demo on real middleware."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...model.tree import PRISMATIC
from ...robot import Robot
from .pictures import BELOW, Stick, draw_figures, panels, side_view

if TYPE_CHECKING:
    from .system import Recording

FIGURES = 7  # stick figures during one stroke


def table(robot: Robot, r: Recording) -> str:
    """The numbers of the motion as a text of a few lines."""
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


def draw(robot: Robot, r: Recording) -> Any:
    """One picture: the leg, the independent joints, the actuators' positions and forces."""
    leg, joints, strokes, forces = panels(
        (
            "the foot rises by 15 cm and sinks again; cylinders in colour, seen from the right",
            "you command: independent joints",
            "you get: strokes of the cylinders",
            "... and their forces",
        )
    )
    rise = np.flatnonzero(r.time <= 0.5 * r.time[-1] - 0.2)
    shown = np.linspace(0, rise[-1], FIGURES).astype(int)
    draw_figures(leg, ((r.time[k], _sticks(robot, r.y[k])) for k in shown), 1.16)
    leg.axhline(robot.pose("foot", r.y[0])[2, 3] - 0.08, color="0.6", lw=0.8, ls=":")
    moving = [i for i in range(robot.m) if np.ptp(r.command[:, i]) > 1e-6]
    for i in moving:
        name = robot.names.independent[i]
        style = (0, (4, 4)) if name == "ankle_pitch" else "-"  # it lies on the hip's curve
        joints.plot(r.time, r.y[:, i], linestyle=style, label=name)
    joints.plot(r.time, r.command[:, moving], ":", color="0.2", lw=1.0)
    joints.set(xlabel="time [s]", ylabel="angle [rad] (dotted: command)")
    joints.legend(**BELOW)
    draw_cylinders(strokes, robot, r.time, 1e3 * r.u, "stroke [mm]")
    draw_cylinders(forces, robot, r.time, r.tau, "force [N]")
    return leg.figure


def draw_cylinders(axes: Any, robot: Robot, t: Array, values: Array, label: str) -> None:
    """One curve per cylinder; the two motors of the hip have nothing to do in this motion."""
    for i, name in enumerate(robot.names.actuator):
        if _is_linear(robot, name):
            # The two cylinders of the ankle do the same as long as the foot does not roll.
            style = (0, (4, 4)) if "right" in name else "-"
            axes.plot(t, values[:, i], linestyle=style, color=f"C{i}", label=name)
    axes.set(xlabel="time [s]", ylabel=label)
    axes.legend(**{**BELOW, "ncols": 2})


def _sticks(robot: Robot, y: Array) -> list[Stick]:
    """The leg from the side; the cylinders are coloured."""
    at = side_view(robot, y)
    hip, knee, ankle = at("thigh"), at("shank"), at("foot")
    sole = [at("foot", -0.075, -0.08), at("foot", 0.145, -0.08)]
    ends = {
        name: [at(f"{name}_barrel"), at(f"{name}_rod")]
        for name in ("hip_cylinder", "knee_cylinder", "ankle_left_cylinder")
    }
    front, back, heel = ends.values()
    middle = hip + (knee - hip) * 0.675  # where the hip's rod pulls at the thigh
    return [
        ([hip, knee, ankle], "0.45", 6.0),
        ([ankle, *sole, ankle], "0.45", 3.0),
        ([hip, front[0]], "0.45", 3.0),
        ([middle, front[1]], "0.45", 3.0),
        ([hip + (knee - hip) * 0.2, back[0]], "0.45", 3.0),
        ([knee, back[1]], "0.45", 3.0),
        ([knee + (ankle - knee) * 0.275, heel[0]], "0.45", 3.0),
        ([ankle, heel[1]], "0.45", 3.0),
        *((pair, f"C{2 + k}", 4.5) for k, pair in enumerate(ends.values())),
    ]
