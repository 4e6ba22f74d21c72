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
from .console import patient
from .control_thread import ControlThread
from .diagnostics import Diagnostics
from .health import WARN
from .outlet import RCL, Outlet
from .polled import Polled, Unattended
from .real_time import prefer_process, release_process, set_priority
from .sender import Sender
from .topics import unheard_publishers

try:
    from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import PublisherEventCallbacks, SubscriptionEventCallbacks

#: Every event that is listened to costs time in each turn of the executor. A peer with another
#: quality of service is reported by the subscribing side.
QUIET = PublisherEventCallbacks(use_default_callbacks=False)
#: What the control cycle has to say, if nothing can be said for long: the newest of it.
MOST_ERRANDS = 1000


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
        self.diagnostics.later = self.later
        self.health = self.diagnostics.health
        self.active = False
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._interfaces: list[tuple[Callable[[Any], Any], Any]] = []
        self._timers_of_work: list[Any] = []
        self._control: ControlThread | None = None
        self._sender: Sender | None = None
        self._speaker: Sender | None = None
        self._preferred = False
        self._deaf: list[Any] = []
        self.in_charge = False

    def get_logger(self) -> Any:
        """The node's, for one line: it waits for no terminal."""
        return patient(super().get_logger())

    def add_publisher(self, kind: Any, topic: str, qos: Any = 10) -> Outlet:
        """A publisher that speaks only while the node is active; gone after clean-up."""
        publisher = self.create_lifecycle_publisher(kind, topic, qos, event_callbacks=QUIET)
        self._interfaces.append((self.destroy_lifecycle_publisher, publisher))
        return Outlet(publisher)

    def add_subscription(
        self,
        kind: Any,
        topic: str,
        channel: str,
        callback: Callable[[Any], None],
        qos: Any = 10,
        *,
        always: bool = False,
    ) -> Any:
        """A guarded subscription that listens only while the node is active.

        Args:
            always: it listens as long as it is configured, and is one of several for all qualities
                of service: nobody has to be told whom it cannot hear.
        """

        def listen(message: Any) -> None:
            if self.active or always:
                self.guard(channel, callback, message)

        # Who it is takes a millisecond to find out: asked only when there is somebody.
        events = SubscriptionEventCallbacks(incompatible_qos=lambda _: self._deaf.append(heard))
        if always:
            events = SubscriptionEventCallbacks(use_default_callbacks=False)
        heard: Any = self.create_subscription(kind, topic, listen, qos, event_callbacks=events)
        self._interfaces.append((self.destroy_subscription, heard))
        return heard

    def add_polled(self, kind: Any, topic: str, qos: Any, longest: float) -> Polled:
        """A subscription that somebody looks into at least every ``longest`` seconds.

        Nobody listens to its events either: each message would wake the executor.
        """
        heard = self.create_subscription(
            kind,
            topic,
            lambda _: None,
            qos,
            callback_group=Unattended(),
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )
        self._interfaces.append((self.destroy_subscription, heard))
        return Polled(heard, longest)

    def add_service(self, kind: Any, name: str, callback: Callable[[Any, Any], Any]) -> None:
        """A service that is gone after clean-up."""
        self._interfaces.append((self.destroy_service, self.create_service(kind, name, callback)))

    def add_interface(self, interface: Any, destroy: Callable[[Any], Any]) -> None:
        """Anything else that is gone after clean-up."""
        self._interfaces.append((destroy, interface))

    def add_timer(self, period: float, callback: Callable[[], None], clock: Any = None) -> Any:
        """A guarded timer for as long as the node is active."""
        timer = self.create_timer(period, lambda: self.guard("cycle", callback), clock=clock)
        self._timers_of_work.append(timer)
        return timer

    def add_control_thread(
        self,
        period: float,
        callback: Callable[[], None],
        send: Callable[[Any], None] = lambda _: None,
        priority: int = 0,
    ) -> None:
        """A guarded cycle on a thread of its own for as long as the node is active.

        Args:
            send: called, in another thread, with the newest of what the cycle has posted.
            priority: real-time priority; 0: as any thread.
        """

        def prefer() -> None:
            reason = set_priority(priority) if priority else ""
            if reason:
                self.diagnostics.fault("thread_priority", reason, WARN)

        self._sender = Sender(lambda letter: self._quietly(send, letter))
        self._speaker = Sender(lambda errand: self._quietly(*errand), MOST_ERRANDS)
        self._sender.start()
        self._speaker.start()
        self._preferred = bool(priority)
        reason = prefer_process(priority) if priority else ""
        self.diagnostics.tell("thread_priority", reason, WARN)
        stalls = (
            "" if RCL is not None else "librcl.so not found: who waits to publish stalls the cycle"
        )
        self.diagnostics.tell("publishing", stalls, WARN)
        self._control = ControlThread(period, lambda: self._quietly(callback), prefer)
        self._control.start()

    def post(self, letter: Any) -> None:
        """Hand over what is to be sent to the sender of the control thread. Never blocks."""
        assert self._sender is not None  # there is a control thread
        self._sender.post(letter)

    def later(self, work: Callable[..., None], *arguments: Any) -> None:
        """Do what may have to wait: not in the control cycle, if there is one."""
        speaker = self._speaker
        if speaker is None:
            work(*arguments)
        else:
            speaker.post((work, *arguments))

    @property
    def unsent(self) -> int:
        """Commands that newer ones have replaced before they could be sent."""
        return 0 if self._sender is None else self._sender.skipped

    def _quietly(self, callback: Callable[..., None], *arguments: Any) -> None:
        try:
            self.guard("cycle", callback, *arguments)
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
            self.later(self._complain, traceback.format_exc())
            self.diagnostics.fault(channel, f"{type(error).__name__}: {error}")
            return False
        return True

    def _complain(self, text: str) -> None:
        self.get_logger().error(text, throttle_duration_sec=1.0)

    def cycle_done(self, began: float, dynamics: float = 0.0, reading: float = 0.0) -> None:
        """Count a computing cycle that began at ``time.perf_counter()`` = ``began``."""
        self.health.cycle(began, time.perf_counter(), dynamics, reading)

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
        if self._sender is not None and self._speaker is not None:
            self._sender.stop()
            speaker, self._sender, self._speaker = self._speaker, None, None
            speaker.stop()
        if self._preferred:
            release_process()
            self._preferred = False
        for timer in self._timers_of_work:
            self.destroy_timer(timer)
        self._timers_of_work = []

    def look_for_unheard(self) -> None:
        """Publishers that offer another quality of service than a subscription asks for."""
        texts = {heard: unheard_publishers(self, heard) for heard in dict.fromkeys(self._deaf)}
        self._deaf = [heard for heard, text in texts.items() if text]
        text = "; ".join(texts[heard] for heard in self._deaf)
        self.diagnostics.tell("quality of service", text, WARN, every=60.0)
