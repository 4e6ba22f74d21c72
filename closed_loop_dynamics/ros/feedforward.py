"""The node ``feedforward``: independent-joint trajectories to actuator positions and efforts.

Takes ``~/joint_trajectory``, and ``~/task_trajectory`` for a parallel manipulator; gives
``~/actuator_trajectory`` once per accepted trajectory and, at control rate, ``~/actuator_command``,
``~/effort_command`` and ``joint_states``. With ``lockstep`` the clock is the stamp of each
``actuator_states`` message, and each one is answered by exactly one command; otherwise it is the
node's clock: the cycle has a thread of its own, or with ``use_sim_time`` a timer.

What becomes of a trajectory is decided in ``motion/execution``; the node turns messages into its
terms, asks it for the setpoint of each cycle, and publishes. Three threads, then: the executor's,
which stores what arrives; the cycle's, which computes and publishes commands; and that of the
execution, which checks trajectories. They hand over whole objects, by assignment.
"""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from ..arrays import Array
from ..dynamics.catalogue import INVERSE_DYNAMICS
from ..motion.efforts import EffortLaw
from ..motion.execution import Execution, Whereabouts
from ..motion.observer import Observation, Observer
from ..motion.splice import Offer
from ..motion.task_trajectory import TaskCommands
from ..motion.trajectory_check import Checker
from ..quantities.state import State
from .conversions import (
    EffortBuffer,
    JointStateBuffer,
    JointStateReader,
    Measurement,
    nanoseconds,
    points_from,
)
from .feedforward_settings import MEASURED, SETTINGS, initial_position, rules
from .health import WARN
from .markers import MarkerPublisher
from .payload import CarriedPayload
from .robot_node import RobotNode
from .run import run
from .topics import encoder_quality
from .trajectory_reports import CHANNEL, TrajectoryReports


class Feedforward(RobotNode):
    """See the module."""

    PARAMETERS = SETTINGS

    def __init__(self) -> None:
        super().__init__("feedforward")
        self._payload = CarriedPayload(self, self.parameters)

    # -- configuration --------------------------------------------------------------------------

    def setup(self) -> None:
        """Read parameters and create the interfaces."""
        p, robot = self.parameters, self.robot
        self._mode, self._lockstep = p["mode"], p["lockstep"]
        self._sim_time = self.get_parameter("use_sim_time").value
        self._period = 1.0 / p["control_rate"]
        self._lead = 0.5 * self._period if p["hold_compensation"] else 0.0
        self._state_timeout = p["state_timeout"]
        self._payload.configure(robot)
        checker = Checker(robot, rules(p), self._payload)
        self._limits = checker.actuator
        # A simulator may leave the limits, a robot cannot.
        tolerance = np.inf if self._lockstep else p["limit_tolerance"]
        self._observer = Observer(robot, p["max_jump"], limit_tolerance=tolerance)
        self._task = TaskCommands.of(robot)
        frequency = p["feedback_frequency"] if self._mode == MEASURED else None
        self._law = EffortLaw(robot, self._payload, self._task, frequency)
        initial = initial_position(p, checker)
        self._warm_up()
        self._create_interfaces()
        self._execution = Execution(
            checker,
            self._period,
            Whereabouts(initial, self._measured_position, self._somebody_measures),
            TrajectoryReports(self, self._mapped_out.publish),
            self._now,
            leap=max(1.0, 10.0 * self._period) if self._lockstep or self._sim_time else math.inf,
            at_once=self._lockstep,
        )

    def _create_interfaces(self) -> None:
        names = self.robot.names
        self._reader = JointStateReader(names.actuator, names.spanning)
        self._command = JointStateBuffer(names.actuator)
        self._tree = JointStateBuffer(names.spanning, effort=False)
        self._efforts = EffortBuffer(self.robot.p)
        self.add_subscription(JointTrajectory, "~/joint_trajectory", CHANNEL, self._on_points)
        if self._task is not None:
            on_points = partial(self._on_points, task=self._task)
            self.add_subscription(JointTrajectory, "~/task_trajectory", CHANNEL, on_points)
        quality = encoder_quality(lossless=self._lockstep)
        self._states = self.add_subscription(
            JointState, "actuator_states", "actuator_states", self._on_state, quality
        )
        self._command_out = self.add_publisher(JointState, "~/actuator_command")
        self._effort_out = self.add_publisher(Float64MultiArray, "~/effort_command")
        self._mapped_out = self.add_publisher(JointTrajectory, "~/actuator_trajectory")
        self._tree_out = None
        if self.parameters["publish_joint_states"]:
            self._tree_out = self.add_publisher(JointState, "joint_states")
        self._markers = MarkerPublisher(self) if self.parameters["publish_markers"] else None

    def _warm_up(self) -> None:
        """Compile what the cycle will call, so that its first call is as fast as the others."""
        y = self.robot.random_independent(np.random.default_rng(0))
        zero = np.zeros(self.robot.m)
        self.robot.prepare("state", "inverse_dynamics", "loop_jacobian", batch=True)
        if self._payload.parameters is not None:
            self.robot.prepare(INVERSE_DYNAMICS.parameters, batch=True)
        self._law.inverse_dynamics(y, zero, zero)  # says so if the robot is underactuated
        state = self.robot.state(y, zero, zero)
        self._observer.observe(0.0, state.u, state.ud)
        self._observer.forget()
        rows = np.tile(y, (2, 1))
        _ = self.robot.state(rows, 0 * rows, 0 * rows).singularity
        if self._task is not None:
            task, x = self._task.task, self._task.task.reference
            task.inverse_kinematics(x)
            task.inverse_dynamics(x, zero, zero)
            task.conditioning(x)

    def start(self) -> None:
        """Forget the past and start the cycle."""
        self._execution.restart()
        self._last: State | None = None
        self._seen: tuple[Observation, float] | None = None
        self._observer.forget()
        if self._sim_time and not self._lockstep:
            self.add_timer(self._period, lambda: self._cycle(self._now()))
        elif not self._lockstep:
            priority = self.parameters["thread_priority"]
            self.add_control_thread(
                self._period, lambda: self._cycle(self._execution.look()), priority
            )
        if self._markers is not None:
            self.add_timer(1.0 / self.parameters["marker_rate"], self._show, self.steady)

    def stop(self) -> None:
        """End the thread that checks trajectories."""
        self._execution.close()

    # -- input ----------------------------------------------------------------------------------

    def _on_points(self, message: JointTrajectory, task: TaskCommands | None = None) -> None:
        names = self.robot.names.independent if task is None else task.task.axes
        read = partial(points_from, message, names)
        self._execution.offer(Offer(read, nanoseconds(message.header.stamp), task))

    def _on_state(self, message: JointState) -> None:
        measured = self._reader.read(message)
        needed = self._lockstep or self._mode == MEASURED or not self._execution.begun
        good = not needed or self.guard("actuator_states", self._observe, measured)
        if good:
            self.diagnostics.clear("actuator_states")
        blind = self._mode != MEASURED and self._execution.begun
        if self._lockstep and (good or blind):
            self.guard("cycle", self._cycle, nanoseconds(message.header.stamp))

    def _observe(self, measured: Measurement) -> None:
        now = time.monotonic()
        self._seen = self._observer.observe(now, measured.position, measured.velocity), now

    def _measured(self) -> Observation | None:
        """The last measured state, unless it is too old."""
        seen = self._seen
        if seen is None:
            return None
        fresh = self._lockstep or time.monotonic() - seen[1] <= self._state_timeout
        return seen[0] if fresh else None

    def _measured_position(self) -> Array | None:
        seen = self._measured()
        return None if seen is None else seen.y

    def _somebody_measures(self) -> bool:
        return self.count_publishers(self._states.topic_name) > 0

    # -- the cycle ------------------------------------------------------------------------------

    def _now(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def _cycle(self, now_ns: int) -> None:
        began = time.perf_counter()
        setpoint = self._execution.advance(now_ns)
        if setpoint is None:
            if self._execution.waiting:
                reason = "waits until actuator_states (or initial_position) say where the robot is"
                self.diagnostics.fault(CHANNEL, reason, WARN, every=5.0)
            return
        ahead = self._execution.ahead(setpoint, self._lead)
        closing = time.perf_counter()
        state = self.robot.state(setpoint.y, setpoint.yd, setpoint.ydd)
        efforts, unseen = self._law.efforts(ahead, self._measured())
        dynamics = time.perf_counter() - closing
        missing = f"{unseen}: commanded state used" if unseen else ""
        self.diagnostics.tell("measured state", missing, WARN)
        # No more than the URDF allows: a measurement may be wrong, a payload far too heavy.
        within, excess = self._limits.cut_off(efforts)
        self.diagnostics.tell("effort", excess)
        self._publish(now_ns, state, within)
        self._execution.commanded(setpoint)
        self._last = state
        self.diagnostics.clear("cycle")
        self.cycle_done(began, dynamics)

    def _publish(self, now_ns: int, state: State, efforts: Array) -> None:
        ud, qd = state.ud, state.qd
        assert ud is not None and qd is not None
        self._command_out.publish(self._command.fill(now_ns, state.u, ud, efforts))
        if self._tree_out is not None:
            self._tree_out.publish(self._tree.fill(now_ns, state.q, qd))
        answers = now_ns if self._lockstep else None
        self._effort_out.publish(self._efforts.fill(efforts, answers))

    # -- reports --------------------------------------------------------------------------------

    def _show(self) -> None:
        if self._markers is not None and self._last is not None:
            self._markers.publish(self._last.q, self._command.effort)

    def measure(self) -> State | None:
        """Ages of the inputs and the commanded state."""
        values = self.health.values
        values["mode"] = self._mode
        left, nearest = self._execution.remaining, self._execution.nearest_singularity
        if left is None:
            values["trajectory"] = "no start position yet"
        else:
            values["trajectory"] = f"ends in {left:.3f} s" if left > 0 else "holding"
        if nearest is not None:
            values["nearest singularity of the platform"] = f"{nearest[0]}: {nearest[1]:.6g}"
        if self._seen is not None:
            values["input age [s]"] = f"{time.monotonic() - self._seen[1]:.4f}"
        return self._last


main = partial(run, Feedforward)
