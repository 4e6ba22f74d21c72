"""Ends a node's process when it is asked to (SIGINT, SIGTERM), promptly, whatever it is doing.

A signal is noted, the executor wakes up, and the main thread closes down in order; no exception is
thrown into whatever it is doing. But it may be busy for seconds, compiling a robot. So a second
thread looks on, and ends the process itself when the main thread does not begin to close down soon.
Nothing is lost with it: a node keeps nothing but its cache of compiled code, which is written
atomically (``engine/cache.py``).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: For the main thread to begin to close down [s]; with a robot in its hands it may need longer.
GRACE, IN_CHARGE = 0.5, 5.0
#: For closing down [s].
CLOSING = 5.0
#: Set by the launch files: the node ends with the process that started it.
WITH_PARENT = "CLOSED_LOOP_END_WITH_PARENT"


def leave(text: str = "") -> NoReturn:
    """End the process here and now, as a success."""
    if text:
        sys.stderr.write(f"{text}\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def leave_on_signals(name: str) -> None:
    """Until :class:`Ending` takes over: nothing has begun, so a signal ends the process at once."""

    def handle(number: int, frame: FrameType | None) -> None:
        leave(f"{name}: ended while starting")

    for number in SIGNALS:
        signal.signal(number, handle)


def end_with_parent() -> None:
    """Ask the system for a SIGINT when the parent ends, where the environment says so (Linux).

    A launch that fails, or is ended by anything but SIGINT, does not end the nodes that it has
    started; nobody would hold the reins of a robot then.
    """
    parent = os.environ.get(WITH_PARENT)
    if not parent or not sys.platform.startswith("linux"):
        return
    set_parent_death_signal = 1  # linux/prctl.h
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGINT, 0, 0, 0)
    if not os.path.isdir(f"/proc/{int(parent)}"):  # it has ended already
        leave("ended with the launch that started it")


class Ending:
    """Looks on while a node works. Make it in the main thread, before ``rclpy.init``.

    Use it as the context in which the node is closed down.

    Attributes:
        asked: there was a signal.
        wake: makes the main thread look at that.
        in_charge: a robot is commanded: it must not be left with the last efforts.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.asked = False
        self.wake: Callable[[], object] = bool
        self.in_charge: Callable[[], bool] = bool
        self._begun, self._done = threading.Event(), threading.Event()
        for number in SIGNALS:
            signal.signal(number, self._note)
        self._heard, hearing = os.pipe()
        os.set_blocking(hearing, False)
        # Written by the handler in C, even while the main thread is busy in a library.
        signal.set_wakeup_fd(hearing, warn_on_full_buffer=False)
        threading.Thread(target=self._look_on, name="ending", daemon=True).start()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True

    def __enter__(self) -> None:
        self._begun.set()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self.asked:
            leave()  # not through the interpreter's own end: it waits for threads that compile

    def _look_on(self) -> None:
        while os.read(self._heard, 1)[0] not in SIGNALS:
            pass
        self.asked = True
        self.wake()
        if not self._begun.wait(GRACE) and not (self.in_charge() and self._begun.wait(IN_CHARGE)):
            leave(f"{self._name}: ended while busy")
        if not self._done.wait(CLOSING):
            leave(f"{self._name}: ended while closing down")
