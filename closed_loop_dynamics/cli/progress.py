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

WIDTH = 30
PERIOD = 0.1  # seconds between two drawings
PATIENCE = 0.5  # work shorter than this shows no bar [s]
COMPILING = 2.0  # loading that takes longer is explained [s]
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
    """A note on a terminal while a robot is loaded; a line anywhere if that means compiling."""
    terminal = sys.stderr.isatty()
    before, after = (CLEAR, "") if terminal else ("", "\n")

    def explain() -> None:
        if "casadi" in sys.modules:  # a robot whose code is cached loads without it
            later = "; later runs take it from the cache" if cache.folder() else ""
            text = f"{before}compiling {robot} for the first time{later}"
            print(text, end=after, file=sys.stderr, flush=True)

    if terminal:
        print(f"loading {robot} ...", end="", file=sys.stderr, flush=True)
    timer = threading.Timer(COMPILING, explain)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if terminal:
            print(CLEAR, end="", file=sys.stderr, flush=True)
