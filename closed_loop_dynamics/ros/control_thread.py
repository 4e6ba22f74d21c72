"""A thread that does the same work at a fixed rate: the timer of a node, without its executor.

The executor of rclpy builds its wait set anew, in Python, whenever a timer fires; at 1 kHz that is
most of the work. The control cycle therefore has a thread of its own, and the executor wakes up for
messages only. Imports no ROS, but is about its executor: that is why it is here.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

#: A thread that waits for the interpreter gets it after this time [s]; Python's default is 5 ms.
SWITCH_INTERVAL = 1e-4


class ControlThread:
    """Calls ``work`` every ``period`` seconds of the steady clock, until :meth:`stop`.

    Beginnings keep to a fixed raster. A call that takes longer than the period swallows the
    beginnings it has missed: no burst follows. ``work`` must not raise. ``begin`` is called once,
    in the thread, before the first work.
    """

    def __init__(
        self, period: float, work: Callable[[], None], begin: Callable[[], None] = lambda: None
    ) -> None:
        self._period = period
        self._begin = begin
        self._work = work
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="control", daemon=True)

    def start(self) -> None:
        """Begin, now."""
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._thread.start()

    def stop(self) -> None:
        """End after the call that is under way."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        period, work, stopped = self._period, self._work, self._stop.is_set
        self._begin()
        due = time.monotonic()
        while not stopped():
            work()
            due = next_beginning(due, period, time.monotonic())
            left = due - time.monotonic()
            if left > 0.0:
                time.sleep(left)


def next_beginning(last: float, period: float, now: float) -> float:
    """The next beginning on the raster of ``last``; if some are over, the newest of them."""
    due = last + period
    return due + period * max(int((now - due) / period), 0)
