"""Samples the workspace of one submechanism: :mod:`.workspace_drawing` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError
from ..model.joint_limits import SLACK, Limits
from ..model.tree import PRISMATIC, Tree
from ..robot import Robot
from .packets import work_through
from .pictures import unit
from .progress import Progress
from .tables import EFFORT

#: Positions that are worked on in one go.
PACKET = 64


@dataclass(frozen=True, eq=False)
class Samples:
    """A grid over one or two independent joints; NaN where the loop does not close.

    Attributes:
        tree: of the robot; name: the submechanism.
        joints: the varied ones; actuators: those of the submechanism.
        axes: one (N,) array per varied joint [rad or m].
        u, force: (N [, N], actuators) positions and gravity-holding forces.
        ratio: (N [, N], actuators, joints) transmission ratios du/dy.
        loop, actuation: (N [, N]) smallest singular values, dimensionless.
        allowed: (N [, N]) closed, and within the limits of joints and actuators.
    """

    tree: Tree
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
                ends = f"{inside.min():.4g} to {inside.max():.4g}"
                lines.append(f"  {actuator}: {ends} {unit(self.tree, actuator, EFFORT)} to hold")
        return "\n".join(lines)

    def dead_points(self) -> Array:
        """(N [, N]) det G_u, 0 where the drive is dead; NaN: not as many actuators as joints."""
        square = self.ratio.shape[-1] == self.ratio.shape[-2]
        return np.linalg.det(self.ratio) if square else np.full(self.loop.shape, np.nan)

    def strength(self) -> Array:
        """(N [, N], joints) largest force at each joint that the actuators' limits allow."""
        efforts = Limits.of(self.tree, self.actuators).effort
        return np.einsum("...kj,k->...j", np.abs(self.ratio), efforts)

    def load(self) -> Array:
        """(N [, N], joints) force at each joint by which the actuators hold against gravity."""
        return np.einsum("...kj,...k->...j", self.ratio, self.force)


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
    names = (robot.mechanism.tree, name, tuple(joints), geometry.active)
    return Samples(*names, axes, u, ratio, force, loop, actuation, allowed)


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
