"""Stands between the robot and its controller, and drops, delays, repeats or spoils messages."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message

from .faults import Disturbance
from .listener import Listener

#: A message that is duplicated comes so often.
COPIES = 3


def _numbers(message: Any) -> Any:
    """The numbers that matter first: positions of states, data of efforts."""
    return message.position if hasattr(message, "position") else message.data


def _spoil(value: float) -> Callable[[Any, Any, float], None]:
    def spoil(message: Any, random: np.random.Generator, size: float) -> None:
        numbers = _numbers(message)
        numbers[int(random.integers(len(numbers)))] = value

    return spoil


def _length(message: Any, random: np.random.Generator, size: float) -> None:
    _numbers(message).append(0.0)


def _names(message: Any, random: np.random.Generator, size: float) -> None:
    message.name = [f"wrong_{name}" for name in message.name]


def _speed(message: Any, random: np.random.Generator, size: float) -> None:
    message.velocity[int(random.integers(len(message.velocity)))] = 1e3


#: What -> how a message is spoilt. ``frozen`` repeats the last good one instead; ``offset`` needs
#: to know what is usual: see :class:`Relay`.
CORRUPTIONS: dict[str, Callable[[Any, Any, float], None]] = {
    "nan": _spoil(float("nan")),
    "infinite": _spoil(float("inf")),
    "length": _length,
    "names": _names,
    "speed": _speed,
}


class Relay:
    """One channel. Messages are passed on as bytes, unless somebody disturbs.

    Args:
        usual: (n,) what is large for the numbers of a message: offsets are shares of it.
        depth: messages that may wait.
        heard: called with each message before it is passed on, and with its number.
    """

    def __init__(
        self,
        node: Node,
        listener: Listener,
        kind: Any,
        topics: tuple[str, str],
        usual: np.ndarray,
        depth: int,
        heard: Callable[[bytes, int], None] = lambda raw, number: None,
    ) -> None:
        self._kind = kind
        self._usual = usual
        self._heard = heard
        self._random = np.random.default_rng(0)
        self._disturbance: Disturbance | None = None
        self._offset = np.zeros(len(usual))
        self._frozen: bytes | None = None
        self._late: list[tuple[float, int, bytes]] = []
        self._count = 0
        self._change = threading.Condition()
        self._out = node.create_publisher(kind, topics[1], 10)
        listener.on(kind, topics[0], self._on_message, depth)
        threading.Thread(target=self._send_late, daemon=True).start()

    def disturb(self, disturbance: Disturbance | None) -> None:
        """From now on; None: no more."""
        self._random = np.random.default_rng(0)
        signs = self._random.choice([-1.0, 1.0], len(self._usual))
        self._offset = signs * self._usual
        self._frozen = None
        self._disturbance = disturbance

    def _on_message(self, message: bytes, number: int) -> None:
        self._heard(message, number)
        found = self._disturbance
        if found is None or self._random.random() >= found.share:
            self._out.publish(message)
        elif found.what == "delay":
            with self._change:
                self._count += 1
                heapq.heappush(self._late, (time.monotonic() + found.size, self._count, message))
                self._change.notify()
        elif found.what == "duplicate":
            for _ in range(COPIES):
                self._out.publish(message)
        elif found.what != "drop":
            self._out.publish(self._spoilt(message, found))

    def _spoilt(self, message: bytes, found: Disturbance) -> bytes:
        if found.what == "frozen":
            self._frozen = self._frozen or message
            return self._frozen
        read = deserialize_message(message, self._kind)
        if found.what == "offset":
            numbers = _numbers(read)
            for k, offset in enumerate(found.size * self._offset):
                numbers[k] += offset
        else:
            CORRUPTIONS[found.what](read, self._random, found.size)
        return bytes(serialize_message(read))

    def _send_late(self) -> None:
        while True:
            with self._change:
                while not self._late:
                    self._change.wait()
                due = self._late[0][0] - time.monotonic()
                message = heapq.heappop(self._late)[2] if due <= 0.0 else None
            if message is None:
                time.sleep(min(due, 0.002))
            else:
                self._out.publish(message)
