"""From the messages of a stream to the moving target that they describe. No ROS in here.

Messages come now and then; what they mean between two of them is guessed here: how far apart they
are, how fast the target moves (where they do not say it) and how its speed changes: differences of
a smooth stream. Of one that is not smooth the guesses are limited as in a monotone scheme: a single
step has no speed, nor has noise, so that nothing overshoots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..arrays import Array

#: Differences are taken over at least this time [s]: over less, noise is louder than speed.
WINDOW = 0.01
#: Messages over which the times of their arrival are averaged: they jitter.
AVERAGED = 20
#: A target is to be reached within so many intervals: the next one may come a little late.
AHEAD = 1.5
#: Interval of the fastest stream [s].
BRIEFEST = 1e-4
#: The acceleration of a target is believed for so many horizons.
BELIEVED = 4.0
#: Messages that are remembered.
MOST = 40


@dataclass(frozen=True, eq=False)
class Reference:
    """One message of a stream.

    Attributes:
        y: (m,) positions.
        yd: (m,) velocities, None where they are not given.
        due: time from its arrival at which the joints should be there [s].
    """

    y: Array
    yd: Array | None = None
    due: float = 0.0


@dataclass(frozen=True, eq=False)
class Target:
    """Where the joints should be.

    Attributes:
        y, yd, ydd, jerk: (m,) position, velocity, acceleration and how that changes.
        due: time from now at which they should be there [s].
        horizon: time from now within which they can be expected there [s].
    """

    y: Array
    yd: Array
    ydd: Array
    jerk: Array
    due: float
    horizon: float

    def later(self, time: float) -> Target:
        """The same, seen ``time`` seconds later."""
        return replace(self, due=self.due - time) if time else self

    def ahead(self, time: float) -> tuple[Array, Array, Array]:
        """Position, velocity, acceleration ``time`` seconds from now.

        Its jerk is believed for a horizon, its acceleration for a few; then its speed is constant.
        """
        s, y, yd, ydd = time - self.due, self.y, self.yd, self.ydd
        for span, jerk in (1.0, self.jerk), (BELIEVED - 1.0, 0.0 * self.jerk):
            t = min(s, span * self.horizon)
            y = y + t * (yd + t * (0.5 * ydd + t / 6.0 * jerk))
            yd, ydd, s = yd + t * (ydd + 0.5 * t * jerk), ydd + t * jerk, s - t
        return (y, yd, ydd) if s <= 0.0 else (y + s * yd, yd, 0.0 * ydd)


class Targets:
    """Follows a stream from message to message.

    Args:
        shortest: horizon of the fastest streams [s].
        jerk: (m,) up to which a stream counts as smooth.
    """

    def __init__(self, shortest: float, jerk: Array) -> None:
        self._shortest = shortest
        self._jerk = jerk
        self.restart()

    def restart(self) -> None:
        """Another stream begins."""
        self._past: list[Reference] = []
        self._count = 0
        self._sent = 0.0
        self.interval = 0.0

    def add(self, now: float, news: Sequence[Reference]) -> Target:
        """What the messages that have come until ``now`` [s] say, the newest last."""
        self._keep_time(now, len(news))
        self._past = [*self._past, *news][-MOST:]
        newest = self._past[-1]
        horizon = max(AHEAD * self.interval, self._shortest)
        yd, ydd, jerk = self._rates(newest)
        due = AHEAD * self.interval if newest.yd is None else 0.0
        due = max(due, newest.due) - (now - self._sent)
        return Target(newest.y, yd, ydd, jerk, due, horizon)

    def _keep_time(self, now: float, count: int) -> None:
        """Fit a line to the times of arrival: the newest count more, all of the last few count."""
        k = self._count = min(self._count + 1, AVERAGED)
        if k == 1:
            self._sent = now
            return
        late = now - (self._sent + count * self.interval)
        if k == 2 or abs(late) > 2.0 * count * self.interval:
            self._count, self._sent, self.interval = 2, now, (now - self._sent) / count
            return
        self._sent = now - late + 2.0 * (2.0 * k - 1.0) / (k * (k + 1.0)) * late
        self.interval = max(self.interval + 6.0 / (k * (k + 1.0)) * late / count, BRIEFEST)

    def _rates(self, newest: Reference) -> tuple[Array, Array, Array]:
        rest = np.zeros_like(newest.y)
        still = rest if newest.yd is None else newest.yd
        if not self.interval:
            return still, rest, rest
        every = min(max(1, round(WINDOW / self.interval)), (MOST - 1) // 3)
        past, h = self._past[::-1][::every][:4], every * self.interval
        if newest.yd is not None:
            speeds = [r.yd for r in past if r.yd is not None]
            if len(speeds) < 4:
                return still, rest, rest
            a1, a2, a3 = ((a - b) / h for a, b in pairwise(speeds))
            smooth = np.abs(a1 - a2) <= self._jerk * h
            ydd = np.where(smooth, 1.5 * a1 - 0.5 * a2, _least(a1, a2))
            # Noise has a jerk, but never the same one twice.
            return still, ydd, np.where(smooth, _least(a1 - a2, a2 - a3) / h, 0.0)
        if len(past) < 4:
            return rest, rest, rest
        v1, v2, v3 = ((a.y - b.y) / h for a, b in pairwise(past))
        a1, a2 = (v1 - v2) / h, (v2 - v3) / h
        smooth = np.abs(a1 - a2) <= self._jerk * h
        # Backward differences: h y' = D + D^2 / 2 + D^3 / 3, h^2 y'' = D^2 + D^3.
        return (
            np.where(
                smooth,
                v1 + h * (0.5 * a1 + (a1 - a2) / 3.0),
                _least(1.5 * v1 - 0.5 * v2, 2.0 * v1, 2.0 * v2),
            ),
            np.where(smooth, 2.0 * a1 - a2, _least(a1, a2)),
            rest,  # what is due later need not be foreseen
        )


def _least(*values: Array) -> Array:
    """The smallest of values that agree in sign, else zero (the limiter minmod)."""
    table = np.array(values)
    least = table[np.argmin(np.abs(table), axis=0), np.arange(table.shape[1])]
    agree = (table > 0).all(axis=0) | (table < 0).all(axis=0)
    return np.where(agree, least, 0.0)
