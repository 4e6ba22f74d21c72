"""Table and picture of the demo."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ...model.tree import PRISMATIC
from ...quantities.links import body_poses, cut_points
from ...robot import Robot
from ..pictures import new_figure
from .recording import Recording

FIGURES, SPACING, TOP = 7, 0.42, 1.16  # stick figures of one stroke, their distance and height [m]
BELOW: dict[str, Any] = {  # a legend under its panel, where it hides no curve
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.15),
    "ncols": 3,
    "frameon": False,
    "fontsize": "small",
    "columnspacing": 1.0,
}
#: A polyline of points (x, z), its colour and width.
Stick = tuple[list[Array], str, float]


def table(robot: Robot, r: Recording) -> str:
    """The numbers of the motion as a text of a few lines."""
    error = np.abs(r.y - r.command)
    lines = [
        "",
        f"rh5_leg: {robot.n} joints, {robot.m} independent, {robot.p} driven, "
        f"{len(robot.branches)} mechanisms with loops",
        f"the foot goes up and down by 15 cm; {r.how}; {len(r.time)} states",
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
    return "\n".join([*lines, *r.rates])


def _ends(values: Array) -> tuple[float, float]:
    """Smallest and largest; what rounds to zero is zero, without a sign."""
    return round(float(values.min()), 9) + 0.0, round(float(values.max()), 9) + 0.0


def loop_gap(robot: Robot, q: Array) -> float:
    """Largest distance between the two sides of a cut over (N, n) spanning positions [m]."""
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
    figure = new_figure(14.0, 9.5)
    axes = figure.subplot_mosaic("AAA;BCD", height_ratios=(5, 4))
    titles = (
        "the foot rises by 15 cm and sinks again; cylinders in colour, seen from the right",
        "you command: independent joints",
        "you get: strokes of the cylinders",
        "... and their forces",
    )
    for panel, title in zip(axes.values(), titles, strict=True):
        panel.set_title(title)
        panel.grid(alpha=0.3)
    leg, joints, strokes, forces = axes.values()
    rise = np.flatnonzero(r.time <= 0.5 * r.time[-1] - 0.2)
    for place, k in enumerate(np.linspace(0, rise[-1], FIGURES).astype(int)):
        for points, color, width in _sticks(robot, r.y[k]):
            x, z = np.array(points).T
            leg.plot(x + place * SPACING, z, "o-", color=color, lw=width, ms=0.5 * width + 1.0)
        leg.text(place * SPACING, TOP - 0.06, f"{r.time[k]:.2f} s", ha="center")
    leg.set(ylabel="z [m]", aspect="equal", xticks=[], ylim=(0.0, TOP))
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
    return figure


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
