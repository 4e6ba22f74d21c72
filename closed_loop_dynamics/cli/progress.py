"""What takes time, on standard error: a progress bar when that is a terminal, and one sentence
about a robot that has to be compiled.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..engine import cache
from ..engine.progress import Compilation, subscribe

WIDTH = 30
PERIOD = 0.1  # seconds between two drawings
PATIENCE = 0.5  # work shorter than this shows no bar [s]
COMPILING = 2.0  # compiling that takes longer, all in all, is explained [s]
CLEAR = "\r\x1b[K"


def _write(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


class Progress:
    """A progress bar towards ``total``, for a ``with`` block; it disappears at the end."""

    def __init__(self, what: str, total: float) -> None:
        self._what = what
        self._total = total
        self._start = self._drawn = time.monotonic()
        self._shown = False
        self._enabled = sys.stderr.isatty()

    def at(self, done: float, note: str = "") -> None:
        """``done`` of ``total`` is done."""
        now = time.monotonic()
        if not self._enabled or now - self._drawn < PERIOD or now - self._start < PATIENCE:
            return
        self._drawn, self._shown = now, True
        share = min(max(done / self._total, 0.0), 1.0) if self._total else 1.0
        bar = "#" * round(WIDTH * share)
        left = (now - self._start) * (1.0 - share) / share if share else 0.0
        text = f"{self._what} [{bar:<{WIDTH}}] {100 * share:3.0f} % {left:4.0f} s left {note}"
        _write(f"{CLEAR}{text.rstrip()}")

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            _write(CLEAR)


@contextmanager
def loading(robot: str) -> Iterator[None]:
    """A note on a terminal while a robot is loaded."""
    terminal = sys.stderr.isatty()
    _write(f"loading {robot} ..." if terminal else "")
    try:
        yield
    finally:
        _write(CLEAR if terminal else "")


class Compilations:
    """Says in a ``with`` block what of a robot is compiled, as soon as that takes long.

    One sentence; on a terminal it names the program, too, and goes away when nothing is compiled.
    """

    def __init__(self, robot: str) -> None:
        self._robot = robot
        self._terminal = sys.stderr.isatty()
        self._lock = threading.RLock()  # programs are compiled in several threads
        self._under_way: list[str] = []
        self._patience = COMPILING  # what is left of it [s]
        self._began = 0.0
        self._timer: threading.Timer | None = None
        self._told = False

    def __enter__(self) -> None:
        self._unsubscribe = subscribe(self._hear)

    def __exit__(self, *_: object) -> None:
        self._unsubscribe()
        self._rest()

    def _hear(self, event: Compilation) -> None:
        name = f"{event.name}, for many samples at once" if event.batch else event.name
        with self._lock:
            if not event.done:
                self._under_way.append(name)
                self._wait()
            elif name in self._under_way:
                self._under_way.remove(name)
            if self._under_way:
                self._tell()
            else:
                self._rest()

    def _wait(self) -> None:
        """Have it told when patience ends before the work does."""
        if self._timer is None and self._patience > 0.0:
            self._began = time.monotonic()
            self._timer = threading.Timer(self._patience, self._lose_patience)
            self._timer.daemon = True
            self._timer.start()

    def _lose_patience(self) -> None:
        with self._lock:
            self._patience = 0.0
            self._tell()

    def _tell(self) -> None:
        if self._patience > 0.0 or not self._under_way or (self._told and not self._terminal):
            return
        self._told = True
        later = "; later runs take it from the cache" if cache.folder() else ""
        text = f"compiling {self._robot} for the first time{later}"
        _write(f"{CLEAR}{text} ({self._under_way[-1]})" if self._terminal else f"{text}\n")

    def _rest(self) -> None:
        """Nothing is compiled at present."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
                self._patience -= time.monotonic() - self._began
            if self._told and self._terminal:
                _write(CLEAR)
