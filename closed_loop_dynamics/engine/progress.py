"""Tells who asked what is being traced and compiled: it can take seconds, and nothing here prints.

Only what is really made is told; what the cache has is not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Compilation(NamedTuple):
    """One unit of code, when its making begins and when it ends.

    Attributes:
        name: the program's, or what else it is.
        batch: it is the version for many samples at once.
        done: False at the beginning, True at the end (also of one that failed).
    """

    name: str
    batch: bool
    done: bool


Listener = Callable[[Compilation], None]
_lock = threading.Lock()
_listeners: tuple[Listener, ...] = ()


def subscribe(listener: Listener) -> Callable[[], None]:
    """Call ``listener`` from now on, in whatever thread compiles; gives the way to end it.

    A listener should be quick and must not run programs: others may be waiting for the code.
    """

    def told(event: Compilation) -> None:  # an object of its own: the same listener may come twice
        listener(event)

    def unsubscribe() -> None:
        global _listeners
        with _lock:
            _listeners = tuple(each for each in _listeners if each is not told)

    global _listeners
    with _lock:
        _listeners = (*_listeners, told)
    return unsubscribe


@contextmanager
def compiling(name: str, batch: bool = False) -> Iterator[None]:
    """Tell the listeners that ``name`` is being made inside this block."""
    _tell(Compilation(name, batch, False))
    try:
        yield
    finally:
        _tell(Compilation(name, batch, True))


def _tell(event: Compilation) -> None:
    for listener in _listeners:
        listener(event)
