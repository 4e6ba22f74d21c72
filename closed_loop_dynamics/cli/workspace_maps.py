"""Samples the workspace of one submechanism, and draws it as curves or maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError
from ..model.joint_limits import SLACK, Limits
from ..model.tree import PRISMATIC
from ..robot import Robot
from .packets import work_through
from .pictures import STYLES, new_figure
from .progress import Progress

#: Positions that are worked on in one go.
PACKET = 64


@dataclass(frozen=True, eq=False)
class Samples:
    """A grid over one or two independent joints; NaN where the loop does not close.

    Attributes:
        name: the submechanism.
        joints: the varied ones; actuators: those of the submechanism.
        axes: one (N,) array per varied joint [rad or m].
        u, force: (N [, N], actuators) positions and gravity-holding forces.
        ratio: (N [, N], actuators, joints) transmission ratios du/dy.
        loop, actuation: (N [, N]) smallest singular values, dimensionless.
        allowed: (N [, N]) closed, and within the limits of joints and actuators.
    """

    name: str
    joints: tuple[str, ...]
    actuators: tuple[str, ...]
    axes: tuple[Array, ...]
    u: Array
    ratio: Array
    force: Array
    loop: Array
    actuation: Array
    allowed: Array

    def summary(self) -> str:
        """Two lines of figures."""
        share = 100.0 * float(np.mean(self.allowed))
        lines = [f"{self.name}: {share:.0f} % of the sampled positions are reachable"]
        for k, actuator in enumerate(self.actuators):
            inside = self.force[..., k][self.allowed & np.isfinite(self.force[..., k])]
            if inside.size:
                lines.append(
                    f"  {actuator}: {inside.min():.4g} to {inside.max():.4g} to hold still"
                )
        return "\n".join(lines)


def sample(
    robot: Robot,
    name: str,
    joints: Sequence[str],
    y: Array,
    count: int,
    margin: float = 0.0,
    scheduler: str = "",
) -> Samples:
    """Evaluate a grid over the joints' limits and ``margin`` beyond them [rad or m].

    ``y`` (m,) has the positions of all other joints; ``scheduler`` as in :mod:`.packets`.
    """
    geometry = robot.submechanism(name)
    axes = tuple(_range(robot, joint, count, margin) for joint in joints)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    shape, actuators = grid.shape[:-1], len(geometry.active)
    points = np.tile(y, (grid[..., 0].size, 1))
    points[:, _places(robot, joints)] = grid.reshape(-1, len(joints))
    packets = np.split(points, range(PACKET, len(points), PACKET))
    work = partial(evaluate, name=name, joints=tuple(joints))
    with Progress(f"sampling {name}", len(packets)) as bar:
        found = np.vstack(work_through(work, robot, packets, bar.at, scheduler)).reshape(*shape, -1)
    ends = np.cumsum([actuators, actuators, actuators * len(joints), 1])
    u, force, ratio, loop, actuation = np.split(found, ends, axis=-1)
    loop, actuation = loop[..., 0], actuation[..., 0]
    allowed = np.isfinite(loop) & _within(u, Limits.of(robot.mechanism.tree, geometry.active))
    allowed &= _within(grid, Limits.of(robot.mechanism.tree, joints))
    ratio = ratio.reshape(*shape, actuators, len(joints))
    return Samples(
        name, tuple(joints), geometry.active, axes, u, ratio, force, loop, actuation, allowed
    )


def evaluate(robot: Robot, points: Array, name: str, joints: tuple[str, ...]) -> Array:
    """u, force, ratio, loop and actuation of :class:`Samples` at (N, m) positions, row by row."""
    geometry = robot.submechanism(name)
    own = _places(robot, geometry.independent)
    columns = [geometry.independent.index(joint) for joint in joints]
    actuators = [robot.names.actuator.index(joint) for joint in geometry.active]
    zero, rows = (
        np.zeros(robot.m),
        np.full((len(points), len(actuators) * (2 + len(joints)) + 2), np.nan),
    )
    for row, point in zip(rows, points, strict=True):
        try:
            u = robot.state(point).u[actuators]
            values = geometry.singularity(point[own])
        except ClosedLoopError:
            continue
        ratio = geometry.actuator_jacobian(point[own])[:, columns].ravel()
        try:
            force = robot.inverse_dynamics(point, zero, zero)[actuators]
        except ClosedLoopError:
            force = np.nan * u  # the actuators cannot hold it here, or not all joints are driven
        row[:] = [*u, *force, *ratio, values.loop, values.actuation]
    return rows


def _places(robot: Robot, joints: Sequence[str]) -> list[int]:
    return [robot.names.independent.index(joint) for joint in joints]


def _within(positions: Array, limits: Limits) -> Array:
    """Which of (..., joints) positions are within all limits."""
    with np.errstate(invalid="ignore"):
        fine = (positions >= limits.lower - SLACK) & (positions <= limits.upper + SLACK)
    return np.asarray(np.all(fine, axis=-1))


def _range(robot: Robot, joint: str, count: int, margin: float) -> Array:
    tree = robot.mechanism.tree
    spec = tree.bodies[tree.joint_index(joint)].joint
    limits = Limits.of(robot.mechanism.tree, [joint])
    reach = 0.2 if spec.kind == PRISMATIC else np.pi
    low, high = float(limits.lower[0]), float(limits.upper[0])
    return np.linspace(max(low - margin, -reach), min(high + margin, reach), count)


# -- one joint ------------------------------------------------------------------------------------


def draw_curves(robot: Robot, s: Samples) -> Any:
    """Actuator positions, transmission, singular values and forces over one joint."""
    figure = new_figure(11.0, 7.5)
    figure.suptitle(f"{robot.mechanism.tree.name}: {s.name}")
    (stroke, ratio), (singular, force) = figure.subplots(2, 2, sharex=True)
    x = s.axes[0]
    for k, name in enumerate(s.actuators):
        color, line = STYLES[k % len(STYLES)]
        style = {"color": color, "ls": line, "label": name}
        stroke.plot(x, s.u[:, k], **style)
        ratio.plot(x, s.ratio[:, k, 0], **style)
        force.plot(x, s.force[:, k], **style)
    singular.plot(x, s.loop, color="C3", label="of the loop (K_d)")
    singular.plot(x, s.actuation, color="C0", ls="--", label="of the actuators (G_u)")
    inside = [values[s.allowed] for values in (s.loop, s.actuation) if s.allowed.any()]
    singular.set_ylim(0.0, 1.2 * float(np.max(inside)) if inside else None)
    finite = s.force[np.isfinite(s.force)]
    if finite.size:
        low, high = np.percentile(finite, [2, 98])
        slack = 0.2 * (high - low) or 1.0
        force.set_ylim(low - slack, high + slack)
    titles = {
        stroke: ("actuator position", "rad or m"),
        ratio: ("transmission ratio du/dy", ""),
        singular: ("distance from singularities: smallest singular value", ""),
        force: ("force that holds against gravity", "N·m or N"),
    }
    for axes, (title, unit) in titles.items():
        axes.set_title(title, fontsize="medium")
        axes.set_ylabel(unit)
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
        _shade(axes, x, s.allowed)
    for axes in (singular, force):
        axes.set_xlabel(f"{s.joints[0]} (grey: not reachable)")
    return figure


def _shade(axes: Any, x: Array, allowed: Array) -> None:
    """Grey where a position cannot be reached."""
    half = 0.5 * (x[1] - x[0])
    for value, fine in zip(x, allowed, strict=True):
        if not fine:
            axes.axvspan(value - half, value + half, color="0.85", lw=0, zorder=0)
    axes.set_xlim(x[0], x[-1])


# -- two joints -----------------------------------------------------------------------------------


def draw_maps(robot: Robot, s: Samples) -> Any:
    """Reachable set, both singularity maps and a force map per actuator."""
    panels: list[tuple[str, Array, str]] = [
        ("smallest singular value of the loop (K_d)", s.loop, "viridis"),
        ("smallest singular value of the actuators (G_u)", s.actuation, "viridis"),
        *(
            (f"{a}: holding force [N·m or N]", s.force[..., k], "RdBu_r")
            for k, a in enumerate(s.actuators)
        ),
    ]
    columns = 3
    rows = -(-(len(panels) + 1) // columns)
    figure = new_figure(5.2 * columns, 4.6 * rows)
    figure.suptitle(f"{robot.mechanism.tree.name}: {s.name}")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    _reach(axes[0], s)
    for panel, (title, values, colors) in zip(axes[1:], panels, strict=False):
        _map(figure, panel, s, title, values, colors)
    for panel in axes[len(panels) + 1 :]:
        panel.set_axis_off()
    return figure


def _reach(axes: Any, s: Samples) -> None:
    from matplotlib.colors import ListedColormap

    state = np.where(s.allowed, 2.0, np.where(np.isfinite(s.loop), 1.0, 0.0))
    colors = ListedColormap(["#d0d4da", "#f4c9a8", "#8fc99b"])
    axes.pcolormesh(*s.axes, state.T, cmap=colors, vmin=0, vmax=2, shading="nearest")
    axes.set_title("green: reachable, orange: past a limit, grey: loop open", fontsize=9)
    _label(axes, s)


def _map(figure: Any, axes: Any, s: Samples, title: str, values: Array, colors: str) -> None:
    finite = values[np.isfinite(values)]
    span = {}
    if finite.size:
        # Forces grow without bound towards a singularity; a few must not fade all others.
        largest = float(np.percentile(np.abs(finite), 96))
        span = {"vmin": -largest if colors == "RdBu_r" else 0.0, "vmax": largest or 1.0}
    shown = axes.pcolormesh(*s.axes, values.T, cmap=colors, shading="nearest", **span)
    axes.set_facecolor("#d0d4da")
    if s.allowed.any() and not s.allowed.all():
        axes.contour(*s.axes, s.allowed.T.astype(float), levels=[0.5], colors="k", linewidths=1.0)
    figure.colorbar(shown, ax=axes, shrink=0.85, extend="both" if colors == "RdBu_r" else "max")
    axes.set_title(title, fontsize=9)
    _label(axes, s)


def _label(axes: Any, s: Samples) -> None:
    axes.set_xlabel(s.joints[0])
    axes.set_ylabel(s.joints[1])
