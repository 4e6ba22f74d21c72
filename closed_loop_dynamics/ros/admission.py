"""Admits trajectories while another one runs: checked beside the control cycle. No ROS in here.

A check takes from milliseconds to seconds. Meanwhile the running trajectory goes on, so the new one
is made to lead in from where the running one will be when the check is done: at a time that is
promised beforehand. A check that breaks its promise is repeated with more time.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from .trajectory import Spline, TrajectoryRefused

Message = TypeVar("Message")
Message_in = TypeVar("Message_in", contravariant=True)
Announcement = TypeVar("Announcement")

#: A promise is this many times what is expected, and a little [s]; expected at first, per sample
#: [s]; a promise that is broken so many times is a refusal.
GROWTH, MARGIN, COST, ATTEMPTS = 2.0, 0.01, 5e-5, 6


class Judge(Protocol[Message_in, Announcement]):
    """Who knows the robot and the running trajectory."""

    def clock(self) -> float:
        """The time that trajectories count in [s]."""

    def lead_in(self, message: Message_in, begin: float) -> Spline:
        """The motion that takes over at ``begin``; TrajectoryRefused if the message makes none."""

    def size(self, spline: Spline) -> int:
        """How many samples a check will look at."""

    def check(self, spline: Spline, begin: float, wanted: Callable[[], bool]) -> Announcement:
        """What to announce of a good motion; raises for a bad one, or once not ``wanted``."""

    def announce(self, spline: Spline, begin: float, announcement: Announcement) -> None:
        """A motion is admitted."""

    def refuse(self, error: Exception) -> None:
        """A motion is not admitted."""


@dataclass(frozen=True, eq=False)
class Admitted:
    """A trajectory that may run.

    Attributes:
        begin: it replaces the running one at this time [s].
        spline: the motion from then on.
    """

    begin: float
    spline: Spline


class Admission(Generic[Message, Announcement]):
    """Takes the newest trajectory, has it checked in a thread, hands it over when its time comes.

    Args:
        patient: checks may take time; if not, they are done at once, by whoever asks.
    """

    def __init__(self, judge: Judge[Message, Announcement], patient: bool) -> None:
        self._judge = judge
        self._pool = ThreadPoolExecutor(1, "trajectory") if patient else None
        self._waiting: deque[Message] = deque(maxlen=1)
        self._work: Future[None] | None = None
        self._handing_over = threading.Lock()
        self._latest = -math.inf
        self._ready: Admitted | None = None
        self._cost = COST
        self._era = object()

    def offer(self, message: Message) -> None:
        """A trajectory has come; it takes the place of one that still waits."""
        self._waiting.append(message)

    @property
    def waiting(self) -> bool:
        """A trajectory waits to be looked at."""
        return bool(self._waiting)

    def take(self, now: float) -> Admitted | None:
        """What replaces the running trajectory now, if anything; starts the next check."""
        with self._handing_over:
            self._latest = now
            ready = self._ready
            if ready is not None and now >= ready.begin:
                self._ready = None
                return ready
        idle = ready is None and (self._work is None or self._work.done())
        if idle and self._waiting:
            message = self._waiting.popleft()
            if self._pool is None:
                return self._at_once(message, now)
            self._work = self._pool.submit(self._in_time, message, self._era)
        return None

    def forget(self) -> None:
        """Drop what is being checked, or waits for its time."""
        with self._handing_over:
            self._era = object()
            self._work = self._ready = None
            self._latest = -math.inf

    def close(self) -> None:
        """Forget everything and end the thread."""
        self.forget()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _at_once(self, message: Message, now: float) -> Admitted | None:
        try:
            spline = self._judge.lead_in(message, now)
            announcement = self._judge.check(spline, now, lambda: True)
            self._judge.announce(spline, now, announcement)
        except Exception as error:
            self._judge.refuse(error)
            return None
        return Admitted(now, spline)

    def _in_time(self, message: Message, era: object) -> None:
        def wanted() -> bool:
            return era is self._era

        try:
            admitted, announcement = self._keep_a_promise(message, era, wanted)
            if admitted is not None:
                self._judge.announce(admitted.spline, admitted.begin, announcement)
        except Exception as error:
            if wanted():
                self._judge.refuse(error)

    def _keep_a_promise(
        self, message: Message, era: object, wanted: Callable[[], bool]
    ) -> tuple[Admitted | None, Announcement]:
        judge = self._judge
        size = judge.size(judge.lead_in(message, judge.clock()))
        promise = GROWTH * self._cost * size + MARGIN
        for _ in range(ATTEMPTS):
            asked = judge.clock()
            begin = asked + promise
            spline = judge.lead_in(message, begin)
            announcement = judge.check(spline, begin, wanted)
            took = judge.clock() - asked
            self._cost = took / size
            admitted = Admitted(begin, spline)
            with self._handing_over:
                if era is not self._era:
                    return None, announcement
                if took <= promise and self._latest < begin:  # no cycle has been there yet
                    self._ready = admitted
                    return admitted, announcement
            promise = GROWTH * max(took, promise)
        raise TrajectoryRefused(
            f"{ATTEMPTS} times its check took longer than expected: the machine is overloaded"
        )
