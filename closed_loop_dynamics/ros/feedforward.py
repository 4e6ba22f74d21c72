"""The node ``feedforward``: independent-joint trajectories to actuator positions and efforts.

Takes ``~/joint_trajectory``, and ``~/task_trajectory`` for a parallel manipulator; gives
``~/actuator_trajectory`` once per accepted trajectory and, at control rate, ``~/actuator_command``,
``~/effort_command`` and ``joint_states``. With ``lockstep`` the clock is the stamp of each
``actuator_states`` message, and each one is answered by exactly one command; otherwise it is the
node's clock: the cycle has a thread of its own, or with ``use_sim_time`` a timer.

Three threads, then: the executor's, which stores what arrives; the cycle's, which computes and
publishes commands; and that of the intake, which checks trajectories. They hand over whole objects,
by assignment.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from ..errors import ClosedLoopError
from ..motion.clock_steps import ClockSteps
from ..motion.feedback import feedback_acceleration
from ..motion.observer import Observation, Observer
from ..motion.task_trajectory import PlatformMotion, TaskCommands, TaskSpline
from ..motion.trajectory import Motion, Spline
from ..motion.trajectory_check import Checker, Rules
from ..state import State
from .conversions import (
    NANO,
    EffortBuffer,
    JointStateBuffer,
    JointStateReader,
    Measurement,
    nanoseconds,
)
from .health import WARN
from .intake import Intake
from .markers import MarkerPublisher
from .parameters import DOUBLES, ParameterError, Spec
from .payload import PAYLOAD, CarriedPayload
from .robot_node import RobotNode, run
from .topics import encoder_quality

FEEDFORWARD, MEASURED = "feedforward", "measured"
FOREVER = 1e9  # [s]


class Feedforward(RobotNode):
    """See the module."""

    PARAMETERS = (
        Spec("mode", FEEDFORWARD, "state of the efforts", choices=(FEEDFORWARD, MEASURED)),
        Spec("control_rate", 500.0, "commands per second [Hz]", 1.0, 10000.0),
        Spec("thread_priority", 0, "real-time priority of the control thread; 0: none", 0, 98),
        Spec("lockstep", False, "answer each actuator_states message, in place of a timer"),
        Spec("hold_compensation", True, "efforts for the middle of the period they are held"),
        Spec(
            "feedback_frequency", 0.0, "measured mode: stiffness of feedback [rad/s]", 0.0, 1000.0
        ),
        Spec("initial_position", DOUBLES, "independent joints; empty: as measured [rad or m]"),
        Spec("state_timeout", 0.1, "older measurements are not used [s]", 0.001, 60.0),
        Spec("max_jump", 0.2, "largest believable step of a measurement [rad or m]", 1e-6, 100.0),
        Spec("limit_tolerance", 0.05, "share of its range a joint may leave it by", 0.0, 10.0),
        Spec("min_singular_value", 1e-3, "refuse trajectories nearer to a singularity", 0.0, 1.0),
        Spec("max_start_jump", 0.1, "refuse a trajectory that starts further away", 0.0, 100.0),
        Spec("allow_nonzero_velocity_at_trajectory_end", False, "the last point may move"),
        Spec("trajectory_period", 0.01, "spacing of checked and mapped samples [s]", 1e-4, 1.0),
        Spec("publish_joint_states", True, "publish the commanded spanning tree"),
        Spec("publish_markers", False, "publish cut points, residuals and forces for RViz"),
        Spec("marker_rate", 20.0, "markers per second [Hz]", 0.1, 100.0),
        *PAYLOAD,
    )

    def __init__(self) -> None:
        super().__init__("feedforward")
        self._payload = CarriedPayload(self, self.parameters)

    # -- configuration --------------------------------------------------------------------------

    def setup(self) -> None:
        """Read parameters and create the interfaces."""
        p, robot = self.parameters, self.robot
        self._mode, self._lockstep = p["mode"], p["lockstep"]
        self._period = 1.0 / p["control_rate"]
        self._lead = 0.5 * self._period if p["hold_compensation"] else 0.0
        self._frequency, self._state_timeout = p["feedback_frequency"], p["state_timeout"]
        rules = Rules(
            min_singular_value=p["min_singular_value"],
            moving_end=p["allow_nonzero_velocity_at_trajectory_end"],
            max_start_jump=p["max_start_jump"],
            period=p["trajectory_period"],
        )
        self._payload.configure(robot)
        self._checker = Checker(robot, rules, self._payload)
        # A simulator may leave the limits, a robot cannot.
        tolerance = np.inf if self._lockstep else p["limit_tolerance"]
        self._observer = Observer(robot, p["max_jump"], limit_tolerance=tolerance)
        self._reader = JointStateReader(robot.names.actuator, robot.names.spanning)
        self._initial = self._initial_position()
        self._commanded: np.ndarray | None = None
        self._command = JointStateBuffer(robot.names.actuator)
        self._tree = JointStateBuffer(robot.names.spanning, effort=False)
        self._efforts = EffortBuffer(robot.p)
        self._task = TaskCommands.of(robot)
        self._warm_up()
        self.add_subscription(JointTrajectory, "~/joint_trajectory", "trajectory", self._on_points)
        if self._task is not None:
            self.add_subscription(
                JointTrajectory, "~/task_trajectory", "trajectory", self._on_task_points
            )
        quality = encoder_quality(lossless=self._lockstep)
        self._states = self.add_subscription(
            JointState, "actuator_states", "actuator_states", self._on_state, quality
        )
        self._command_out = self.add_publisher(JointState, "~/actuator_command")
        self._effort_out = self.add_publisher(Float64MultiArray, "~/effort_command")
        self._mapped_out = self.add_publisher(JointTrajectory, "~/actuator_trajectory")
        self._tree_out = None
        if p["publish_joint_states"]:
            self._tree_out = self.add_publisher(JointState, "joint_states")
        self._markers = MarkerPublisher(self) if p["publish_markers"] else None

    def _initial_position(self) -> np.ndarray | None:
        given = self.parameters["initial_position"]
        if not given:
            return None
        if len(given) != self.robot.m:
            raise ParameterError(
                f"parameter 'initial_position': {len(given)} numbers for {self.robot.m} joints "
                f"({', '.join(self.robot.names.independent)})"
            )
        y = np.array(given)
        self._checker.check(Spline.resting(y, 0.0), 0.0)
        return y

    def _warm_up(self) -> None:
        """Compile what the cycle will call, so that its first call is as fast as the others."""
        y = self.robot.random_independent(np.random.default_rng(0))
        zero = np.zeros(self.robot.m)
        self.robot.prepare("state", "inverse_dynamics", "loop_jacobian", batch=True)
        if self._payload.parameters is not None:
            self.robot.prepare("inverse_dynamics_parameters", batch=True)
        self._inverse_dynamics(y, zero, zero)  # says so if the robot is underactuated
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
        self._intake = Intake(
            self, self._checker, self._period, self._mapped_out.publish, self._lockstep
        )
        self._spline: Spline | None = None
        self._now_ns: int | None = None
        self._last: State | None = None
        self._seen: tuple[Observation, float] | None = None
        self._observer.forget()
        sim_time = self.get_parameter("use_sim_time").value
        #: Simulated time that goes further ahead in one cycle has jumped.
        leap = max(1.0, 10.0 * self._period) if self._lockstep or sim_time else FOREVER
        self._leap_ns = round(leap * NANO)
        self._steps = ClockSteps(lambda: self.get_clock().now().nanoseconds)
        if sim_time and not self._lockstep:
            self.add_timer(self._period, self._on_timer)
        elif not self._lockstep:
            priority = self.parameters["thread_priority"]
            self.add_control_thread(self._period, self._on_control_thread, priority)
        if self._markers is not None:
            self.add_timer(1.0 / self.parameters["marker_rate"], self._show, self.steady)

    def stop(self) -> None:
        """End the thread of the intake."""
        self._intake.admission.close()

    # -- input ----------------------------------------------------------------------------------

    def _on_points(self, message: JointTrajectory) -> None:
        self._intake.admission.offer((message, None))

    def _on_task_points(self, message: JointTrajectory) -> None:
        self._intake.admission.offer((message, self._task))

    def _on_state(self, message: JointState) -> None:
        measured = self._reader.read(message)
        needed = self._lockstep or self._mode == MEASURED or self._spline is None
        good = not needed or self.guard("actuator_states", self._observe, measured)
        if good:
            self.diagnostics.clear("actuator_states")
        blind = self._mode == FEEDFORWARD and self._spline is not None
        if self._lockstep and (good or blind):
            self.guard("cycle", self._cycle, nanoseconds(message.header.stamp))

    def _observe(self, measured: Measurement) -> None:
        now = time.monotonic()
        self._seen = self._observer.observe(now, measured.position, measured.velocity), now

    def _on_timer(self) -> None:
        self._cycle(self.get_clock().now().nanoseconds)

    def _on_control_thread(self) -> None:
        now_ns, step = self._steps.look()
        if step and self._now_ns is not None:
            self.get_logger().warning(
                f"the system's clock was set by {step / NANO:+.3f} s: the motion goes on"
            )
            self._intake.epoch += step
            self._now_ns += step
        self._cycle(max(now_ns, self._now_ns or 0))  # a microsecond back is no restart

    # -- the cycle ------------------------------------------------------------------------------

    def _cycle(self, now_ns: int) -> None:
        began = time.perf_counter()
        if self._now_ns is None:
            self._intake.epoch = now_ns
        elif not 0 <= now_ns - self._now_ns <= self._leap_ns:
            self._restart_time(now_ns, (now_ns - self._now_ns) / NANO)
        self._now_ns = now_ns
        now = self._intake.seconds(now_ns)
        if self._spline is None:
            self._begin(now)
        if self._spline is None:
            if self._intake.admission.waiting:
                reason = "waits until actuator_states (or initial_position) say where the robot is"
                self.diagnostics.fault("trajectory", reason, WARN, every=5.0)
            return
        motion = self._spline.sample(now)
        spliced = self._intake.splice(motion)
        if spliced is not None:
            self._spline = spliced
            motion = spliced.sample(now)
        ahead = self._spline.sample(now + self._lead) if self._lead else motion
        closing = time.perf_counter()
        state = self.robot.state(motion.y, motion.yd, motion.ydd)
        efforts = self._choose_efforts(ahead)
        dynamics = time.perf_counter() - closing
        self._publish(now_ns, state, self._within_limits(efforts))
        self._last, self._commanded = state, motion.y
        self.diagnostics.clear("cycle")
        self.cycle_done(began, dynamics)

    def _restart_time(self, now_ns: int, jump: float) -> None:
        """The clock jumped: times of the trajectory have lost their meaning."""
        self.get_logger().warning(
            f"time {'went back' if jump < 0 else 'jumped ahead'} by {abs(jump):.3f} s: the "
            "trajectory is dropped"
        )
        self._intake.admission.forget()
        self._intake.epoch = now_ns
        self._spline = None

    def _begin(self, now: float) -> None:
        """Rest where the parameter says, the first time; later where the robot is.

        Where nobody measures it is where it was told to be.
        """
        seen = self._measured()
        if self._initial is not None and self._commanded is None:
            self._spline = Spline.resting(self._initial, now)
        elif seen is not None:
            limits = self._checker.independent
            self._spline = Spline.resting(np.clip(seen.y, limits.lower, limits.upper), now)
        elif self._commanded is not None and not self.count_publishers(self._states.topic_name):
            self._spline = Spline.resting(self._commanded, now)

    def _measured(self) -> Observation | None:
        """The last measured state, unless it is too old."""
        seen = self._seen
        if seen is None:
            return None
        fresh = self._lockstep or time.monotonic() - seen[1] <= self._state_timeout
        return seen[0] if fresh else None

    def _choose_efforts(self, motion: Motion) -> np.ndarray:
        if self._mode == FEEDFORWARD:
            task = None if self._payload.parameters is not None else self._task
            if task is not None and isinstance(motion, PlatformMotion):
                return task.task.inverse_dynamics(motion.x, motion.xd, motion.xdd)
            return self._inverse_dynamics(motion.y, motion.yd, motion.ydd)
        seen = self._measured()
        if seen is None:
            return self._without_measurement(motion, "none or too old")
        y, yd = seen.y, seen.yd
        ydd = feedback_acceleration(self._frequency, motion.ydd, motion.y - y, motion.yd - yd)
        try:
            efforts = self._inverse_dynamics(y, yd, ydd)
        except ClosedLoopError as error:
            return self._without_measurement(motion, str(error))
        self.diagnostics.clear("measured state")
        return efforts

    def _without_measurement(self, motion: Motion, reason: str) -> np.ndarray:
        self.diagnostics.fault("measured state", f"{reason}: commanded state used", WARN)
        return self._inverse_dynamics(motion.y, motion.yd, motion.ydd)

    def _inverse_dynamics(self, y: np.ndarray, yd: np.ndarray, ydd: np.ndarray) -> np.ndarray:
        return self.robot.inverse_dynamics(y, yd, ydd, parameters=self._payload.parameters)

    def _within_limits(self, efforts: np.ndarray) -> np.ndarray:
        """No more than the URDF allows: a measurement may be wrong, a payload far too heavy."""
        within, excess = self._checker.actuator.cut_off(efforts)
        if excess:
            self.diagnostics.fault("effort", excess)
        else:
            self.diagnostics.clear("effort")
        return within

    def _publish(self, now_ns: int, state: State, efforts: np.ndarray) -> None:
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
        spline, now_ns, seen = self._spline, self._now_ns, self._seen
        if spline is not None and now_ns is not None:
            now = self._intake.seconds(now_ns)
            left = spline.end - now
            values["trajectory"] = f"ends in {left:.3f} s" if left > 0 else "holding"
            if isinstance(spline, TaskSpline):
                name, value = spline.nearest_singularity(now)
                values["nearest singularity of the platform"] = f"{name}: {value:.6g}"
        else:
            values["trajectory"] = "no start position yet"
        if seen is not None:
            values["input age [s]"] = f"{time.monotonic() - seen[1]:.4f}"
        return self._last


def main(arguments: list[str] | None = None) -> int:
    """Entry point of ``ros2 run closed_loop_dynamics feedforward``."""
    return run(Feedforward, arguments)


if __name__ == "__main__":
    sys.exit(main())
