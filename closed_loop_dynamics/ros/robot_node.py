"""What the lifecycle nodes share: parameters, the robot, transitions, autostart, reports.

A subclass fills in ``setup``, ``start``, ``stop`` and ``measure``. ``setup`` may raise: the node
then refuses to configure and says why. After that nothing may stop it (``guarded_node``).
"""

from __future__ import annotations

import gc
import time
import traceback
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import TransitionCallbackReturn

from ..errors import ClosedLoopError
from ..quantities.state import State
from ..robot import Robot
from .guarded_node import GuardedNode
from .health import WARN
from .parameters import COMMON, NodeParameters, Spec
from .robot_source import TOPIC, RobotSource
from .topics import missing_clock

RCLError = rclpy_implementation.RCLError
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
#: For the last messages of a node whose process ends [s].
LAST_WORDS = 0.2


class RobotNode(GuardedNode):
    """A lifecycle node around one robot."""

    PARAMETERS: tuple[Spec, ...] = ()

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.parameters = NodeParameters(self, (*COMMON, *self.PARAMETERS))
        self.robot: Robot
        self._source = RobotSource(self, self.parameters, self._try_again)
        period = self.parameters["diagnostics_period"]
        self._reports = self.create_timer(period, self._report, clock=self.steady)
        self._autostart = self.create_timer(0.02, self._start_alone, clock=self.steady)
        self._waiting = self._refused = False

    # -- for subclasses -------------------------------------------------------------------------

    def setup(self) -> None:
        """Read parameters, create interfaces; raise ClosedLoopError to refuse."""

    def start(self) -> None:
        """Begin to work."""

    def stop(self) -> None:
        """Cease to work."""

    def measure(self) -> State | None:
        """Fill ``self.health.values`` with the node's own numbers; the state to report, if any."""
        return None

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
            self.robot = self._source.load()
            self.setup()
        except Exception as error:
            known = isinstance(error, (ClosedLoopError, OSError))
            reason = str(error) if known else traceback.format_exc()
            self.get_logger().error(f"refuses to configure: {reason}")
            self._forget()
            self.diagnostics.fault("configure", str(error), every=float("inf"))
            return FAILURE
        self.parameters.locked = True
        self.diagnostics.clear("configure")
        self._say("inactive")
        self.get_logger().info(f"configured: {self.robot}")
        return super().on_configure(state)

    def on_activate(self, state: Any) -> Any:
        """Start working."""
        result = super().on_activate(state)
        self.active = self.in_charge = True
        if not self.guard("activate", self.start):
            self._halt()
            return FAILURE
        self._say("active")
        # What is loaded stays: the garbage collector need not look at it again while we work, and
        # comes when we ask (in reports), not in the middle of a cycle.
        gc.collect()
        gc.freeze()
        gc.disable()
        return result

    def on_deactivate(self, state: Any) -> Any:
        """Stop working; the robot stays loaded."""
        self._halt()
        self._say("inactive")
        return super().on_deactivate(state)

    def on_cleanup(self, state: Any) -> Any:
        """Forget the robot."""
        result = super().on_cleanup(state)
        self._forget()
        gc.collect()
        self._say("unconfigured")
        return result

    def on_shutdown(self, state: Any) -> Any:
        """Stop and forget."""
        if self.active:
            self._halt()
        result = super().on_shutdown(state)
        self._forget()
        self._say("finalized")
        return result

    def _halt(self) -> None:
        self.end_work()
        gc.enable()
        gc.unfreeze()  # or else nothing of it could ever be collected
        self.guard("deactivate", self.stop)
        self.in_charge = False

    def _forget(self) -> None:
        self.remove_interfaces()
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

    def destroy_node(self) -> None:
        """The process ends: no thread may outlive what it talks to."""
        if self.active:
            self._halt()
            self._say_the_rest()
        super().destroy_node()

    def _say_the_rest(self) -> None:
        """What the executor has to send yet, results of goals say."""
        executor, end = self.executor, time.monotonic() + LAST_WORDS
        while executor is not None and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.02)

    # -- diagnostics ----------------------------------------------------------------------------

    def _say(self, well: str) -> None:
        self.diagnostics.well = well
        self.diagnostics.publish_changes()

    def _report(self) -> None:
        self.health.values.clear()
        cycles = self.health.take_cycles()
        self.diagnostics.tell("clock", missing_clock(self), WARN, every=60.0)
        if self.active:
            self.guard("diagnostics", self._tell_state)
            self.look_for_unheard()
            self.health.values.update(cycles.values())
            gc.collect()
        self.diagnostics.publish()

    def _tell_state(self) -> None:
        state, values = self.measure(), self.health.values
        if state is not None:
            values["loop residual"] = f"{float(state.residual):.3e}"
            values["smallest singular value"] = f"{float(state.singularity):.6g}"
            values["newton iterations"] = str(state.iterations)
