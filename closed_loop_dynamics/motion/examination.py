"""Examining trajectories beside the control cycle, the newest first. No ROS in here.

A check takes from milliseconds to seconds and must hold up neither the control cycle nor a newer
trajectory: it is done in a thread of its own. One whose examination a newer one has interrupted
gets another chance only if the newer one is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from operator import itemgetter
from typing import Any, Protocol

from .splice import Candidate, Offer, examine
from .trajectory_check import Checker, Interrupted

#: Trajectories that wait at most; the oldest of more is dropped.
MOST_WAITING = 10
#: Why a trajectory was dropped whose sender has given it up.
UNWANTED = "it is not wanted any more"
#: Why a trajectory was dropped that was good, or about to be found so.
STOPPED = "the motion was stopped, or time jumped, before it could begin"


class Listener(Protocol):
    """Who is told what became of an offer."""

    def refused(self, offer: Offer | None, error: Exception) -> None:
        """A trajectory must not be executed; the running motion goes on. In either thread."""

    def dropped(self, offer: Offer, reason: str) -> None:
        """A trajectory will not be executed, through no fault of its own. In any thread."""


class Examination:
    """Offers in, the newest good candidate out. :meth:`offer` is for anybody, the rest for a cycle.

    Args:
        seconds: the time of the motion at a stamp [ns].
        clock: the time that stamps are in [ns].
        at_once: examine within the cycle (lockstep: simulated time waits for us).
    """

    def __init__(
        self,
        checker: Checker,
        listener: Listener,
        seconds: Callable[[int], float],
        clock: Callable[[], int],
        *,
        at_once: bool = False,
    ) -> None:
        self._checker = checker
        self._listener = listener
        self._seconds = seconds
        self._clock = clock
        self._at_once = at_once
        self._lock = threading.Lock()

    def restart(self) -> None:
        """Forget everything; after :meth:`close`, too."""
        self._pool = None if self._at_once else ThreadPoolExecutor(1, "trajectory")
        self._count = 0
        self._waiting: list[tuple[int, Offer]] = []  # the oldest first
        self._ready: Candidate | None = None
        self._work: Future[None] | None = None
        self._era = object()

    def close(self) -> None:
        """Drop what is examined, do what else is to be done, and end the thread."""
        self.forget()
        if self._pool is not None:
            self._pool.shutdown(wait=True)

    def offer(self, offer: Offer) -> None:
        """A trajectory has come."""
        with self._lock:
            self._count += 1
            waiting = [*self._waiting, (self._count, offer)]
            self._waiting = waiting[-MOST_WAITING:]
        self._drop(waiting[:-MOST_WAITING], "too many newer trajectories wait")

    @property
    def waiting(self) -> bool:
        """A trajectory waits to be examined."""
        return bool(self._waiting)

    # -- the cycle ------------------------------------------------------------------------------

    def take(self) -> Candidate | None:
        """The newest good one since the last call, if any; has the next ones examined."""
        if self._waiting and not self.busy and self._ready is None:  # what is good is told first
            self.beside(self._examine_all, self._era)
        if self._ready is None:  # nearly always: the cycle waits for no lock
            return None
        with self._lock:
            ready, self._ready = self._ready, None
        return ready

    @property
    def busy(self) -> bool:
        """Something is examined or told."""
        return self._work is not None and not self._work.done()

    def beside(self, work: Callable[..., None], *arguments: Any) -> None:
        """Do this when what is examined is done: in the thread, if there is one."""
        if self._pool is None:
            work(*arguments)
        else:
            self._work = self._pool.submit(work, *arguments)

    def forget(self) -> None:
        """Drop what is examined, or ready; what waits goes on waiting."""
        with self._lock:
            self._era = object()
            ready, self._ready = self._ready, None
        if ready is not None:
            self._listener.dropped(ready.offer, STOPPED)

    # -- beside it ------------------------------------------------------------------------------

    def _drop(self, waiting: list[tuple[int, Offer]], reason: str) -> None:
        for _, offer in waiting:
            self._listener.dropped(offer, reason)

    def _examine_all(self, era: object) -> None:
        while era is self._era:
            with self._lock:
                if not self._waiting:
                    return
                number, offer = self._waiting.pop()
            if not offer.wanted():
                self._listener.dropped(offer, UNWANTED)
                continue
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
                    self._listener.dropped(offer, STOPPED)
            else:
                return self._has_found(number, found, era)

    def _has_found(self, number: int, found: Candidate, era: object) -> None:
        """A good one; older ones have had their time."""
        with self._lock:
            good = era is self._era
            older = [w for w in self._waiting if good and w[0] < number]
            if good:
                if self._ready is not None:
                    older.append((0, self._ready.offer))
                self._ready = found
                self._waiting = [w for w in self._waiting if w[0] > number]
        self._drop(older, "a newer trajectory takes its place")
        if not good:
            self._listener.dropped(found.offer, STOPPED)

    def _wants(self, number: int, era: object) -> bool:
        return era is self._era and not any(n > number for n, _ in self._waiting)
