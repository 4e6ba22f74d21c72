"""One motion that another one takes over from, at a time ahead. No ROS in here."""

from __future__ import annotations

from .sampled import Sampled
from .splice import Splice
from .trajectory import Setpoint, Spline


class Handover(Sampled):
    """A motion up to the time of a splice, then the one that was spliced in.

    Attributes:
        found: what takes over, and when.

    Args:
        before: the motion until then.
        now: earlier times are not asked for [s].
    """

    def __init__(self, before: Spline, found: Splice, now: float) -> None:
        self.start, self.times = found.spline.start, found.spline.times
        self.found = found
        self.before = before.from_now(now)

    def sample(self, time: float) -> Setpoint:
        """The motion at an absolute time [s]."""
        motion = self.before if time < self.found.time else self.found.spline
        return motion.sample(time)

    def from_now(self, now: float) -> Spline:
        """The same for times from ``now`` on: what is over need not be remembered."""
        return self if now < self.found.time else self.found.spline.from_now(now)

    def nearest_singularity(self, time: float) -> tuple[str, float] | None:
        """Of a platform at an absolute time [s]: its name and singular value; None for joints."""
        return self.from_now(time).nearest_singularity(time) if time >= self.found.time else None
