"""A subscription without a callback: whoever needs the news looks for them.

The executor of rclpy needs a third of a millisecond for a message, most of it to build its wait set
anew, and it holds the interpreter meanwhile. A control cycle that looks for measurements itself, as
ros2_control reads its hardware, needs a few microseconds, and has them when it needs them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup


class Unattended(CallbackGroup):
    """The executor leaves them alone."""

    def can_execute(self, entity: Any) -> bool:
        """Never."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Nothing to remember."""


class Polled:
    """The messages that have come since somebody last looked.

    Args:
        subscription: in a group that is :class:`Unattended`.
        longest: largest credible age of a message [s], for the clock of its arrival may be set.
    """

    def __init__(self, subscription: Any, longest: float) -> None:
        self.topic_name: str = subscription.topic_name
        self._subscription = subscription
        self._longest = longest

    def news(self) -> Iterator[tuple[bytes, float]]:
        """Serialized messages, the oldest first, each with the time since it arrived [s]."""
        handle, kind = self._subscription.handle, self._subscription.msg_type
        with handle:
            while (taken := handle.take_message(kind, True)) is not None:
                data, info = taken
                age = 1e-9 * (time.time_ns() - info["received_timestamp"])
                yield data, min(max(age, 0.0), self._longest)
