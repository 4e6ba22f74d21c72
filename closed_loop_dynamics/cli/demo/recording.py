"""The motion of the demo, and what is seen of the robot while it makes it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...motion.trajectory import Points, Setpoint, Spline, cycloidal
from ...robot import Robot
from ...shipped import Sample

RATE = 500.0  # of commands [Hz]
AFTER = 0.5  # how long to watch the leg hold its last position [s]


@dataclass(frozen=True, eq=False)
class Recording:
    """The leg in motion, one row per state.

    Attributes:
        how: the way it was commanded, in words.
        time: (N,) since the start of the motion [s].
        command, y: (N, m) commanded and simulated independent positions.
        q: (N, n) the spanning tree.
        u, tau: (N, p) actuator positions and forces.
        rates: lines of the table on how it was controlled and how long it took.
    """

    how: str
    time: Array
    command: Array
    y: Array
    q: Array
    u: Array
    tau: Array
    rates: list[str]


@dataclass(frozen=True, eq=False)
class UpAndDown:
    """A sample motion to its goal and back.

    Attributes:
        start: (m,) where it begins.
    """

    start: Array
    points: Points

    @staticmethod
    def of(sample: Sample, robot: Robot) -> UpAndDown:
        start, goal = (
            np.array([of.get(name, 0.0) for name in robot.names.independent])
            for of in (sample.start, sample.goal)
        )
        up, down = (cycloidal(*way, sample.duration) for way in ((start, goal), (goal, start)))
        later = replace(down, times=down.times + sample.duration)
        fields = ("times", "positions", "velocities", "accelerations")
        both = (np.concatenate([getattr(p, f) for p in (up, later)]) for f in fields)
        return UpAndDown(start, Points(*both))

    @property
    def length(self) -> float:
        """How long it is watched [s]."""
        return float(self.points.times[-1]) + AFTER

    def spline(self, begin: float = 0.0) -> Spline:
        """The motion as a function of time, from rest."""
        rest = np.zeros_like(self.start)
        return Spline(self.points, begin, Setpoint(begin, self.start, rest, rest))
