"""Sees when somebody sets the system's clock. No ROS in here.

Trajectories and messages are stamped with the system's time. A daemon that corrects it by a second
must not move the robot by a second of its motion.
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: Of a second [ns].
NANO = 1_000_000_000
#: Differences of two clocks between two looks that are no step: rounding and slow correction [ns].
NO_STEP = 2_000_000
#: Two clocks that are read within this time count as read at once [ns].
AT_ONCE, ATTEMPTS = 200_000, 5


class ClockSteps:
    """Compares a clock with the steady one at each look.

    Args:
        clock: the time in question [ns].
        steady: a clock that nobody sets [ns].
    """

    def __init__(
        self, clock: Callable[[], int], steady: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._clock = clock
        self._steady = steady
        self._offset: int | None = None

    def look(self) -> tuple[int, int]:
        """The time, and by how much it has stepped since the last look [ns]."""
        for _ in range(ATTEMPTS):
            before = self._steady()
            now = self._clock()
            offset = now - before
            if self._steady() - before < AT_ONCE:
                break
        else:  # the machine is too busy to tell: as it was
            offset = offset if self._offset is None else self._offset
            return before + offset, 0
        step = 0 if self._offset is None else offset - self._offset
        self._offset = offset
        return now, step if abs(step) > NO_STEP else 0
