"""Timing among noisy neighbours: contenders take turns in short rounds, and minima count.

The states are cut into chunks. A round times one chunk of every contender in turn, so a disturbance
hits all alike; a chunk's time is its minimum over all visits, and a contender's the mean over its
chunks (cheap states must not stand for all).
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

Call = tuple[Any, ...]
CHUNK = 100
#: Calls of a batch in a row: the first finds the caches full of something else, as in a chunk.
BATCH_CALLS = 5
#: Rows of a batch that two threads share; a machine with one core has no such rows in its tables.
MANY, TWO_THREADS = 10_000, "two threads"


@dataclass(eq=False)
class Contender:
    """Something to time: ``function(*call)`` for every call of a chunk.

    Attributes:
        chunks: calls, in the order in which they are made.
        evaluations: per call.
        every: takes part in every so manieth sweep only (slow ones).
    """

    name: str
    function: Callable[..., Any]
    chunks: Sequence[Sequence[Call]]
    evaluations: int = 1
    every: int = 1
    best: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.best = [float("inf")] * len(self.chunks)

    @property
    def seconds(self) -> float:
        """Per evaluation."""
        calls = sum(len(chunk) for chunk in self.chunks)
        return sum(self.best) / (calls * self.evaluations)

    def run(self, index: int) -> None:
        """Time one chunk."""
        function, calls = self.function, self.chunks[index]
        start = perf_counter()
        for call in calls:
            function(*call)
        self.best[index] = min(self.best[index], perf_counter() - start)


#: More than a core's own caches hold: what everything else on a machine touches between two calls.
SWEPT = np.zeros(8 * 2**20 // 8)


class ColdContender(Contender):
    """Before every call all of :data:`SWEPT` is read and written; that is not timed."""

    def run(self, index: int) -> None:
        """Time one chunk."""
        function, seconds = self.function, 0.0
        for call in self.chunks[index]:
            np.add(SWEPT, 1.0, out=SWEPT)
            start = perf_counter()
            function(*call)
            seconds += perf_counter() - start
        self.best[index] = min(self.best[index], seconds)


def cold(contender: Contender, every: int) -> ColdContender:
    """The same calls, each after a sweep; in every so manieth round."""
    return ColdContender(contender.name, contender.function, contender.chunks, every=every)


def chunked(calls: Sequence[Call]) -> list[Sequence[Call]]:
    """Calls in chunks of ``CHUNK``."""
    return [calls[i : i + CHUNK] for i in range(0, len(calls), CHUNK)]


def row_by_row(name: str, function: Callable[..., Any], *arrays: Any, every: int = 1) -> Contender:
    """A function of single states, given as rows; slow ones get every so manieth of them."""
    calls: list[Call] = list(zip(*(rows[::every] for rows in arrays), strict=True))
    return Contender(name, function, chunked(calls), every=every)


def numbers_of_threads() -> dict[str, int]:
    """What is said behind a contender's name, and its threads; one where there is one core."""
    return {"": 1} | ({f", {TWO_THREADS}": 2} if len(os.sched_getaffinity(0)) > 1 else {})


def many(*arrays: Any) -> list[Any]:
    """The rows of every array again and again, until they are ``MANY``."""
    return [np.resize(rows, (MANY, rows.shape[1])) for rows in arrays]


def at_once(
    name: str, function: Callable[..., Any], *arrays: Any, calls: int = BATCH_CALLS
) -> Contender:
    """A function of all states, several times in a row."""
    rows: list[Call] = [arrays] * calls
    return Contender(name, function, [rows], evaluations=len(arrays[0]))


def take_turns(contenders: Sequence[Contender], sweeps: int) -> None:
    """Time every chunk of every contender ``sweeps`` times (``sweeps / every`` for slow ones).

    Back and forth: who comes behind an equal finds inputs and tables in the caches.
    """
    longest = max(len(contender.chunks) for contender in contenders)
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        for sweep in range(sweeps):
            order = contenders[:: 1 - 2 * (sweep % 2)]
            for index in range(longest):
                for contender in order:
                    if index < len(contender.chunks) and sweep % contender.every == 0:
                        contender.run(index)
    finally:
        if enabled:
            gc.enable()
