"""Batches on several cores: how many threads share the rows of one, and the sharing itself.

How many is no part of what is computed, so no formula hands it on: the front door says it once
(:func:`threaded`), and whoever has rows to share asks for it (:func:`share`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache, wraps
from itertools import pairwise
from typing import Any, ParamSpec, TypeVar

from ..arrays import as_count

#: Threads that share a batch; None: all cores, for batches that are worth it.
Threads = int | None
#: Work that is worth a thread [s]: several times as long as it takes to wake one.
WORTH = 2e-4
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
    threads as are worth it, unless a number was asked for. The last part runs in the calling one,
    and so do those that no other has begun by then: nobody waits for a thread that is busy, or was
    lost in a fork. When all have ended, what the earliest part raised is raised.
    """
    blocks = -(-rows // grain)
    worth = int(rows * pace / WORTH)
    count = min(blocks, _asked.count or (min(worth, _cores()) if worth else 0))
    if count <= 1:
        return run(0, rows)
    parts = list(pairwise([*(grain * (blocks * k // count) for k in range(count)), rows]))
    errors: dict[int, BaseException] = {}

    def guarded(k: int) -> None:
        try:
            run(*parts[k])
        except BaseException as error:
            errors[k] = error

    helpers = [_begin(guarded, k) for k in range(count - 1)]
    guarded(count - 1)
    for k, helper in enumerate(helpers):
        if helper is None or helper.cancel():
            guarded(k)
        else:
            helper.result()
    if errors:
        raise errors[min(errors)]


def _begin(function: Callable[[int], None], k: int) -> Future[Any] | None:
    try:
        return _pool().submit(function, k)
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
