"""Trajectories of some joints, while the others stay where they are. No ROS in here.

That is only a motion of the robot if the others rest: where they are told to be is looked up when
the points are read, and once more in the cycle in which the trajectory takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Array
from .splice import SAME_POSITION, SAME_VELOCITY
from .trajectory import Points, Setpoint, TrajectoryRefused


class Partial:
    """Completes the points of some joints by the reference of the others.

    Args:
        names: (m,) of all joints.
        named: of the joints that the points are about.
        read: their points, columns in the order of ``names``.
        reference: asks for (m,) where the joints are told to be.
    """

    def __init__(
        self,
        names: Sequence[str],
        named: Sequence[str],
        read: Callable[[], Points],
        reference: Callable[[], Array | None],
    ) -> None:
        self._names = names
        self._columns = [j for j, name in enumerate(names) if name in named]
        self._others = [j for j, name in enumerate(names) if name not in named]
        self._read = read
        self._reference = reference
        self._rest: Array | None = None

    def read(self) -> Points:
        """The points of all joints.

        Raises:
            TrajectoryRefused: they are bad, or it is not known where the others are.
        """
        points = self._read()
        if not self._others:
            return points
        self._rest = self._reference()
        if self._rest is None:
            name = self._names[self._others[0]]
            raise TrajectoryRefused(f"nobody knows yet where joint '{name}' is: name all joints")
        return points.among(self._columns, self._rest)

    def begins(self, running: Setpoint) -> None:
        """The trajectory takes over from ``running``.

        Raises:
            TrajectoryRefused: a joint that it does not name is under way.
        """
        if self._rest is None:
            return
        moved = np.abs(running.y - self._rest) > SAME_POSITION
        moving = np.abs(running.yd) > SAME_VELOCITY
        for j in self._others:
            if moved[j] or moving[j]:
                raise TrajectoryRefused(
                    f"joint '{self._names[j]}' is not named, and does not rest: name all joints, "
                    "or wait for the end of the motion"
                )
