"""One motion that another one takes over from, once that was told. No ROS in here."""

from __future__ import annotations

import math

from .sampled import Sampled
from .splice import Splice
from .trajectory import Setpoint, Spline


class Handover(Sampled):
    """A motion up to the time of a splice, then the one that was spliced in.

    Nobody follows what was not told: until ``told`` the motion before goes on. Whoever tells it may
    put off the splice before that; the cycle alone calls the rest.

    Attributes:
        before: the motion until then.
        found: what takes over, and when.
        told: that is settled.
        interrupted: why it never takes over; empty: it does, or has.

    Args:
        now: earlier times are not asked for [s].
    """

    def __init__(self, before: Spline, found: Splice, now: float) -> None:
        self.before = before.from_now(now)
        self.found = found
        self.told, self.interrupted = False, ""

    @property
    def start(self) -> float:  # type: ignore[override]
        """Time that the points count from [s]."""
        return self.found.spline.start

    @property
    def end(self) -> float:
        """Time of the last point [s]; not known before it was told."""
        return self.found.spline.end if self.told else math.inf

    def sample(self, time: float) -> Setpoint:
        """The motion at an absolute time [s]."""
        return self._at(time).sample(time)

    def from_now(self, now: float) -> Spline:
        """The same for times from ``now`` on: what is over need not be remembered."""
        if self.has_begun(now):
            return self.found.spline.from_now(now)
        self.before = self.before.from_now(now)
        return self

    def has_begun(self, now: float) -> bool:
        """The new motion has taken over."""
        return self.told and now >= self.found.time

    def nearest_singularity(self, time: float) -> tuple[str, float] | None:
        """Of a platform at an absolute time [s]: its name and singular value; None for joints."""
        return self._at(time).nearest_singularity(time)

    def _at(self, time: float) -> Spline:
        return self.found.spline if self.has_begun(time) else self.before
