"""The forces inside the mechanism as arrows: what each link exerts on the next, at every pin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..robot import Robot
from .colors import force_color
from .snapshot import Snapshot

#: Length of the longest arrow, share of the robot's size.
LONGEST = 0.22


class LoadArrows:
    """Forces in joints and cuts; the largest one so far has the longest arrow and is red."""

    def __init__(self, robot: Robot, size: float) -> None:
        self._robot, self._length = robot, LONGEST * size
        self._scale = 0.0
        self._cuts = [cut for b in robot.branches.values() for cut in b.closure.system.cuts]

    def of(self, shot: Snapshot) -> tuple[Array, NDArray[np.uint8], str]:
        """(N, 2, 3) arrows from pin to tip, (N, 3) colours, and the largest force in words.

        Raises:
            ClosedLoopError: the forces of the actuators are not unique, or not finite.
        """
        zero, tree = np.zeros(self._robot.m), self._robot.mechanism.tree
        loads = self._robot.internal_loads(shot.y, *(shot.rates or (zero, zero)))
        joints = len(loads.pins) - len(self._cuts)
        places = [shot.poses[tree.frames[pin.on][0]] for pin in loads.pins[:joints]]
        places += [
            (np.eye(4) if cut.predecessor < 0 else shot.poses[cut.predecessor]) @ cut.frame_p
            for cut in self._cuts
        ]
        frames, sizes = np.array(places), loads.forces
        self._scale = max(self._scale, float(sizes.max(initial=0.0)), 1e-9)
        forces = np.einsum("nij,nj->ni", frames[:, :3, :3], loads.wrenches[:, 3:])
        shares = np.sqrt(sizes / self._scale)  # else all but one are too short to see
        along = forces / np.maximum(sizes, 1e-12)[:, None] * shares[:, None] * self._length
        start = frames[:, :3, 3]
        colors = np.array([force_color(size / self._scale) for size in sizes], dtype=np.uint8)
        k = int(np.argmax(sizes))
        text = f"largest force: {sizes[k]:.4g} N in {loads.names[k]}, {loads.pins[k].by} on "
        return np.stack([start, start + along], axis=1), colors, text + loads.pins[k].on
