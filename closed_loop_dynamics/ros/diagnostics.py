"""A node's health on /diagnostics: once per period, and at once when something changes."""

from __future__ import annotations

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
        self._warned: dict[str, float] = {}

    def fault(self, channel: str, reason: str, level: int = ERROR, every: float = 1.0) -> None:
        """Report trouble: diagnostics, and a warning at most once per ``every`` seconds."""
        now = time.monotonic()
        self.health.fault(channel, reason, now, level)
        if now - self._warned.get(channel, -1e9) >= every:
            self._warned[channel] = now
            self._node.get_logger().warning(f"{channel}: {reason}")
        self.publish_changes()

    def clear(self, channel: str) -> None:
        """Report that a channel is well again."""
        if self.health.clear(channel):
            self.publish_changes()

    def publish_changes(self) -> None:
        """Publish if the level or the channels in trouble have changed."""
        if self.health.changed(self.well):
            self.publish()

    def publish(self) -> None:
        """Publish now."""
        self.health.forget_old(time.monotonic())
        level, text = self.health.status(self.well)
        self.health.values["lifecycle state"] = self.well
        name = self._node.get_fully_qualified_name().lstrip("/")
        self._message.header.stamp = self._node.get_clock().now().to_msg()
        self._message.status = [status_message(name, "", level, text, self.health.values)]
        self._publisher.publish(self._message)
