"""Ways to a moving target within limits of speed, acceleration and jerk. No ROS in here.

Near the target the way is a quintic: as smooth as the stream itself, so that efforts are those of
the motion. A target too far away for that is approached in the shortest time that the limits allow
(ruckig: Berscheid and Kroeger 2021). Every way ends at rest: if nothing more comes, that is it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..arrays import Array
from ..model.joint_limits import SLACK, Limits
from .stream_target import Target
from .trajectory import Points, Setpoint, Spline, TrajectoryRefused

#: A target may be reached within so many times its horizon.
LONGER = (1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0, 16.0)
#: Where a quintic is looked at, as shares of its duration.
PLACES = np.linspace(0.0, 1.0, 11)
#: What a limit may be exceeded by between these places, as a share.
BETWEEN = 0.02


@dataclass(frozen=True, eq=False)
class StreamLimits:
    """What a streamed motion keeps to, (m,) each.

    Attributes:
        lower, upper: positions [rad or m].
        speed, acceleration, jerk: their absolute values.
    """

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array
    jerk: Array

    @staticmethod
    def of(limits: Limits, acceleration_time: float, jerk_time: float) -> StreamLimits:
        """From the URDF, and from times to full speed and to full acceleration [s]."""
        acceleration = limits.velocity / acceleration_time
        return StreamLimits(
            limits.lower, limits.upper, limits.velocity, acceleration, acceleration / jerk_time
        )

    def slower(self, rate: float) -> StreamLimits:
        """For motions that take 1 / ``rate`` times as long."""
        return StreamLimits(
            self.lower,
            self.upper,
            rate * self.speed,
            rate**2 * self.acceleration,
            rate**3 * self.jerk,
        )


# -- near the target ------------------------------------------------------------------------------


def smooth(start: Setpoint, target: Target, limits: StreamLimits) -> Spline | None:
    """The shortest quintic to the target, and on to rest; None: it is too far away for that.

    Where the target moves so near a limit that there is no way to stop behind it, it is taken to be
    at rest.
    """
    times, ends = _ends(target, limits)
    for where in (ends, np.array([ends[0], 0 * ends[0], 0 * ends[0]])):
        begin = np.broadcast_to(
            np.array([start.y, start.yd, start.ydd])[:, None], (3, len(times), len(start.y))
        )
        there = _possible(begin, where, times, limits)
        stop = _stopping_time(where, limits)
        distance = stop[:, None] / 2.0 * where[1] + stop[:, None] ** 2 / 12.0 * where[2]
        rest = np.array([where[0] + distance, 0 * distance, 0 * distance])
        there &= _possible(where, rest, stop, limits)
        if there.any():
            k = int(np.argmax(there))
            rows = where[:, k][:, None] if stop[k] <= SLACK else np.stack([where, rest], 2)[:, k]
            points = Points(np.array([times[k], times[k] + stop[k]])[: rows.shape[1]], *rows)
            return Spline(points, start.time, start)
    return None


def _ends(target: Target, limits: StreamLimits) -> tuple[Array, Array]:
    """(K,) times from now, and (3, K, m) where the target is then, within the limits."""
    times = target.horizon * np.array(LONGER)
    ends = np.array([target.ahead(t) for t in times]).transpose(1, 0, 2)
    inside = np.clip(ends[0], limits.lower, limits.upper)
    beyond = inside != ends[0]
    ends[0], ends[1:, beyond] = inside, 0.0
    ends[1] = np.clip(ends[1], -limits.speed, limits.speed)
    return times, ends


def _stopping_time(where: Array, limits: StreamLimits) -> Array:
    """(K,) times in which speeds and accelerations (3, K, m) can die out."""
    v, a = np.abs(where[1]), np.abs(where[2])
    times = 1.6 * v / limits.acceleration + np.sqrt(6.0 * v / limits.jerk) + 4.0 * a / limits.jerk
    return np.asarray(times.max(axis=1))


def _possible(begin: Array, end: Array, times: Array, limits: StreamLimits) -> Any:
    """(K,) is each quintic from (3, K, m) to (3, K, m) within (K,) times inside the limits?"""
    T = np.maximum(times, SLACK)[:, None]
    y0, v0, a0 = begin[0], begin[1] * T, begin[2] * T**2
    d, v1, a1 = end[0] - y0, end[1] * T, end[2] * T**2
    c3 = 10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1
    c4 = -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1
    c5 = 6.0 * d - 3.0 * (v0 + v1) - 0.5 * (a0 - a1)
    x = PLACES[:, None, None]
    y = y0 + x * (v0 + x * (0.5 * a0 + x * (c3 + x * (c4 + x * c5))))
    v = v0 + x * (a0 + x * (3.0 * c3 + x * (4.0 * c4 + x * 5.0 * c5)))
    a = a0 + x * (6.0 * c3 + x * (12.0 * c4 + x * 20.0 * c5))
    j = 6.0 * c3 + x * (24.0 * c4 + x * 60.0 * c5)
    less = 1.0 - BETWEEN
    good = (y >= limits.lower - SLACK) & (y <= limits.upper + SLACK)
    good &= np.abs(v) <= limits.speed * less * T
    good &= np.abs(a) <= limits.acceleration * T**2
    good &= np.abs(j) <= limits.jerk * T**3
    return good.all(axis=(0, 2)) | (times <= SLACK)


# -- far away -------------------------------------------------------------------------------------


@cache
def library() -> Any:
    """The package ruckig, None where it is missing: an extra for those who stream."""
    try:
        return importlib.import_module("ruckig")
    except ImportError:
        return None


class Fastest(Spline):
    """The fastest way to rest at a place within limits.

    Raises:
        TrajectoryRefused: there is none.
    """

    def __init__(self, start: Setpoint, goal: Array, limits: StreamLimits) -> None:
        count, ruckig = len(goal), library()
        given = ruckig.InputParameter(count)
        given.current_position, given.current_velocity, given.current_acceleration = (
            values.tolist() for values in (start.y, start.yd, start.ydd)
        )
        given.target_position = np.clip(goal, limits.lower, limits.upper).tolist()
        given.max_velocity = limits.speed.tolist()
        given.max_acceleration = limits.acceleration.tolist()
        given.max_jerk = limits.jerk.tolist()
        self._way = ruckig.Trajectory(count)
        try:
            result = ruckig.Ruckig(count).calculate(given, self._way)
        except Exception as error:
            raise TrajectoryRefused(f"no way there within the limits: {error}") from error
        if result not in (ruckig.Result.Working, ruckig.Result.Finished):
            raise TrajectoryRefused(f"no way there within the limits: {result}")
        self.start = start.time
        self.times: Array = np.array([start.time, start.time + self._way.duration])

    def sample(self, time: float) -> Setpoint:
        """The motion at an absolute time [s]."""
        y, yd, ydd = np.array(self._way.at_time(max(time - self.start, 0.0)))
        if time >= self.end:
            yd, ydd = np.zeros_like(y), np.zeros_like(y)
        return Setpoint(time, y, yd, ydd)

    def table(self, times: Array) -> tuple[Array, Array, Array]:
        """(N, m) positions, velocities, accelerations at (N,) absolute times."""
        at = self._way.at_time
        y, yd, ydd = np.array([at(max(t - self.start, 0.0)) for t in times.tolist()]).swapaxes(0, 1)
        return y, yd, ydd


def fastest(start: Setpoint, goal: Array, limits: StreamLimits) -> Iterator[Spline]:
    """Ways to rest at ``goal`` (m,), the fastest first: a slower one may need less effort."""
    for rate in (1.0, 0.5, 0.25):
        yield Fastest(start, goal, limits.slower(rate))
