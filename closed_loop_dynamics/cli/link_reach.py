"""Where a link, or the platform of a parallel manipulator, gets to: samples, and their picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..model.joint_limits import Limits
from ..robot import Robot
from .pictures import new_figure
from .progress import Progress


class Reached(NamedTuple):
    """What was reached within the limits of independent joints and actuators.

    ``names``: of the coordinates, with units; ``points`` (N, coordinates); ``singularity`` (N,): of
    the loops, smallest singular values; ``tried``: how many random positions.
    """

    names: tuple[str, ...]
    points: Array
    singularity: Array
    tried: int

    def summary(self, what: str) -> str:
        """Extents, a line per coordinate."""
        lines = [f"{what}: {len(self.points)} of {self.tried} random positions are within limits"]
        for name, values in zip(self.names, self.points.T, strict=True):
            lines.append(f"  {name}: {values.min():.4g} to {values.max():.4g}")
        return "\n".join(lines)


def reach_of_link(robot: Robot, link: str, count: int) -> Reached:
    """Positions of the origin of a link in the root frame."""
    names = tuple(f"{axis} [m]" for axis in "xyz")
    return _sampled(robot, names, lambda y: robot.pose(link, y)[:3, 3], count)


def reach_in_task_space(robot: Robot, count: int) -> Reached:
    """Coordinates x of the platform."""
    task = robot.task_space()
    names = tuple(f"{axis} [{'m' if axis in 'xyz' else 'rad'}]" for axis in task.axes)
    return _sampled(robot, names, lambda y: task.coordinates(robot.pose(task.platform, y)), count)


def _sampled(
    robot: Robot, names: tuple[str, ...], point: Callable[[Array], Array], count: int
) -> Reached:
    driven = Limits.of(robot.mechanism.tree, robot.names.actuator)
    points, values = [], []
    with Progress("sampling", count) as bar:
        rng = np.random.default_rng(0)
        for k in range(count):
            bar.at(k)
            y = robot.random_independent(rng, everywhere=True)
            state = robot.state(y)
            if driven.outside(state.u[None]) is None:
                points.append(point(y))
                values.append(float(state.singularity))
    found = np.array(points).reshape(-1, len(names))
    return Reached(names, found, np.array(values), count)


def draw_reach(reached: Reached, title: str) -> Any:
    """Every pair of coordinates that both vary, seen from the side."""
    extent = np.ptp(reached.points, axis=0)
    varied = [k for k in range(len(extent)) if extent[k] > 1e-6] or [0]
    pairs: Sequence[tuple[int, int]] = [
        (i, j) for n, i in enumerate(varied) for j in varied[n + 1 :]
    ] or [(varied[0], varied[0])]
    columns = min(3, len(pairs))
    rows = -(-len(pairs) // columns)
    figure = new_figure(1.5 + 4.5 * columns, 0.8 + 4.2 * rows)
    figure.suptitle(title)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    shown = None
    for panel, (i, j) in zip(panels, pairs, strict=False):
        way = reached.points.T
        shown = panel.scatter(way[i], way[j], c=reached.singularity, s=3, vmin=0.0, cmap="viridis")
        panel.set_xlabel(reached.names[i])
        panel.set_ylabel(reached.names[j])
        if reached.names[i][-3:] == reached.names[j][-3:]:
            panel.set_aspect("equal", adjustable="datalim")
        panel.grid(alpha=0.3)
    for panel in panels[len(pairs) :]:
        panel.set_axis_off()
    words = "smallest singular value of the loops; 0: their branches meet"
    figure.colorbar(shown, ax=list(panels), shrink=0.8, label=words)
    return figure
