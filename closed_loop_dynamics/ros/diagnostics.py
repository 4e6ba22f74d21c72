"""A node's health on /diagnostics: once per period, and at once when something changes."""

from __future__ import annotations

import threading
import time

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from .conversions import status_message
from .health import ERROR, Health


class Diagnostics:
    """Publishes a :class:`Health`.

    Also in the states in which a lifecycle node is otherwise silent: that is when one wants to know
    why.
    """

    def __init__(self, node: Node) -> None:
        self.health = Health()
        self.well = "unconfigured"
        self._node = node
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._message = DiagnosticArray()
        self._speaking = threading.Lock()
        self._values: dict[str, str] = {}
        self._warned: dict[str, float] = {}

    def fault(self, channel: str, reason: str, level: int = ERROR, every: float = 1.0) -> None:
        """Report trouble: diagnostics, and a warning at most once per ``every`` seconds.

        Trouble of a channel that is in trouble already waits for the next report, unless ``every``
        is 0.
        """
        now = time.monotonic()
        self.health.fault(channel, reason, now, level)
        if now - self._warned.get(channel, -1e9) >= every:
            self._warned[channel] = now
            self._node.get_logger().warning(f"{channel}: {reason}")
        if self.health.changed(self.well) or every == 0.0:
            self._publish()

    def clear(self, channel: str) -> None:
        """Report that a channel is well again."""
        if self.health.clear(channel):
            self.publish_changes()

    def publish_changes(self) -> None:
        """Publish if the level or the channels in trouble have changed."""
        if self.health.changed(self.well):
            self._publish()

    def publish(self) -> None:
        """Publish now, with the numbers as they are."""
        self._values = dict(self.health.values)
        self._publish()

    def _publish(self) -> None:
        with self._speaking:
            self.health.forget_old(time.monotonic())
            level, text = self.health.status(self.well)
            values = {**self._values, "lifecycle state": self.well}
            name = self._node.get_fully_qualified_name().lstrip("/")
            self._message.header.stamp = self._node.get_clock().now().to_msg()
            self._message.status = [status_message(name, "", level, text, values)]
            self._publisher.publish(self._message)
