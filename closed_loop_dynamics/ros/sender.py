"""A thread that speaks for others, so that they wait for nobody. Imports no ROS.

The control cycle has two of them. What is sent at control rate goes through a box with one place: a
command that could not be sent in time is replaced by the newest, because an old effort is worse
than none. Whatever else the cycle has to say, such as a change of state for log and diagnostics,
waits in a box with many places, in order, and is said even when commands cannot be sent.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any


class Sender:
    """Sends letters, the oldest first; where there is no place for all of them, the newest count.

    Args:
        send: called with each letter, in the thread; must not raise.
        places: for letters that wait.

    Attributes:
        skipped: letters that newer ones have replaced before they could be sent.
    """

    def __init__(self, send: Callable[[Any], None], places: int = 1) -> None:
        self.skipped = 0
        self._send = send
        self._places = places
        self._box: deque[Any] = deque(maxlen=places)
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End when all is said."""
        self._ending = True
        self._wake.put(None)
        self._thread.join()

    def post(self, letter: Any) -> None:
        """Send this. Never blocks; for any thread."""
        self.skipped += len(self._box) == self._places
        self._box.append(letter)
        # A letter is in the box before the bell rings: one ring that is not heard yet is enough.
        if self._wake.empty():
            self._wake.put(None)

    def _run(self) -> None:
        while True:
            self._wake.get()
            while self._box:
                self._send(self._box.popleft())
            if self._ending:
                return
