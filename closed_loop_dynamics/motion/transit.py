"""How late measurements come, by their stamps. No ROS in here.

A measurement that has waited in a queue is old, however recently it has arrived. The clock of the
stamps may be another machine's: what counts is how much more than usual lies between stamp and
arrival.
"""

from __future__ import annotations

import math

from .clock_steps import NANO

#: What has not been seen for one to two times so long is not usual any more [s].
MEMORY = 5.0
#: A clock that goes further ahead of the steady one than this, from one arrival to the next, was
#: set [s]. Less than that does no harm: a robot is foreseen for so long.
SET = 0.02
#: A message that comes so much too early, by its stamp, has a wrong one [s]; and so many in a row
#: have another clock. So have as many that come too late, if stamps went back before them: what
#: waits in a queue comes after a pause instead, and what is overtaken comes among others.
EARLY, ODD = 0.05, 20


class Transit:
    """Compares stamps with arrivals."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Learn anew what is usual."""
        self._usual = self._lately = math.inf
        self._since = -math.inf
        self._last: tuple[int, float] | None = None
        self._odd = self._behind = self._stamp = 0

    def late(self, stamp: int, now: int, steady: float) -> float:
        """How much later than usual a message comes [s].

        Args:
            stamp: of the message, in its clock [ns]; 0: it has none, and comes in time.
            now: the time of arrival by our clock, which may be set [ns].
            steady: the same by a clock that nobody sets [s].
        """
        if not stamp:
            return 0.0
        if self._last is not None:
            gone = (now - self._last[0]) / NANO
            if gone < 0.0 or gone > SET + 2.0 * (steady - self._last[1]):
                self.forget()
        self._last = (now, steady)
        if steady - self._since > MEMORY:
            self._usual, self._lately, self._since = self._lately, math.inf, steady
        passed = (now - stamp) / NANO
        early = math.isfinite(self._usual) and passed < self._usual - EARLY
        if early and self._odd < ODD:  # a wrong stamp, or a clock that was set
            self._odd += 1
            return 0.0
        self._odd = 0
        back, self._stamp = stamp < self._stamp - SET * NANO, stamp
        behind = passed > self._usual + EARLY and (back or self._behind > 0)
        self._behind = self._behind + 1 if behind else 0
        if self._behind > ODD:
            self.forget()
        self._lately = min(self._lately, passed)
        self._usual = min(self._usual, self._lately)
        return passed - self._usual
