"""A node's health on /diagnostics: once per period, and at once when something changes."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from .health import ERROR, Health
from .outlet import Outlet

NUMBER = re.compile(r"-?\d[\d.e+-]*")
#: Kinds of trouble that are told apart before all are forgotten.
MOST_KINDS = 1000


def at_once(work: Callable[..., None], *arguments: Any) -> None:
    """Do it now."""
    work(*arguments)


class Diagnostics:
    """Publishes a :class:`Health`.

    Also in the states in which a lifecycle node is otherwise silent: that is when one wants to know
    why.

    Attributes:
        well: the message without faults.
        later: has log and topic spoken to where nobody is kept waiting.
    """

    def __init__(self, node: Node) -> None:
        self.health = Health()
        self.well = "unconfigured"
        self._node = node
        self.later: Callable[..., None] = at_once
        self._publisher = Outlet(node.create_publisher(DiagnosticArray, "/diagnostics", 10))
        self._message = DiagnosticArray()
        self._speaking = threading.Lock()
        self._values: dict[str, str] = {}
        self._warned: dict[tuple[str, str], float] = {}

    def fault(
        self,
        channel: str,
        reason: str,
        level: int = ERROR,
        every: float = 1.0,
        at_once: bool = False,
    ) -> None:
        """Report trouble: diagnostics, and a warning.

        The same trouble, whatever the numbers in its text, is logged at most once per ``every``
        seconds. Trouble of a channel that is in trouble already waits for the next report, unless
        it is ``at_once``.
        """
        now = time.monotonic()
        self.health.fault(channel, reason, now, level)
        kind = NUMBER.sub("#", reason) if at_once else ""
        if now - self._warned.get((channel, kind), -1e9) >= every:
            if len(self._warned) > MOST_KINDS:
                self._warned.clear()
            self._warned[channel, kind] = now
            self.later(self._warn, f"{channel}: {reason}")
        if self.health.changed(self.well) or at_once:
            self._speak()

    def clear(self, channel: str) -> None:
        """Report that a channel is well again."""
        if self.health.clear(channel):
            self.publish_changes()

    def tell(self, channel: str, trouble: str, level: int = ERROR, every: float = 1.0) -> None:
        """Report ``trouble``, or that there is none (an empty text)."""
        if trouble:
            self.fault(channel, trouble, level, every)
        else:
            self.clear(channel)

    def publish_changes(self) -> None:
        """Publish if the level or the channels in trouble have changed."""
        if self.health.changed(self.well):
            self._speak()

    def publish(self) -> None:
        """Publish now, with the numbers as they are."""
        self._values = dict(self.health.values)
        self._speak()

    def _warn(self, text: str) -> None:
        self._node.get_logger().warning(text)

    def _speak(self) -> None:
        """Things are as they are now, also when it is said a little later."""
        self.health.forget_old(time.monotonic())
        values = {**self._values, "lifecycle state": self.well}
        self.later(self._publish, *self.health.status(self.well), values)

    def _publish(self, level: int, text: str, values: Mapping[str, str]) -> None:
        with self._speaking:
            name = self._node.get_fully_qualified_name().lstrip("/")
            self._message.header.stamp = self._node.get_clock().now().to_msg()
            self._message.status = [status_message(name, level, text, values)]
            self._publisher.publish(self._message)


def status_message(name: str, level: int, text: str, values: Mapping[str, str]) -> DiagnosticStatus:
    """One DiagnosticStatus."""
    status = DiagnosticStatus(level=bytes([level]), name=name, message=text)
    status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
    return status
