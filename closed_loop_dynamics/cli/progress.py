"""What takes time, on standard error: a progress bar when that is a terminal, else one sentence
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


class Progress:
    """Counts towards ``total``."""

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
        print(f"{CLEAR}{text.rstrip()}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Remove the bar."""
        if self._shown:
            print(CLEAR, end="", file=sys.stderr, flush=True)


@contextmanager
def progress(what: str, total: float) -> Iterator[Progress]:
    """A progress bar that disappears at the end."""
    bar = Progress(what, total)
    try:
        yield bar
    finally:
        bar.close()


@contextmanager
def loading(robot: str) -> Iterator[None]:
    """A note on a terminal while a robot is loaded."""
    terminal = sys.stderr.isatty()
    if terminal:
        print(f"loading {robot} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if terminal:
            print(CLEAR, end="", file=sys.stderr, flush=True)


@contextmanager
def compilations(robot: str) -> Iterator[None]:
    """Say inside this block what of a robot is compiled, as soon as that takes long.

    One sentence; on a terminal it names the program, too, and goes away at the end of each.
    """
    notes = _Compilations(robot)
    unsubscribe = subscribe(notes.hear)
    try:
        yield
    finally:
        unsubscribe()
        notes.close()


class _Compilations:
    def __init__(self, robot: str) -> None:
        self._robot = robot
        self._terminal = sys.stderr.isatty()
        self._lock = threading.RLock()  # programs are compiled in several threads
        self._under_way: list[str] = []
        self._patience = COMPILING  # what is left of it [s]
        self._began = 0.0
        self._timer: threading.Timer | None = None
        self._told = False

    def hear(self, event: Compilation) -> None:
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
                self.close()

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
        text = f"{CLEAR}{text} ({self._under_way[-1]})" if self._terminal else f"{text}\n"
        print(text, end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing is compiled at present."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
                self._patience -= time.monotonic() - self._began
            if self._told and self._terminal:
                print(CLEAR, end="", file=sys.stderr, flush=True)
