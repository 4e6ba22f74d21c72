"""The way of a trajectory: offered, examined, spliced in, followed. One state machine, no ROS here.

There is no motion until somebody knows where the robot is; what is offered waits for that. Then a
motion runs, rest at first, and each good trajectory takes over from it. A jump of time leads back
to the beginning; a cycle that comes late stretches it: the reference does not leap. Whoever
supervises the robot may let the motion come to rest (:meth:`Execution.brake`), or begin anew where
the robot is.

What is offered is examined beside the cycle (``motion/examination``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError
from . import examination, telling
from .braking import Braking, coming_to_rest
from .clock_steps import NANO, ClockSteps
from .handover import Handover
from .splice import Candidate, Offer, splice
from .streaming import Stream
from .trajectory import Setpoint, Spline, TooLate, TrajectoryRefused
from .trajectory_check import Checker, Interrupted

#: Samples of a way to rest that must be within reach.
REACHED = 6
#: A motion that is stretched by more is worth telling [ns].
WORTH_TELLING = 1_000_000
#: Who follows a motion comes at this share of the speed limits to where the robot is measured: it
#: is there, or its encoders err.
GENTLE = 0.1
#: Time between two reports of where a stream leads [s].
TOLD_EVERY = 0.05


class Listener(examination.Listener, telling.Listener, Protocol):
    """Who is told what happens, in the thread in which it happens."""

    def taken(self, offer: Offer) -> None:
        """A trajectory takes over from now on. In the cycle."""

    def overtaken(self) -> None:
        """A stream of references takes over from what was followed. In the cycle."""

    def time_jumped(self, jump: float) -> None:
        """Time went on by ``jump`` [s], or back: the trajectory is dropped. In the cycle."""

    def clock_set(self, step: float) -> None:
        """Somebody has set the clock by ``step`` [s]: the motion goes on. In the cycle."""

    def late(self, lost: float) -> None:
        """A cycle came late: the motion ends ``lost`` seconds later. In the cycle."""


@dataclass(frozen=True, eq=False)
class Whereabouts:
    """Who knows where the robot is when a motion begins.

    Attributes:
        initial: (m,) the position before the first command; None: as measured.
        measured: asks for the measured position (m,); None: nothing fresh.
        measurable: asks whether anybody measures at all.
        apart: further than this from a reference at rest [rad or m] the robot is where it is
            measured when a motion begins.
    """

    initial: Array | None
    measured: Callable[[], Array | None]
    measurable: Callable[[], bool]
    apart: float = np.inf


class Execution:
    """Examines trajectories and follows the newest good one.

    ``offer`` may be called from any thread; everything else belongs to the control cycle, but for
    the properties, which anybody may read.

    Attributes:
        closed: why no trajectory may take over; empty: it may.
        following: the motion is a trajectory that somebody has offered, or a stream.
        interrupted: why one was dropped in the middle; see :meth:`interruption`.
        stream: of references that bend the motion; None: there is none.

    Args:
        period: of the control cycle [s].
        clock: the time that stamps are in [ns].
        leap: time that goes further ahead in one cycle has jumped [s].
        late: the motion goes on for so long without a cycle; what comes later stretches it [s].
        followed: somebody else follows what was accepted, by the clock: nothing is stretched, and
            all is told before it begins (``motion/handover``).
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
        late: float = math.inf,
        followed: bool = False,
        at_once: bool = False,
        steady: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._checker = checker
        self._period = period
        self._whereabouts = whereabouts
        self._listener = listener
        self._clock = clock
        self._leap = leap
        self._late = math.inf if followed else late
        self._followed = followed
        self._ahead = telling.TOLD_AHEAD if followed and not at_once else 0.0
        self._telling = telling.Telling(
            checker, listener, period, lambda: self._seconds(clock()), self._stamp, self._ahead
        )
        self._steady = steady
        self._examination = examination.Examination(
            checker, listener, self._seconds, clock, at_once=at_once
        )
        self._commanded: Array | None = None
        self.stream: Stream | None = None
        self.closed = ""
        self.restart()

    def restart(self) -> None:
        """Forget everything but where the robot was last told to be; after :meth:`close`, too."""
        self._examination.restart()
        self._steps = ClockSteps(self._clock, self._steady)
        self._epoch = 0
        self._now_ns: int | None = None
        self._spline: Spline | None = None
        if self.stream is not None:
            self.stream.restart()
        self._untold, self._tell_at = False, -math.inf
        self._telling.restart()
        self.following = False
        self.interrupted = ""

    def close(self) -> None:
        """Drop what is examined and end the thread."""
        self._examination.close()
        if self._followed and self._spline is not None and math.isfinite(self._spline.end):
            self._commanded = self._spline.sample(self._spline.end).y

    def offer(self, offer: Offer) -> None:
        """A trajectory has come."""
        self._examination.offer(offer)

    # -- what anybody may ask -------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """A trajectory waits to be examined."""
        return self._examination.waiting

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
    def reference(self) -> Setpoint | None:
        """Where the robot is told to be; None: no motion has begun."""
        spline, now_ns = self._spline, self._now_ns
        if spline is None or now_ns is None:
            return None
        return spline.sample(self._seconds(now_ns))

    @property
    def elapsed(self) -> float:
        """Time of the running motion, as the points of its trajectory count it [s]."""
        spline, now_ns = self._spline, self._now_ns
        return 0.0 if spline is None or now_ns is None else self._seconds(now_ns) - spline.start

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
        if isinstance(self._spline, Handover) and self._spline.interrupted:
            self.interrupted, self._spline = self._spline.interrupted, self._spline.before
        candidate = self._examination.take()
        if candidate is not None or (self.stream is not None and self.stream.begins):
            self._spline = self._anchored(self._spline, now)
        setpoint = self._spline.sample(now)
        taking_over = None if candidate is None else self._splice(candidate, setpoint, self._spline)
        if taking_over is not None:
            self._spline, self.following = taking_over, True
            setpoint = self._spline.sample(now)
            self._bar_stream("a trajectory has taken over")
        elif self.stream is not None:
            self._bend(self.stream, setpoint, self._spline)
        return setpoint

    def interruption(self) -> str:
        """Why a trajectory was dropped in the middle, once: for who supervises."""
        why, self.interrupted = self.interrupted, ""
        return why

    @property
    def departure(self) -> Array | None:
        """(m,) where a motion that begins now would begin; None: nobody knows."""
        spline, now_ns = self._spline, self._now_ns
        if spline is None or now_ns is None:
            return None
        now = self._seconds(now_ns)
        return self._anchored(spline, now).sample(now).y

    def _anchored(self, spline: Spline, now: float) -> Spline:
        """What a motion begins from: the running one, but if it rests, where the robot is."""
        measured = None if spline.end > now else self._whereabouts.measured()
        if measured is None:
            return spline
        apart = np.abs(measured - spline.sample(now).y) > self._whereabouts.apart
        if not apart.any():
            return spline
        return self._resting(measured, now)

    def _resting(self, measured: Array, now: float) -> Spline:
        limits = self._checker.independent
        return Spline.resting(np.clip(measured, limits.lower, limits.upper), now)

    def _bend(self, stream: Stream, running: Setpoint, spline: Spline) -> None:
        """Let a stream take over from the running motion; nothing jumps, so the setpoint stays."""
        if self.closed:
            stream.bar(self.closed)
        before = stream.streaming
        found = stream.advance(running, spline)
        if found is not None:
            self._spline, self.following, self._untold = found, True, True
        if stream.streaming and not before:
            self._examination.forget()
            self._listener.overtaken()
        if self._untold and running.time >= self._tell_at and not self._examination.busy:
            self._untold, self._tell_at = False, running.time + TOLD_EVERY
            self._tell(self._telling.diverted, self._spline)

    def _bar_stream(self, by: str) -> None:
        self._untold = False
        if self.stream is not None:
            self.stream.bar(by)

    def ahead(self, setpoint: Setpoint, lead: float) -> Setpoint:
        """The setpoint ``lead`` seconds after the one of this cycle."""
        assert self._spline is not None  # there is a setpoint
        return self._spline.sample(setpoint.time + lead) if lead else setpoint

    # -- other ways on --------------------------------------------------------------------------

    def brake(self, duration: float) -> None:
        """Come to rest along the path, within ``duration`` [s]."""
        if self._spline is None or self._now_ns is None or (self.remaining or 0.0) <= 0.0:
            return
        now, running = self._seconds(self._now_ns), self._spline
        running = running.from_now(now)
        if isinstance(running, Handover) and running.before.end <= now:  # it has not begun
            rest = Spline.resting(running.before.sample(now).y, now)
            self._divert(rest, self._telling.anchored, duration)
        else:
            way = Braking(running, math.inf if self._ahead else now, duration)
            self._divert(way, self._telling.diverted)

    def begin_anew(self, y: Array, yd: Array, duration: float) -> Setpoint | None:
        """From the state (m,) in which the robot is to rest, within ``duration`` [s]."""
        if self._now_ns is None:
            return None
        now, limits = self._seconds(self._now_ns), self._checker.independent
        apart = 0.0 if self._spline is None else np.abs(y - self._spline.sample(now).y)
        way = coming_to_rest(y, yd, now, duration, limits)
        try:
            self._checker.mapped(way, np.linspace(now, way.end, REACHED))
        except ClosedLoopError:  # joint limits may be wider than the loops
            way = Spline.resting(y, now)
        gently = float(np.max(apart / limits.velocity)) / GENTLE
        self._divert(way, self._telling.anchored, max(duration, gently))
        return Setpoint(now, y, yd, np.zeros_like(y))

    def follow(self, y: Array) -> None:
        """Rest at (m,) ``y``, where the robot is: it leads."""
        if self._now_ns is not None:
            self._spline, self.following = Spline.resting(y, self._seconds(self._now_ns)), False
            self._bar_stream("the robot leads")

    def _divert(self, spline: Spline, tell: Callable[..., None], *details: float) -> None:
        self._examination.forget()
        self._bar_stream("it was stopped")
        self._spline, self.following = spline, False
        self._tell(tell, spline, *details)

    def _tell(self, work: Callable[..., None], *arguments: Any) -> None:
        self._examination.beside(self._telling.tell, self._telling.begun, work, *arguments)

    def let_go(self, duration: float) -> None:
        """Nobody commands from now on; who follows the motion comes to rest within ``duration``."""
        self.brake(duration)

    def commanded(self, setpoint: Setpoint) -> None:
        """The robot has been told to be there: without measurements it is believed to be."""
        self._commanded = setpoint.y

    def _keep_time(self, now_ns: int) -> float:
        """The time since the epoch, the first cycle [s]; after a jump times have no meaning."""
        jump = 0 if self._now_ns is None else now_ns - self._now_ns
        if not 0 <= jump <= self._leap * NANO:
            self._listener.time_jumped(jump / NANO)
            if self.following and (self.remaining or 0.0) > 0.0:
                way = "went back" if jump < 0 else "jumped ahead"
                self.interrupted = f"time {way} by {abs(jump) / NANO:.3f} s"
            self._examination.forget()
            self._telling.restart()
            self._spline, self._now_ns, self.following = None, None, False
            self._untold, self._tell_at = False, -math.inf
            if self.stream is not None:
                self.stream.restart()
        elif jump > self._late * NANO:
            lost = jump - round(self._late * NANO)
            if (self.remaining or 0.0) > 0.0 and lost > WORTH_TELLING:
                self._listener.late(lost / NANO)
            self._epoch += lost
        if self._now_ns is None:
            self._epoch = now_ns
        self._now_ns = now_ns
        return self._seconds(now_ns)

    def _seconds(self, nanosec: int) -> float:
        return (nanosec - self._epoch) / NANO

    def _stamp(self, time: float) -> int:
        return self._epoch + round(time * NANO)

    def _rest(self, now: float) -> Spline | None:
        """Rest where the robot is; where nobody measures, where it was told to be.

        Before the first command that is the initial position, and so it is if the robot is near it.
        """
        where = self._whereabouts
        told = where.initial if self._commanded is None else self._commanded
        measured = where.measured()
        if measured is None:
            return None if told is None or where.measurable() else Spline.resting(told, now)
        initial = where.initial if self._commanded is None else None
        if initial is not None and not (np.abs(measured - initial) > where.apart).any():
            return Spline.resting(initial, now)
        return self._resting(measured, now)

    def _splice(self, candidate: Candidate, here: Setpoint, running: Spline) -> Spline | None:
        """What takes over from the running motion, if the candidate may; now or a little ahead."""
        at = candidate.not_after_its_end(here.time, here.time + self._ahead)
        try:
            if self.closed:
                raise TrajectoryRefused(self.closed)
            if at - here.time < 0.5 * self._ahead:
                raise TooLate("it is over before who follows it can be told of it")
            there = running.sample(at) if self._ahead else here
            candidate.offer.begins(there)
            found = splice(candidate, there, self._checker, self._period)
        except Interrupted:
            self._listener.dropped(candidate.offer, examination.UNWANTED)
            return None
        except Exception as error:
            self._listener.refused(candidate.offer, error)
            return None
        self._listener.taken(candidate.offer)
        if not self._ahead:
            self._tell(self._telling.accepted, found)
            return found.spline
        motion = Handover(running, found, here.time)
        self._tell(self._telling.accepted_ahead, motion)
        return motion
