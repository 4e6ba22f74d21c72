"""What the lifecycle nodes share: parameters, robot, autostart, diagnostics, guarded callbacks.

A subclass fills in ``setup``, ``start``, ``stop`` and ``measure``. ``setup`` may raise: the node
then refuses to configure and says why. After that nothing may stop it: callbacks run guarded, and
whatever they raise becomes a warning and an ERROR in the diagnostics, never the end of the process.
"""

from __future__ import annotations

import contextlib
import gc
import time
import traceback
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn

from ..errors import ClosedLoopError
from ..robot import Robot
from ..robot_parts.state import State
from .control_thread import ControlThread, set_priority
from .diagnostics import Diagnostics
from .ending import Ending
from .health import WARN
from .parameters import COMMON, NodeParameters, Spec
from .robot_source import TOPIC, RobotSource
from .topics import unheard_publishers

try:
    from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import PublisherEventCallbacks, SubscriptionEventCallbacks

#: Every event that is listened to costs time in each turn of the executor. A peer with another
#: quality of service is reported by the subscribing side.
QUIET = PublisherEventCallbacks(use_default_callbacks=False)
RCLError = rclpy_implementation.RCLError
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class RobotNode(LifecycleNode):
    """A lifecycle node around one robot."""

    PARAMETERS: tuple[Spec, ...] = ()

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.parameters = NodeParameters(self, (*COMMON, *self.PARAMETERS))
        self.diagnostics = Diagnostics(self)
        self.health = self.diagnostics.health
        self.active = False
        self.robot: Robot
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._source = RobotSource(self, self.parameters, self._try_again)
        self._interfaces: list[tuple[Callable[[Any], Any], Any]] = []
        self._deaf: list[Any] = []
        period = self.parameters["diagnostics_period"]
        self._reports = self.create_timer(period, self._report, clock=self.steady)
        self._autostart = self.create_timer(0.02, self._start_alone, clock=self.steady)
        self._waiting = self._refused = False
        self._control: ControlThread | None = None

    # -- for subclasses -------------------------------------------------------------------------

    @property
    def floating_base(self) -> bool:
        """Nothing holds the root link."""
        return False

    def setup(self) -> None:
        """Read parameters, create interfaces; raise ClosedLoopError to refuse."""

    def start(self) -> None:
        """Begin to work."""

    def stop(self) -> None:
        """Cease to work."""

    def measure(self) -> State | None:
        """Fill ``self.health.values`` with the node's own numbers; the state to report, if any."""
        return None

    def add_publisher(self, kind: Any, topic: str, qos: Any = 10) -> Any:
        """A publisher that speaks only while the node is active; gone after clean-up."""
        publisher = self.create_lifecycle_publisher(kind, topic, qos, event_callbacks=QUIET)
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

    def guard(
        self, channel: str, callback: Callable[..., None], *arguments: Any, every: float = 1.0
    ) -> bool:
        """Run a callback; what it raises becomes a fault of ``channel``. True if it went well.

        Faults of one channel are logged at most once per ``every`` seconds.
        """
        try:
            callback(*arguments)
        except ClosedLoopError as error:
            self.diagnostics.fault(channel, str(error), every=every)
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

    # -- lifecycle ------------------------------------------------------------------------------

    def _LifecycleNodeMixin__change_state(self, transition: int) -> Any:
        """A transition that the present state does not have is refused; Jazzy's rclpy dies of it.

        The name is the one under which rclpy calls its own private method.
        """
        try:
            return super()._LifecycleNodeMixin__change_state(transition)
        except RCLError as error:
            state = self._state_machine.current_state[1]
            self.get_logger().warning(f"no such transition in state '{state}': {error}")
            return FAILURE

    def on_configure(self, state: Any) -> Any:
        """Load the robot and set up; FAILURE with the reason in the log."""
        try:
            self.parameters.check()
            self._reports.timer_period_ns = round(1e9 * self.parameters["diagnostics_period"])
            self.robot = self._source.load(self.floating_base)
            self.setup()
        except Exception as error:
            known = isinstance(error, (ClosedLoopError, OSError))
            reason = str(error) if known else traceback.format_exc()
            self.get_logger().error(f"refuses to configure: {reason}")
            self._remove_interfaces()
            self.diagnostics.fault("configure", str(error), every=float("inf"))
            return FAILURE
        self.parameters.locked = True
        self.diagnostics.clear("configure")
        self._say("inactive")
        self.get_logger().info(f"configured: {self.robot}")
        return super().on_configure(state)

    def on_activate(self, state: Any) -> Any:
        """Start working."""
        self._timers_of_work: list[Any] = []
        result = super().on_activate(state)
        self.active = True
        if not self.guard("activate", self.start):
            self._halt()
            return FAILURE
        self._say("active")
        # What is loaded stays: the garbage collector need not look at it again while we work.
        gc.collect()
        gc.freeze()
        return result

    def on_deactivate(self, state: Any) -> Any:
        """Stop working; the robot stays loaded."""
        self._halt()
        self._say("inactive")
        return super().on_deactivate(state)

    def on_cleanup(self, state: Any) -> Any:
        """Forget the robot."""
        result = super().on_cleanup(state)
        self._remove_interfaces()
        gc.collect()
        self._say("unconfigured")
        return result

    def on_shutdown(self, state: Any) -> Any:
        """Stop and forget."""
        if self.active:
            self._halt()
        result = super().on_shutdown(state)
        self._remove_interfaces()
        self._say("finalized")
        return result

    def _halt(self) -> None:
        self.active = False
        if self._control is not None:
            self._control.stop()
            self._control = None
        gc.unfreeze()  # or else nothing of it could ever be collected
        for timer in self._timers_of_work:
            self.destroy_timer(timer)
        self._timers_of_work = []
        self.guard("deactivate", self.stop)

    def _remove_interfaces(self) -> None:
        for destroy, interface in self._interfaces:
            destroy(interface)
        self._interfaces = []
        self._deaf = []
        self.parameters.locked = False

    def _start_alone(self) -> None:
        if not self.parameters["autostart"]:
            self._autostart.cancel()
            return
        if not self._source.ready:
            if not self._waiting:
                self._waiting = True
                self.get_logger().info(f"no robot in the parameters; waiting for topic '{TOPIC}'")
            return
        self._autostart.cancel()
        # A manager may have been faster.
        if self._state_machine.current_state[1] == "unconfigured":
            self._refused = self.trigger_configure() != SUCCESS
            if not self._refused:
                self.trigger_activate()

    def _try_again(self) -> None:
        """There is another robot_description, after the last one was refused."""
        if self._refused:
            self._autostart.reset()

    def end(self) -> None:
        """The process ends: no thread may outlive what it talks to."""
        if self.active:
            self._halt()

    # -- diagnostics ----------------------------------------------------------------------------

    def _say(self, well: str) -> None:
        self.diagnostics.well = well
        self.diagnostics.publish_changes()

    def _report(self) -> None:
        values = self.health.values
        values.clear()
        cycles = self.health.take_cycles()
        if self.active:
            state: list[State | None] = [None]
            self.guard("diagnostics", lambda: state.__setitem__(0, self.measure()))
            if state[0] is not None:
                values["loop residual"] = f"{float(state[0].residual):.3e}"
                values["smallest singular value"] = f"{float(state[0].singularity):.6g}"
                values["newton iterations"] = str(state[0].iterations)
            self._look_for_unheard()
            values["cycles"] = str(cycles.count)
            values["cycle time mean [ms]"] = f"{1e3 * cycles.mean:.4f}"
            values["cycle time max [ms]"] = f"{1e3 * cycles.longest:.4f}"
            values["dynamics time mean [ms]"] = f"{1e3 * cycles.dynamics:.4f}"
            values["period p50 [ms]"] = f"{1e3 * cycles.period_p50:.4f}"
            values["period p99 [ms]"] = f"{1e3 * cycles.period_p99:.4f}"
        self.diagnostics.publish()

    def _look_for_unheard(self) -> None:
        """Publishers that offer another quality of service than a subscription asks for."""
        texts = {heard: unheard_publishers(self, heard) for heard in dict.fromkeys(self._deaf)}
        self._deaf = [heard for heard, text in texts.items() if text]
        if self._deaf:
            text = "; ".join(texts[heard] for heard in self._deaf)
            self.diagnostics.fault("quality of service", text, WARN, every=60.0)
        else:
            self.diagnostics.clear("quality of service")


def run(kind: Callable[[], RobotNode], arguments: list[str] | None = None) -> int:
    """Spin a node until it is asked to end."""
    ending = Ending(getattr(kind, "__name__", "node"))
    node: RobotNode | None = None
    try:
        rclpy.init(args=arguments)
        executor = SingleThreadedExecutor()
        node = kind()
        executor.add_node(node)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except Exception:
        # The signal handler shuts the context down at once; a callback that was publishing just
        # then fails on it. That is an orderly end too; anything else is not.
        if not ending.asked:
            raise
    finally:
        with ending:
            with contextlib.suppress(Exception):
                if node is not None:
                    node.end()
                    node.destroy_node()
            rclpy.try_shutdown()
    return 0
