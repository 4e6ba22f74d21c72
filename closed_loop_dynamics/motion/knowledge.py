"""What is known of the robot, and since when. No ROS in here.

A command is only as good as the last proof that the robot obeyed: every answer here depends on how
old the newest measurement is, and on whether anybody was awake to hear a newer one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InvalidInput
from .manner import Manner
from .observer import Observation, Observer

#: What is left of the longest pause between two cycles after each of them.
FADING = 0.95
#: Commands do not act longer than this: drives have their watchdogs [s].
LONGEST = 0.02
#: Share of the timeout of measurements after which nothing is said: drives with a watchdog hold the
#: robot, where efforts without feedback would let it drift, and light joints run away.
BLIND = 0.5


class Seen(NamedTuple):
    """The newest measurement that was believed, and when [s, steady]."""

    what: Observation
    when: float


class Knowledge:
    """Told of measurements and of every cycle; belongs to the thread of the cycle.

    Args:
        timeout: age from which a measurement is of no use [s].
        steady: the time [s].
    """

    def __init__(
        self, observer: Observer, manner: Manner, timeout: float, steady: Callable[[], float]
    ) -> None:
        self._observer = observer
        self._manner = manner
        self._timeout = timeout
        self._steady = steady
        self.forget()

    def forget(self) -> None:
        """Nothing is known."""
        self._seen: Seen | None = None
        self._cycled: float | None = None
        self._pause = 0.0
        self._asleep, self._heard = -np.inf, False
        self._sighted: float | None = None
        self._observer.forget()

    def observe(self, u: Array, ud: Array | None, late: float = 0.0) -> bool:
        """Actuators have been measured; whether that is the newest.

        Args:
            late: how long ago that was [s].

        Raises:
            ClosedLoopError: it is not believed.
        """
        when = self._steady() - late
        if late > self._timeout:
            raise InvalidInput(f"not believed: it comes {late:.3g} s late")
        if self._seen is not None and when < self._seen.when:
            return False  # overtaken by a newer one
        self._seen = Seen(self._observer.observe(when, u, ud), when)
        self._heard = True
        return True

    def pace(self) -> None:
        """A cycle begins: how long commands act, by the longest lately; when we have slept."""
        steady = self._steady()
        gone = 0.0 if self._cycled is None else steady - self._cycled
        self._pause, self._cycled = max(min(gone, LONGEST), FADING * self._pause), steady
        if not self.blind or self._sighted is None:
            self._sighted = steady
        # Once: who has heard nothing since has not slept through it.
        if gone > 0.5 * self._timeout and self._heard:
            self._asleep, self._heard = steady, False

    @property
    def newest(self) -> Observation | None:
        """The newest measurement that was believed, however old."""
        return None if self._seen is None else self._seen.what

    @property
    def age(self) -> float:
        """Of the newest measurement [s]; infinite: there is none."""
        return np.inf if self._seen is None else self._steady() - self._seen.when

    def position(self) -> Array | None:
        """(m,) where the robot is, if that is known."""
        seen = self._seen
        if seen is None or (not self._manner.timeless and self.age > self._timeout):
            return None
        return seen.what.y

    def now(self) -> tuple[Observation | None, float]:
        """Where the robot should be by now, and how far that is to be trusted, 0 to 1."""
        seen = self._seen
        if seen is None:
            return None, 0.0
        if self._manner.timeless:
            return seen.what, 1.0
        age, fresh = self._steady() - seen.when, self._manner.fresh * self._manner.period
        if age > self._timeout:
            return None, 0.0
        trust = 1.0 if age <= fresh else max(0.0, (self._timeout - age) / (self._timeout - fresh))
        return self._observer.ahead(seen.what, age), trust

    @property
    def blind(self) -> bool:
        """Feedback is wanted, and what is known is so old that it would rather drive the robot."""
        wanted = self._manner.needs_measurement and not self._manner.timeless
        return wanted and self.age > BLIND * self._timeout

    @property
    def missed(self) -> float:
        """For how long no measurement has come that helps [s]; who has slept has not listened."""
        if self._seen is None:
            return np.inf
        if self._manner.timeless:
            return 0.0
        now = self._steady()
        # Old ones that keep coming are of no more use than none.
        useless = 0.0 if self._sighted is None else now - self._sighted
        return min(max(self.age, useless), now - self._asleep)

    @property
    def lost(self) -> bool:
        """None has come for so long that there is nothing to go by."""
        return self.missed > self._timeout

    @property
    def delay(self) -> float:
        """From a measurement to the end of the command that answers it [s]."""
        return 0.0 if self._manner.timeless else min(self.age, self._timeout) + self._pause
