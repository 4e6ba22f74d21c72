"""Takes frequent messages as they come, as bytes, without the executor of rclpy.

That builds its wait set anew, in Python, for every message, and the campaign must leave the machine
to the nodes. So one thread looks for messages every half a millisecond.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

#: Between two looks [s].
PAUSE = 5e-4


class Listener:
    """Calls back with the bytes of each message and its number in the sequence of its publisher.

    Args:
        node: one that no executor serves.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._heard: list[tuple[Any, Any, Callable[[bytes, int], None]]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def on(self, kind: Any, topic: str, callback: Callable[[bytes, int], None], depth: int) -> None:
        """Before :meth:`start`."""
        subscription = self._node.create_subscription(kind, topic, print, depth, raw=True)
        self._heard.append((subscription.handle, kind, callback))

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """No more calls."""
        self._ended.set()
        self._thread.join()

    def _listen(self) -> None:
        while not self._ended.is_set():
            for handle, kind, callback in self._heard:
                with handle:
                    while (taken := handle.take_message(kind, True)) is not None:
                        callback(taken[0], taken[1]["publication_sequence_number"])
            time.sleep(PAUSE)
