"""A lifecycle node whose callbacks cannot end it: guarded interfaces, with diagnostics.

Whatever a callback raises becomes a warning and an ERROR in the diagnostics, never the end of the
process. What is added here goes again by itself: interfaces with the configuration, timers and the
control thread with the activation.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode

from ..errors import ClosedLoopError
from .control_thread import ControlThread, set_priority
from .diagnostics import Diagnostics
from .health import WARN
from .topics import unheard_publishers

try:
    from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import PublisherEventCallbacks, SubscriptionEventCallbacks

#: Every event that is listened to costs time in each turn of the executor. A peer with another
#: quality of service is reported by the subscribing side.
QUIET = PublisherEventCallbacks(use_default_callbacks=False)


class GuardedNode(LifecycleNode):
    """A lifecycle node to which guarded interfaces can be added.

    Attributes:
        active: callbacks are listened to.
        diagnostics, health: what it says about itself.
        steady: a clock that nobody sets.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.diagnostics = Diagnostics(self)
        self.health = self.diagnostics.health
        self.active = False
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._interfaces: list[tuple[Callable[[Any], Any], Any]] = []
        self._timers_of_work: list[Any] = []
        self._control: ControlThread | None = None
        self._deaf: list[Any] = []

    def add_publisher(self, kind: Any, topic: str) -> Any:
        """A publisher that speaks only while the node is active; gone after clean-up."""
        publisher = self.create_lifecycle_publisher(kind, topic, 10, event_callbacks=QUIET)
        self._interfaces.append((self.destroy_lifecycle_publisher, publisher))
        return publisher

    def add_subscription(
        self, kind: Any, topic: str, channel: str, callback: Callable[[Any], None], qos: Any = 10
    ) -> Any:
        """A guarded subscription that listens only while the node is active."""

        def listen(message: Any) -> None:
            if self.active:
                self.guard(channel, callback, message)

        # Who it is takes a millisecond to find out: asked only when there is somebody.
        events = SubscriptionEventCallbacks(incompatible_qos=lambda _: self._deaf.append(heard))
        heard: Any = self.create_subscription(kind, topic, listen, qos, event_callbacks=events)
        self._interfaces.append((self.destroy_subscription, heard))
        return heard

    def add_service(self, kind: Any, name: str, callback: Callable[[Any, Any], Any]) -> None:
        """A service that is gone after clean-up."""
        self._interfaces.append((self.destroy_service, self.create_service(kind, name, callback)))

    def add_timer(self, period: float, callback: Callable[[], None], clock: Any = None) -> Any:
        """A guarded timer for as long as the node is active."""
        timer = self.create_timer(period, lambda: self.guard("cycle", callback), clock=clock)
        self._timers_of_work.append(timer)
        return timer

    def add_control_thread(
        self, period: float, callback: Callable[[], None], priority: int = 0
    ) -> None:
        """A guarded cycle on a thread of its own for as long as the node is active.

        Args:
            priority: real-time priority; 0: as any thread.
        """

        def prefer() -> None:
            reason = set_priority(priority) if priority else ""
            if reason:
                self.diagnostics.fault("thread_priority", reason, WARN)

        self._control = ControlThread(period, lambda: self._control_cycle(callback), prefer)
        self._control.start()

    def _control_cycle(self, callback: Callable[[], None]) -> None:
        try:
            self.guard("cycle", callback)
        except Exception:
            # The signal handler shuts the context down at once; what is said just then fails.
            if self.context.ok():
                self.get_logger().error(traceback.format_exc(), throttle_duration_sec=1.0)

    def guard(self, channel: str, callback: Callable[..., None], *arguments: Any) -> bool:
        """Run a callback; what it raises becomes a fault of ``channel``. True if it went well."""
        try:
            callback(*arguments)
        except ClosedLoopError as error:
            self.diagnostics.fault(channel, str(error))
            return False
        except Exception as error:
            if not self.context.ok():
                raise
            self.get_logger().error(traceback.format_exc(), throttle_duration_sec=1.0)
            self.diagnostics.fault(channel, f"{type(error).__name__}: {error}")
            return False
        return True

    def cycle_done(self, began: float, dynamics: float = 0.0) -> None:
        """Count a computing cycle that began at ``time.perf_counter()`` = ``began``."""
        self.health.cycle(began, time.perf_counter(), dynamics)

    def remove_interfaces(self) -> None:
        """End of the configuration."""
        for destroy, interface in self._interfaces:
            destroy(interface)
        self._interfaces = []
        self._deaf = []

    def end_work(self) -> None:
        """End of the activation: no callback of a timer or of the control thread comes after."""
        self.active = False
        if self._control is not None:
            self._control.stop()
            self._control = None
        for timer in self._timers_of_work:
            self.destroy_timer(timer)
        self._timers_of_work = []

    def look_for_unheard(self) -> None:
        """Publishers that offer another quality of service than a subscription asks for."""
        texts = {heard: unheard_publishers(self, heard) for heard in dict.fromkeys(self._deaf)}
        self._deaf = [heard for heard, text in texts.items() if text]
        text = "; ".join(texts[heard] for heard in self._deaf)
        self.diagnostics.tell("quality of service", text, WARN, every=60.0)
