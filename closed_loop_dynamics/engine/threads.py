"""Batches on several cores: how many threads share the rows of one, and the sharing itself.

How many is no part of what is computed, so no formula hands it on: the front door says it once
(:func:`threaded`), and whoever has rows to share asks for it (:func:`share`).
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from ..arrays import as_count

#: Threads that share a batch; None: all cores, for batches that are worth it.
Threads = int | None
#: Work that is worth a thread [s]: several times as long as it takes to wake one.
WORTH = 2e-4
#: Work of a part that is worth being taken by itself [s]: many times what taking it costs.
SHORTEST = 1e-4
P = ParamSpec("P")
R = TypeVar("R")


class _Asked(threading.local):
    count: Threads = None


_asked = _Asked()


def on_threads(
    threads: Threads, function: Callable[P, R], /, *args: P.args, **named: P.kwargs
) -> R:
    """``function(*args, **named)`` with its batches on so many threads (InvalidInput: not one)."""
    if threads is None:
        return function(*args, **named)
    before, _asked.count = _asked.count, as_count(threads, "threads", 1)
    try:
        return function(*args, **named)
    finally:
        _asked.count = before


def threaded(method: Callable[P, R]) -> Callable[P, R]:
    """A method whose ``threads`` share all batches below it; it need not look at them itself."""
    place = method.__code__.co_varnames.index("threads")

    @wraps(method)
    def shared(*args: P.args, **named: P.kwargs) -> R:
        if not named and len(args) <= place:  # as nearly always, and single calls are fast
            return method(*args)  # type: ignore[call-arg]
        threads: Any = args[place] if len(args) > place else named.get("threads")
        return on_threads(threads, method, *args, **named)

    return shared


def share(rows: int, grain: int, run: Callable[[int, int], None], pace: float) -> None:
    """Call ``run(start, end)`` for consecutive parts of ``rows`` rows, at the same time.

    Parts begin at multiples of ``grain``. A row takes about ``pace`` seconds: by that as many
    threads as are worth it, unless a number was asked for. Each takes the next part when it is done
    with one, the calling thread as well: nobody waits for a thread that is slow, busy, or was lost
    in a fork. When all parts have ended, what the earliest of them raised is raised.
    """
    count = how_many(rows, grain, pace)
    if count <= 1:
        return run(0, rows)
    left = deque(enumerate(parts(rows, grain, count, pace)))
    errors: dict[int, BaseException] = {}

    def work() -> None:
        with suppress(IndexError):  # there is no other part
            while True:
                k, part = left.popleft()
                try:
                    run(*part)
                except BaseException as error:
                    errors[k] = error

    helpers = [_begin(work) for _ in range(count - 1)]
    work()
    for helper in helpers:
        if helper is not None and not helper.cancel():
            helper.result()
    if errors:
        raise errors[min(errors)]


def how_many(rows: int, grain: int, pace: float) -> int:
    """Threads that share ``rows``: as many as were asked for, or are worth it."""
    worth = int(rows * pace / WORTH)
    return min(-(-rows // grain), _asked.count or (min(worth, _cores()) if worth else 0))


def parts(rows: int, grain: int, count: int, pace: float) -> Iterator[tuple[int, int]]:
    """Start and end of parts for ``count`` threads: ever shorter ones, so that all end together.

    One that is half as fast as the others takes half as many; the last take :data:`SHORTEST`.
    """
    blocks, start = -(-rows // grain), 0
    shortest = min(SHORTEST / max(pace * grain, 1e-12), blocks / count)
    while start < rows:
        left = blocks - start // grain
        end = min(start + grain * max(left // (2 * count), round(shortest), 1), rows)
        yield start, end
        start = end


def _begin(work: Callable[[], None]) -> Future[None] | None:
    try:
        return _pool().submit(work)
    except RuntimeError:  # the interpreter ends, and has no threads any more
        return None


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(32, os.cpu_count() or 1), "closed_loop_rows")


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
