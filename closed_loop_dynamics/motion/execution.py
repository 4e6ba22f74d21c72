"""The way of a trajectory: offered, examined, spliced in, followed. One state machine, no ROS here.

There is no motion until somebody knows where the robot is; what is offered waits for that. Then a
motion runs, rest at first, and each good trajectory takes over from it. A jump of time leads back
to the beginning. Another state (hold, stop, ...) is another way for :meth:`Execution.advance` to
come to its setpoint; whoever calls it need not know.

A check takes from milliseconds to seconds and must hold up neither the control cycle nor a newer
trajectory: it is done in a thread of its own, the newest trajectory first. One whose examination a
newer one has interrupted gets another chance only if the newer one is refused.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, Protocol

import numpy as np

from ..arrays import Array
from .clock_steps import NANO, ClockSteps
from .splice import Accepted, Candidate, Offer, Splice, examine, splice
from .trajectory import Setpoint, Spline
from .trajectory_check import Checker, Interrupted

#: Trajectories that wait at most; the oldest of more is dropped.
MOST_WAITING = 10


class Listener(Protocol):
    """Who is told what happens, in the thread in which it happens."""

    def refused(self, offer: Offer, error: Exception) -> None:
        """A trajectory must not be executed; the running motion goes on. In either thread."""

    def taken(self, offer: Offer) -> None:
        """A trajectory takes over from now on. In the cycle."""

    def accepted(self, accepted: Accepted) -> None:
        """The same a little later, with all that there is to say about it. Beside the cycle."""

    def time_jumped(self, jump: float) -> None:
        """Time went on by ``jump`` [s], or back: the trajectory is dropped. In the cycle."""

    def clock_set(self, step: float) -> None:
        """Somebody has set the clock by ``step`` [s]: the motion goes on. In the cycle."""


@dataclass(frozen=True, eq=False)
class Whereabouts:
    """Who knows where the robot is when a motion begins.

    Attributes:
        initial: (m,) the position before the first command; None: as measured.
        measured: asks for the measured position (m,); None: nothing fresh.
        measurable: asks whether anybody measures at all.
    """

    initial: Array | None
    measured: Callable[[], Array | None]
    measurable: Callable[[], bool]


class Execution:
    """Examines trajectories and follows the newest good one.

    ``offer`` may be called from any thread; everything else belongs to the control cycle, but for
    the properties, which anybody may read.

    Args:
        period: of the control cycle [s].
        clock: the time that stamps are in [ns].
        leap: time that goes further ahead in one cycle has jumped [s].
        at_once: examine within the cycle (lockstep: simulated time waits for us).
        steady: a clock that nobody sets [ns].
    """

    def __init__(
        self,
        checker: Checker,
        period: float,
        whereabouts: Whereabouts,
        listener: Listener,
        clock: Callable[[], int],
        *,
        leap: float = math.inf,
        at_once: bool = False,
        steady: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._checker = checker
        self._period = period
        self._whereabouts = whereabouts
        self._listener = listener
        self._clock = clock
        self._leap = leap
        self._at_once = at_once
        self._steady = steady
        self._lock = threading.Lock()
        self._commanded: Array | None = None
        self.restart()

    def restart(self) -> None:
        """Forget everything but where the robot was last told to be; after :meth:`close`, too."""
        self._pool = None if self._at_once else ThreadPoolExecutor(1, "trajectory")
        self._steps = ClockSteps(self._clock, self._steady)
        self._epoch = 0
        self._now_ns: int | None = None
        self._spline: Spline | None = None
        self._count = 0
        self._waiting: list[tuple[int, Offer]] = []  # the oldest first
        self._ready: Candidate | None = None
        self._work: Future[None] | None = None
        self._era = object()

    def close(self) -> None:
        """Drop what is examined and end the thread."""
        self._forget()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def offer(self, offer: Offer) -> None:
        """A trajectory has come."""
        with self._lock:
            self._count += 1
            self._waiting = [*self._waiting[1 - MOST_WAITING :], (self._count, offer)]

    # -- what anybody may ask -------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """A trajectory waits to be examined."""
        return bool(self._waiting)

    @property
    def begun(self) -> bool:
        """It is known where the robot is: a motion runs."""
        return self._spline is not None

    @property
    def remaining(self) -> float | None:
        """Time to the end of the running motion, negative at rest [s]; None: none has begun."""
        spline, now_ns = self._spline, self._now_ns
        return None if spline is None or now_ns is None else spline.end - self._seconds(now_ns)

    @property
    def nearest_singularity(self) -> tuple[str, float] | None:
        """Name and singular value, for a commanded platform; None for other motions."""
        spline, now_ns = self._spline, self._now_ns
        if spline is None or now_ns is None:
            return None
        return spline.nearest_singularity(self._seconds(now_ns))

    # -- the cycle ------------------------------------------------------------------------------

    def look(self) -> int:
        """The time of a clock that people set [ns]; the motion does not mind if they do."""
        now_ns, step = self._steps.look()
        if step and self._now_ns is not None:
            self._listener.clock_set(step / NANO)
            self._epoch += step
            self._now_ns += step
        return max(now_ns, self._now_ns or 0)  # a microsecond back is no jump

    def advance(self, now_ns: int) -> Setpoint | None:
        """The setpoint of the time ``now_ns``; None: nobody knows yet where the robot is."""
        now = self._keep_time(now_ns)
        if self._spline is None:
            self._spline = self._rest(now)
        if self._spline is None:
            return None
        setpoint = self._spline.sample(now)
        taking_over = self._splice(setpoint)
        if taking_over is not None:
            self._spline = taking_over.spline
            setpoint = self._spline.sample(now)
        return setpoint

    def ahead(self, setpoint: Setpoint, lead: float) -> Setpoint:
        """The setpoint ``lead`` seconds after the one of this cycle."""
        assert self._spline is not None  # there is a setpoint
        return self._spline.sample(setpoint.time + lead) if lead else setpoint

    def commanded(self, setpoint: Setpoint) -> None:
        """The robot has been told to be there: without measurements it is believed to be."""
        self._commanded = setpoint.y

    def _keep_time(self, now_ns: int) -> float:
        """The time since the epoch, the first cycle [s]; after a jump times have no meaning."""
        jump = 0 if self._now_ns is None else now_ns - self._now_ns
        if not 0 <= jump <= self._leap * NANO:
            self._listener.time_jumped(jump / NANO)
            self._forget()
            self._spline = self._now_ns = None
        if self._now_ns is None:
            self._epoch = now_ns
        self._now_ns = now_ns
        return self._seconds(now_ns)

    def _seconds(self, nanosec: int) -> float:
        return (nanosec - self._epoch) / NANO

    def _rest(self, now: float) -> Spline | None:
        """Rest at the initial position, the first time; later where the robot is.

        Where nobody measures it is where it was told to be.
        """
        where = self._whereabouts
        measured = where.measured()
        if where.initial is not None and self._commanded is None:
            return Spline.resting(where.initial, now)
        if measured is not None:
            limits = self._checker.independent
            return Spline.resting(np.clip(measured, limits.lower, limits.upper), now)
        if self._commanded is not None and not where.measurable():
            return Spline.resting(self._commanded, now)
        return None

    def _splice(self, running: Setpoint) -> Splice | None:
        """What takes over from the running motion now, if there is anything."""
        candidate = self._take()
        if candidate is None:
            return None
        try:
            found = splice(candidate, running, self._checker, self._period)
        except Exception as error:
            self._listener.refused(candidate.offer, error)
            return None
        self._listener.taken(candidate.offer)
        self._beside(self._accept, found)
        return found

    def _take(self) -> Candidate | None:
        """The newest good one since the last call, if any; has the next ones examined."""
        if self._waiting and (self._work is None or self._work.done()):
            self._beside(self._examine_all, self._era)
        with self._lock:
            ready, self._ready = self._ready, None
        return ready

    # -- beside the cycle -----------------------------------------------------------------------

    def _beside(self, work: Callable[..., None], *arguments: Any) -> None:
        if self._pool is None:
            work(*arguments)
        else:
            self._work = self._pool.submit(work, *arguments)

    def _forget(self) -> None:
        """Drop what is examined, or ready; what waits goes on waiting."""
        with self._lock:
            self._era = object()
            self._ready = None

    def _examine_all(self, era: object) -> None:
        while era is self._era:
            with self._lock:
                if not self._waiting:
                    return
                number, offer = self._waiting.pop()
            wanted = partial(self._wants, number, era)
            try:
                found = examine(offer, self._checker, self._seconds, self._clock, wanted)
            except Interrupted:
                with self._lock:
                    self._waiting = sorted([*self._waiting, (number, offer)], key=itemgetter(0))
            except Exception as error:
                if era is self._era:
                    self._listener.refused(offer, error)
            else:
                with self._lock:
                    if era is self._era:
                        self._ready = found
                        self._waiting = [w for w in self._waiting if w[0] > number]

    def _wants(self, number: int, era: object) -> bool:
        return era is self._era and not any(n > number for n, _ in self._waiting)

    def _accept(self, found: Splice) -> None:
        self._listener.accepted(found.accepted(self._checker, self._epoch))
