"""Who is examined next: trajectories are checked beside the control cycle. No ROS in here.

A check takes from milliseconds to seconds and must not hold up the cycle, nor a newer trajectory:
the newest is always examined first. One whose examination a newer one has interrupted gets another
chance only if the newer one is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

Message = TypeVar("Message")
Candidate = TypeVar("Candidate")
Message_in = TypeVar("Message_in", contravariant=True)
Candidate_out = TypeVar("Candidate_out", covariant=True)

#: Trajectories that wait at most; the oldest of more is dropped.
MOST_WAITING = 10


class Interrupted(Exception):
    """An examination ended early because nobody wants its result now."""


class Judge(Protocol[Message_in, Candidate_out]):
    """Who knows what a good trajectory is."""

    def examine(self, message: Message_in, wanted: Callable[[], bool]) -> Candidate_out:
        """What to hand over of a good trajectory.

        Raises for a bad one, and Interrupted once ``wanted`` says False.
        """

    def refuse(self, error: Exception) -> None:
        """A trajectory was bad."""


class Admission(Generic[Message, Candidate]):
    """Has trajectories examined in a thread and hands over the newest good one.

    Args:
        patient: examinations may take time; if not, whoever asks does them at once.
    """

    def __init__(self, judge: Judge[Message, Candidate], patient: bool) -> None:
        self._judge = judge
        self._pool = ThreadPoolExecutor(1, "trajectory") if patient else None
        self._lock = threading.Lock()
        self._count = 0
        self._waiting: list[tuple[int, Message]] = []  # the oldest first
        self._ready: Candidate | None = None
        self._work: Future[None] | None = None
        self._era = object()

    def offer(self, message: Message) -> None:
        """A trajectory has come."""
        with self._lock:
            self._count += 1
            self._waiting = [*self._waiting[1 - MOST_WAITING :], (self._count, message)]

    @property
    def waiting(self) -> bool:
        """A trajectory waits to be examined."""
        return bool(self._waiting)

    def take(self) -> Candidate | None:
        """The newest good one since the last call, if any; has the next ones examined."""
        if self._waiting and (self._work is None or self._work.done()):
            self.later(self._examine_all, self._era)
        with self._lock:
            ready, self._ready = self._ready, None
        return ready

    def later(self, work: Callable[..., None], *arguments: Any) -> None:
        """Have something done where examinations are done."""
        if self._pool is None:
            work(*arguments)
        else:
            self._work = self._pool.submit(work, *arguments)

    def forget(self) -> None:
        """Drop what is examined, or ready; what waits goes on waiting."""
        with self._lock:
            self._era = object()
            self._ready = None

    def close(self) -> None:
        """Forget everything and end the thread."""
        self.forget()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _examine_all(self, era: object) -> None:
        while era is self._era:
            with self._lock:
                if not self._waiting:
                    return
                number, message = self._waiting.pop()
            try:
                candidate = self._judge.examine(message, partial(self._wants, number, era))
            except Interrupted:
                with self._lock:
                    self._waiting = sorted([*self._waiting, (number, message)], key=_age)
            except Exception as error:
                if era is self._era:
                    self._judge.refuse(error)
            else:
                with self._lock:
                    if era is self._era:
                        self._ready = candidate
                        self._waiting = [w for w in self._waiting if w[0] > number]

    def _wants(self, number: int, era: object) -> bool:
        return era is self._era and not any(n > number for n, _ in self._waiting)


def _age(waiting: tuple[int, Any]) -> int:
    return waiting[0]
