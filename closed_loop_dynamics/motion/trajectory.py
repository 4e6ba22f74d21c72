"""Joint trajectories as splines, by the rules of joint_trajectory_controller. No ROS in here.

Between two points: positions only give a straight line, velocities on both sides a cubic,
accelerations on both sides as well a quintic. Before the first point the motion leads in from the
state at the moment of arrival, after the last one it rests there. Extra efforts are joined
linearly; where they are not given they are zero, and those of the last point stay.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import ClosedLoopError

#: Samples of one segment, at least and at most, and of a whole trajectory. A quintic that rests at
#: both ends may be fast between them; one that lasts long is smooth enough for a thousand.
FEWEST, PER_SEGMENT, MOST = 4, 1000, 100_000
#: Samples of the way from the running motion to the first point: the cycle waits for their check.
LEAD_IN = 40
#: No position, speed, acceleration or effort is larger; who sends such numbers is out of order.
LARGEST = 1e8


class TrajectoryRefused(ClosedLoopError):
    """A trajectory that must not be executed; the text says why."""


class WrongJoints(TrajectoryRefused):
    """It is not about the joints of this robot."""


class TooLate(TrajectoryRefused):
    """It is over already."""


@dataclass(frozen=True, eq=False)
class Setpoint:
    """Where the joints are to be at one time: position, velocity and acceleration of all.

    Attributes:
        time: [s].
        y, yd, ydd: (m,) positions, velocities, accelerations.
        effort: (m,) forces on top of those of the motion; None: none.
    """

    time: float
    y: Array
    yd: Array
    ydd: Array
    effort: Array | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class Points:
    """The points of a trajectory, one row each; a row of NaN stands for "not given".

    Attributes:
        times: (N,) seconds from the start.
        positions, velocities, accelerations: (N, m).
        efforts: (N, m) on top of those of the motion [N·m or N]; None: nowhere given.
    """

    times: Array
    positions: Array
    velocities: Array
    accelerations: Array
    efforts: Array | None = None

    @staticmethod
    def of(
        times: ArrayLike,
        positions: Sequence[ArrayLike],
        velocities: Sequence[ArrayLike] | None = None,
        accelerations: Sequence[ArrayLike] | None = None,
        efforts: Sequence[ArrayLike] | None = None,
    ) -> Points:
        """Points from rows; an empty row stands for "not given".

        Raises:
            TrajectoryRefused: rows of different lengths, numbers that are not finite, times that
                do not increase, accelerations without velocities.
        """
        times = np.asarray(times, dtype=float)
        if not len(times):
            raise TrajectoryRefused("the trajectory has no points")
        width = len(np.asarray(positions[0]))
        if not width:
            raise TrajectoryRefused("point 0 has no positions")
        full = _rows(positions, "positions", len(times), width, required=True)
        v = _rows(velocities, "velocities", len(times), width)
        a = _rows(accelerations, "accelerations", len(times), width)
        f = _rows(efforts, "efforts", len(times), width)
        points = Points(times, full, v, a, np.nan_to_num(f) if _given(f).any() else None)
        _check(points)
        return points

    def after(self, k: int) -> Points:
        """The points from number ``k`` on."""
        tables = (self.times, self.positions, self.velocities, self.accelerations)
        points = Points(*(table[k:] for table in tables))
        return points if self.efforts is None else replace(points, efforts=self.efforts[k:])

    def among(self, columns: Sequence[int], rest: Array) -> Points:
        """The same motion of some ``columns``, while all others rest at (m,) ``rest``."""
        tables, still = [], 0.0 * rest
        own = (self.positions, self.velocities, self.accelerations)
        for table, others in zip(own, (rest, still, still), strict=True):
            wide = np.tile(others, (len(self.times), 1))
            wide[:, columns] = table
            wide[~_given(table)] = np.nan
            tables.append(wide)
        points = Points(self.times, *tables)
        if self.efforts is None:
            return points
        efforts = np.zeros_like(points.positions)
        efforts[:, columns] = self.efforts
        return replace(points, efforts=efforts)

    @property
    def end_velocity(self) -> Array:
        """(m,) velocities of the last point; zero where not given."""
        return np.nan_to_num(self.velocities[-1])


def _check(points: Points) -> None:
    if not np.isfinite(points.times).all():
        raise TrajectoryRefused("a time is not finite")
    if points.times[0] < 0.0:
        raise TrajectoryRefused(f"the first time is negative: {points.times[0]:g} s")
    late = np.flatnonzero(np.diff(points.times) <= 0.0)
    if len(late):
        k = int(late[0])
        raise TrajectoryRefused(
            f"times must increase: point {k + 1} at {points.times[k + 1]:g} s follows "
            f"{points.times[k]:g} s"
        )
    lonely = np.flatnonzero(_given(points.accelerations) & ~_given(points.velocities))
    if len(lonely):
        raise TrajectoryRefused(f"point {int(lonely[0])} has accelerations, no velocities")


def _rows(
    rows: Sequence[ArrayLike] | None, what: str, count: int, width: int, required: bool = False
) -> Array:
    table = np.full((count, width), np.nan)
    for k, row in enumerate(() if rows is None else rows):
        values = np.asarray(row, dtype=float)
        if not len(values) and not required:
            continue
        if len(values) != width:
            raise TrajectoryRefused(
                f"point {k} has {len(values)} {what} for {width} joints"
                if len(values)
                else f"point {k} has no {what}"
            )
        if not (np.abs(values) <= LARGEST).all():
            raise TrajectoryRefused(
                f"point {k} has {what} that are not finite, or beyond {LARGEST:g}"
            )
        table[k] = values
    return table


def _given(table: Array) -> NDArray[np.bool_]:
    return np.isfinite(table[:, 0])


class Spline:
    """A piecewise polynomial motion that rests at its end.

    Attributes:
        times: (N,) absolute times of the points [s].
        start: absolute time that the times of the message's points count from [s].
    """

    #: (N, m) at the points.
    _efforts: Array | None = None

    def __init__(self, points: Points, start: float = 0.0, before: Setpoint | None = None) -> None:
        """Put a spline through ``points``.

        Args:
            start: absolute time that the times of the points count from [s].
            before: where to lead in from; used when it is earlier than the first point.
        """
        self.start = start
        times = start + points.times
        tables = [points.positions, points.velocities, points.accelerations]
        efforts = points.efforts
        if before is not None and before.time < times[0]:
            times = np.concatenate([[before.time], times])
            rows = (before.y, before.yd, before.ydd)
            tables = [np.vstack([row, table]) for row, table in zip(rows, tables, strict=True)]
            if efforts is not None or before.effort is not None:
                none = np.zeros_like(points.positions)
                first = none[0] if before.effort is None else before.effort
                efforts = np.vstack([first, none if efforts is None else efforts])
        self._efforts = efforts
        self.times: Array = times
        self._knots: list[float] = times.tolist()
        self._rates = _with_derivatives(_segments(times, *tables))
        self._end = tables[0][-1].copy()
        self._rest = np.zeros_like(self._end)

    @staticmethod
    def resting(y: Array, time: float) -> Spline:
        """A spline that stays at ``y``."""
        return Resting(y, time)

    @property
    def end(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    def from_now(self, now: float) -> Spline:
        """The same for times from ``now`` on [s]."""
        return self

    def sample(self, time: float) -> Setpoint:
        """The motion at an absolute time [s]."""
        effort = None if self._efforts is None else self.efforts(np.array([time]))[0]
        if time >= self._knots[-1] or len(self._knots) == 1:
            return Setpoint(time, self._end, self._rest, self._rest, effort=effort)
        k = max(bisect.bisect_right(self._knots, time) - 1, 0)
        s = max(time - self._knots[k], 0.0)
        s2 = s * s
        powers = np.array((1.0, s, s2, s2 * s, s2 * s2, s2 * s2 * s))
        y, yd, ydd = (powers @ self._rates[k]).reshape(3, -1)
        return Setpoint(time, y, yd, ydd, effort=effort)

    def efforts(self, times: Array) -> Any:
        """(N, m) extra efforts at (N,) absolute times; None: there are none."""
        if self._efforts is None:
            return None
        return np.stack([np.interp(times, self.times, row) for row in self._efforts.T], axis=1)

    def table(self, times: Array) -> tuple[Array, Array, Array]:
        """(N, m) positions, velocities, accelerations at (N,) absolute times."""
        if len(self._rates) == 0:
            rest = np.zeros((len(times), len(self._end)))
            return rest + self._end, rest, rest
        k = np.searchsorted(self.times, times, side="right") - 1
        k = np.clip(k, 0, len(self._rates) - 1)
        powers = np.maximum(times - self.times[k], 0.0)[:, None] ** np.arange(6)
        found = np.einsum("np,npm->nm", powers, self._rates[k])
        y, yd, ydd = found.reshape(len(times), 3, -1).transpose(1, 0, 2)
        over = times >= self.end
        y[over], yd[over], ydd[over] = self._end, 0.0, 0.0
        return y, yd, ydd

    def grid(self, period: float) -> Array:
        """All points, and times every ``period`` between them.

        Raises:
            TrajectoryRefused: that would be too many.
        """
        duration = np.diff(self.times)
        count = np.clip(np.ceil(duration / period - 1e-6), FEWEST, PER_SEGMENT).astype(int)
        total = int(count.sum())
        if total > MOST:
            raise TrajectoryRefused(
                f"it needs {total} samples to be checked, more than {MOST}: send it in parts"
            )
        first = np.repeat(np.cumsum(count) - count, count)
        part = (np.arange(total) - first) / np.repeat(count, count)
        inside = np.repeat(self.times[:-1], count) + part * np.repeat(duration, count)
        return np.append(inside, self.end)

    def first_segment(self, period: float, most: int) -> Array:
        """Times from the first to the second point, every ``period`` or wider."""
        first, second = self.times[:2]
        count = int(np.clip(np.ceil((second - first) / period), FEWEST, most))
        return np.linspace(first, second, count + 1)

    def refuse_singular(self, times: Array, smallest: float) -> None:
        """Refuse what the loops of the robot do not tell; nothing for joint motions."""

    def nearest_singularity(self, time: float) -> tuple[str, float] | None:
        """Of a platform at an absolute time [s]: its name and singular value; None for joints."""
        return None


class Resting(Spline):
    """It stays at (m,) ``y``; without polynomials, as a cycle makes one where somebody leads."""

    def __init__(self, y: Array, time: float) -> None:
        self.start, self.times, self._knots = time, np.array([time]), [time]
        self._end, self._rest = y.copy(), np.zeros_like(y)
        self._rates = np.zeros((0, 6, 3 * len(y)))


def _segments(times: Array, y: Array, v: Array, a: Array) -> Array:
    """(N-1, 6, m) polynomial coefficients, lowest power first."""
    T = np.diff(times)[:, None]
    c = np.zeros((len(times) - 1, 6, y.shape[1]))
    with_v = (_given(v)[:-1] & _given(v)[1:])[:, None]
    with_a = with_v & (_given(a)[:-1] & _given(a)[1:])[:, None]
    y0, v0, a0, y1, v1, a1 = y[:-1], v[:-1], a[:-1], y[1:], v[1:], a[1:]
    d = y1 - y0
    c[:, 0] = y0
    c[:, 1] = np.where(with_v, v0, d / T)
    cubic = with_v & ~with_a
    c[:, 2] = np.where(cubic, (3 * d / T - 2 * v0 - v1) / T, np.where(with_a, a0 / 2, 0.0))
    c[:, 3] = np.where(cubic, (-2 * d / T + v0 + v1) / T**2, 0.0)
    quintic = (
        (20 * d - (8 * v1 + 12 * v0) * T - (3 * a0 - a1) * T**2) / (2 * T**3),
        (-30 * d + (14 * v1 + 16 * v0) * T + (3 * a0 - 2 * a1) * T**2) / (2 * T**4),
        (12 * d - 6 * (v1 + v0) * T + (a1 - a0) * T**2) / (2 * T**5),
    )
    for power, values in enumerate(quintic, start=3):
        c[:, power] = np.where(with_a, values, c[:, power])
    return c


def _with_derivatives(c: Array) -> Array:
    """(N-1, 6, 3 m) the coefficients (N-1, 6, m) beside those of velocities and accelerations."""
    factor = np.arange(6.0)[:, None]
    velocities, accelerations = np.zeros_like(c), np.zeros_like(c)
    velocities[:, :-1] = (factor * c)[:, 1:]
    accelerations[:, :-1] = (factor * velocities)[:, 1:]
    return np.concatenate([c, velocities, accelerations], axis=2)


def cycloidal(start: ArrayLike, goal: ArrayLike, duration: float, count: int = 21) -> Points:
    """A smooth motion from rest to rest: s - sin(2 pi s) / (2 pi), in ``count`` points.

    The first point is left out: the executing node leads in from where it is, which is ``start``.
    """
    y0, y1 = np.asarray(start, dtype=float), np.asarray(goal, dtype=float)
    s = np.linspace(0.0, 1.0, count)[1:, None]
    w = 2.0 * np.pi
    d = y1 - y0
    return Points(
        s[:, 0] * duration,
        y0 + d * (s - np.sin(w * s) / w),
        d * (1.0 - np.cos(w * s)) / duration,
        d * w * np.sin(w * s) / duration**2,
    )
