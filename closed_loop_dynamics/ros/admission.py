"""Admits trajectories while another one runs: checked beside the control cycle. No ROS in here.

A check takes from milliseconds to seconds. Meanwhile the running trajectory goes on, so the new one
is made to lead in from where the running one will be when the check is done: at a time that is
promised beforehand. A check that breaks its promise is repeated with more time.
"""

from __future__ import annotations

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
        self._work: Future[Admitted | None] | None = None
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
        if self._work is None and self._waiting:
            message = self._waiting.popleft()
            if self._pool is None:
                return self._examine(message, self._era, now)
            self._work = self._pool.submit(self._examine, message, self._era)
        if self._work is None or not self._work.done():
            return None
        admitted = self._work.result()
        if admitted is not None and now < admitted.begin:
            return None
        self._work = None
        return admitted

    def forget(self) -> None:
        """Drop what is being checked, or waits for its time."""
        self._era = object()
        self._work = None

    def close(self) -> None:
        """Forget everything and end the thread."""
        self.forget()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _examine(self, message: Message, era: object, now: float | None = None) -> Admitted | None:
        judge = self._judge

        def wanted() -> bool:
            return era is self._era

        try:
            begin, spline, announcement = (
                self._in_time(message, wanted) if now is None else self._at(message, now, wanted)
            )
            if not wanted():
                return None
            judge.announce(spline, begin, announcement)
        except Exception as error:
            if wanted():
                judge.refuse(error)
            return None
        return Admitted(begin, spline)

    def _at(
        self, message: Message, begin: float, wanted: Callable[[], bool]
    ) -> tuple[float, Spline, Announcement]:
        spline = self._judge.lead_in(message, begin)
        return begin, spline, self._judge.check(spline, begin, wanted)

    def _in_time(
        self, message: Message, wanted: Callable[[], bool]
    ) -> tuple[float, Spline, Announcement]:
        clock = self._judge.clock
        size = self._judge.size(self._judge.lead_in(message, clock()))
        promise = GROWTH * self._cost * size + MARGIN
        for _ in range(ATTEMPTS):
            asked = clock()
            found = self._at(message, asked + promise, wanted)
            took = clock() - asked
            self._cost = took / size
            if took <= promise:
                return found
            promise = GROWTH * took
        raise TrajectoryRefused(
            f"{ATTEMPTS} times its check took longer than expected: the machine is overloaded"
        )
