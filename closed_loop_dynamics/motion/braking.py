"""Ways to rest: along the path of a motion, or from wherever the robot is. No ROS in here."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..model.joint_limits import Limits
from .sampled import Sampled
from .trajectory import Points, Setpoint, Spline

#: Nobody brakes within less, even before a limit [s].
HARDEST = 0.05


class Braking(Sampled):
    """A motion whose time runs slower and slower, until it stands still: no way is left.

    The rate of time falls from 1 to 0 by a smooth step, so that speeds and accelerations of the
    motion go on without a jump: y(s(t)), r = ds/dt = 1 - 3 x² + 2 x³ with x = (t - begin) / T.

    Args:
        motion: what is slowed down.
        begin: when that begins [s]; until then the motion goes on as it is. Infinite: it waits
            for :meth:`begin_at`, in any thread.
        duration: T [s]; half of it is how far the motion goes on. Shorter brakes harder.
    """

    def __init__(self, motion: Spline, begin: float, duration: float) -> None:
        self._motion = motion
        self._duration = duration
        self.begin_at(begin)

    def begin_at(self, begin: float) -> None:
        """Slow down from then on [s]."""
        self.times: Array = np.array([begin, begin + self._duration])

    def beginning(self, begin: float) -> Braking:
        """The same, from then on [s]."""
        return Braking(self._motion, begin, self._duration)

    @property
    def start(self) -> float:  # type: ignore[override]
        """When it begins to slow down [s]."""
        return float(self.times[0])

    @property
    def waits(self) -> bool:
        """It is not settled yet when it begins."""
        return bool(np.isinf(self.times[0]))

    def sample(self, time: float) -> Setpoint:
        """The motion at an absolute time [s]."""
        start = self.start
        x = min(max((time - start) / self._duration, 0.0), 1.0)
        gone = self._duration * (x - x**3 + 0.5 * x**4)
        here = self._motion.sample(min(time, start) + gone)
        rate, slowing = 1.0 - 3.0 * x**2 + 2.0 * x**3, 6.0 * x * (x - 1.0) / self._duration
        ydd = rate * rate * here.ydd + slowing * here.yd
        return Setpoint(time, here.y, rate * here.yd, ydd, effort=here.effort)


def coming_to_rest(y: Array, yd: Array, now: float, duration: float, limits: Limits) -> Spline:
    """From a state (m,) to rest nearby, within the limits; it may have left them.

    Next to a limit that it runs into it brakes harder.
    """
    room, speed = np.where(yd > 0.0, limits.upper - y, y - limits.lower), np.abs(yd)
    running = speed > 0.0
    quickest = float((2.0 * room[running] / speed[running]).min(initial=duration))
    duration = min(duration, max(quickest, HARDEST))
    end = np.clip(y + 0.5 * duration * yd, limits.lower, limits.upper)
    rest = np.zeros_like(y)
    points = Points.of([duration], [end], [rest], [rest])
    return Spline(points, now, Setpoint(now, y, yd, rest))
