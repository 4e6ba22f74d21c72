"""The node ``feedforward``: independent-joint trajectories to actuator positions and efforts.

Takes ``~/joint_trajectory`` or a stream on ``~/reference``, for a parallel manipulator also
``~/task_trajectory``; gives ``~/actuator_trajectory`` once per accepted trajectory and, at control
rate, ``~/actuator_command``,
``~/effort_command`` and ``joint_states``. With ``lockstep`` the clock is the stamp of each
``actuator_states`` message, and each one is answered by exactly one command; otherwise it is the
node's clock: the cycle has a thread of its own, or with ``use_sim_time`` a timer.

What becomes of a trajectory is decided in ``motion/execution``; the node turns messages into its
terms, asks it for the setpoint of each cycle, and publishes. Four threads, then: the cycle's, which
looks for measurements and computes commands; the sender's, which publishes them and whatever else
there is to say; the executor's, which stores what arrives; and that of the execution, which checks
trajectories. They hand over whole objects, by assignment: the cycle waits for none of them.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from functools import partial
from itertools import chain, repeat

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ..arrays import Array
from ..dynamics.catalogue import FORWARD_DYNAMICS, INVERSE_DYNAMICS
from ..errors import InvalidInput
from ..motion.controller import Controller
from ..motion.efforts import EffortLaw, EffortRate
from ..motion.execution import Execution, Whereabouts
from ..motion.goals import Goals
from ..motion.impedance import Impedance
from ..motion.observer import Observer
from ..motion.splice import Offer, once
from ..motion.streaming import Stream
from ..motion.supervisor import Supervisor
from ..motion.task_trajectory import TaskCommands
from ..motion.trajectory_check import Checker
from ..motion.voice import LAST_ZEROS
from ..quantities.state import State
from .actuator_states import ActuatorStates
from .command_topics import CommandTopics, Letter
from .controller_state import ControllerState
from .conversions import nanoseconds, points_from
from .feedforward_settings import (
    MEASURED,
    SETTINGS,
    feedback,
    initial_position,
    joint_settings,
    manner,
    policy,
    rules,
    stream_manner,
)
from .health import WARN
from .impedance_commands import ImpedanceCommands
from .markers import MarkerPublisher
from .payload import CarriedPayload
from .reference import ReferenceStream
from .robot_node import RobotNode
from .run import run
from .supervision import Supervision
from .trajectory_action import TrajectoryAction
from .trajectory_reports import CHANNEL, TrajectoryReports

#: In real and in simulated time, whose steps may be coarse: a motion goes on for so long without a
#: cycle [s], as the robot does with its last efforts; for longer it waits.
LATE = (0.02, 0.1)
#: Who ends lets go of the robot within this time, however slowly efforts may change [s].
LETTING_GO = 3.0


class Feedforward(RobotNode):
    """See the module."""

    PARAMETERS = SETTINGS

    def __init__(self) -> None:
        super().__init__("feedforward")
        self._payload = CarriedPayload(self, self.parameters)
        self._supervisor: Supervisor | None = None

    # -- configuration --------------------------------------------------------------------------

    def setup(self) -> None:
        """Read parameters and create the interfaces."""
        p, robot = self.parameters, self.robot
        p.add(joint_settings(p, robot))
        p.check()
        self._mode, self._lockstep = p["mode"], p["lockstep"]
        self._sim_time = self.get_parameter("use_sim_time").value
        self._period = 1.0 / p["control_rate"]
        self._payload.configure(robot)
        checker = Checker(robot, rules(p), self._payload)
        # A simulator may leave the limits, a robot cannot.
        tolerance = np.inf if self._lockstep else p["limit_tolerance"]
        self._observer = Observer(
            robot,
            p["max_jump"],
            p["patience"],
            limit_tolerance=tolerance,
            # In lockstep time is not that of arrivals.
            velocity_filter=0.0 if self._lockstep else p["velocity_filter"],
            doubts=not self._lockstep,
        )
        self._task = TaskCommands.of(robot)
        frequency = p["feedback_frequency"] if self._mode == MEASURED else None
        self._law = EffortLaw(robot, self._payload, self._task, frequency, feedback(p, robot))
        initial = initial_position(p, checker)
        self._warm_up()
        limits = checker.actuator
        self._step = p["max_effort_rate"] * self._period * limits.effort
        self._impedance = Impedance(robot, p["impedance.timeout"])
        # The button is not released by a change of parameters.
        pressed = self._supervisor is not None and self._supervisor.pressed
        self._supervisor = Supervisor(policy(p, checker.independent), pressed)
        self._controller = Controller(
            robot,
            manner(p),
            self._observer,
            self._law,
            self._supervisor,
            limits,
            EffortRate(self._step),
            impedance=self._impedance,
        )
        self._stream = Stream(checker, stream_manner(p))
        self._create_interfaces()
        self._goals = Goals(self._controller.supervisor)
        self._execution = self._controller.execution = Execution(
            checker,
            self._period,
            Whereabouts(
                initial,
                self._controller.known.position,
                self._somebody_measures,
                p["start_tolerance"],
            ),
            TrajectoryReports(self, self._mapped_out.publish, self._goals),
            self._now,
            leap=max(1.0, 10.0 * self._period) if self._lockstep or self._sim_time else math.inf,
            late=math.inf if self._lockstep else max(3.0 * self._period, LATE[self._sim_time]),
            followed=p["trajectory_follower"],
            at_once=self._lockstep,
        )
        self._action = TrajectoryAction(self, self._goals, self._controller)
        self._execution.stream = self._stream

    def _create_interfaces(self) -> None:
        p = self.parameters
        self.add_subscription(JointTrajectory, "~/joint_trajectory", CHANNEL, self._on_points)
        if self._task is not None:
            on_points = partial(self._on_points, task=self._task)
            self.add_subscription(JointTrajectory, "~/task_trajectory", CHANNEL, on_points)
        self._references = ReferenceStream(self, self._stream)
        self._impedances = ImpedanceCommands(self, self._impedance, p["trajectory_follower"])
        answer = self._answer if self._lockstep else None
        self._states = ActuatorStates(self, self._controller, self._now, self._period, answer)
        self._mapped_out = self.add_publisher(JointTrajectory, "~/actuator_trajectory")
        rate = p["joint_states_rate"] if p["publish_joint_states"] else 0.0
        self._commands = CommandTopics(
            self, EffortRate(self._step), lockstep=self._lockstep, tree_rate=rate
        )
        self._controller_state = ControllerState(self)
        self._markers = MarkerPublisher(self) if p["publish_markers"] else None
        topic = self._commands.effort_topic
        followed = p["trajectory_follower"]
        self._supervision = Supervision(self, self._controller.supervisor, topic, followed)

    def _warm_up(self) -> None:
        """Compile what the cycle will call, so that its first call is as fast as the others."""
        y = self.robot.random_independent(np.random.default_rng(0))
        zero = np.zeros(self.robot.m)
        self.robot.prepare("state", "inverse_dynamics", batch=True, twin=True)
        self.robot.prepare("encoder_step", "actuator_forces", "forward_dynamics", twin=True)
        self.robot.prepare("loop_jacobian", twin=True)
        if self._payload.parameters is not None:
            self.robot.prepare(INVERSE_DYNAMICS.parameters, batch=True, twin=True)
            self.robot.prepare(FORWARD_DYNAMICS.parameters, twin=True)
        self._law.inverse_dynamics(y, zero, zero)  # says so if the robot is underactuated
        state = self.robot.state(y, zero, zero)
        for elapsed in (0.0, self._period):  # a first message is not believed alone
            with contextlib.suppress(InvalidInput):
                self._observer.observe(elapsed, state.u, state.ud)
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
        self._last: Letter | None = None
        self._controller.restart()
        self._supervision.say()
        self._commands.restart()
        self._states.forget()
        if self._sim_time and not self._lockstep:
            self.add_timer(self._period, lambda: self._cycle(self._now))
        elif not self._lockstep:
            self.add_control_thread(
                self._period,
                lambda: self._cycle(self._execution.look),
                self._publish,
                self.parameters["thread_priority"],
            )
        self._action.start(1.0 / self.parameters["action_monitor_rate"])
        p = self.parameters
        if p["state_publish_rate"]:
            self.add_timer(1.0 / p["state_publish_rate"], self._tell_controller_state, self.steady)
        if self._markers is not None:
            self.add_timer(1.0 / p["marker_rate"], self._show, self.steady)

    def stop(self) -> None:
        """Stop whoever follows the reference, let go of the robot; end the checking thread."""
        try:
            self._execution.let_go(self._controller.manner.stop_time)
        finally:
            if self._last is not None:
                self._let_go()
            self._execution.close()
            self._action.stop("the node was deactivated")
            self._controller.supervisor.restart("the node is not active")
            self._supervision.say()

    def _let_go(self) -> None:
        zeros, end = repeat(np.zeros(self.robot.p)), time.monotonic() + LETTING_GO
        for efforts in chain(self._controller.last_words(self._states.look), zeros):
            if time.monotonic() > end:
                break
            if self._has_let_go(efforts):
                return
        self._commands.restart()  # whatever the rate, nothing may stay
        for _ in range(LAST_ZEROS):
            self._has_let_go(next(zeros))

    def _has_let_go(self, efforts: Array) -> bool:
        """Whether nobody drives the robot any more when these have been said."""
        let_go = self.guard("effort", self._commands.publish_efforts, efforts)
        if not self._lockstep:
            time.sleep(self._period)
        return let_go and self._commands.has_let_go

    # -- input ----------------------------------------------------------------------------------

    def _on_points(self, message: JointTrajectory, task: TaskCommands | None = None) -> None:
        if task is None and self._references.takes(message, self._execution.reference):
            self.diagnostics.clear(CHANNEL)
            return
        names = self.robot.names.independent if task is None else task.task.axes
        read = once(partial(points_from, message, names))
        self._execution.offer(Offer(read, nanoseconds(message.header.stamp), task))

    def _answer(self, now_ns: int, good: bool) -> None:
        """In lockstep: a state of the time ``now_ns`` has come, which is believed or not."""
        blind = self._mode != MEASURED and self._execution.begun
        if good or blind:
            self.guard("cycle", self._cycle, lambda: now_ns)

    def _somebody_measures(self) -> bool:
        return self._mode == MEASURED or self.count_publishers(self._states.topic_name) > 0

    # -- the cycle ------------------------------------------------------------------------------

    def _now(self) -> int:
        return int(self.get_clock().now().nanoseconds) if self._sim_time else time.time_ns()

    def _cycle(self, clock: Callable[[], int]) -> None:
        """Measurements first, then the time: who is stopped in between finds them old.

        The other way round the robot would have left a reference that is old without saying so.
        """
        began = time.perf_counter()
        if not self._lockstep:
            self._states.look()
        read = time.perf_counter()
        now_ns = clock()
        try:
            command = self._controller.cycle(now_ns)
        except Exception:
            self._send(None)
            raise
        if command is None:
            if self._last is not None and not self._lockstep:
                self._send(None)
            if self._controller.lost_track is not None:
                self._goals.cycled(self._controller.lost_track)
                self.later(self._supervision.tell, self._controller.lost_track)
            if self._execution.waiting:
                reason = "waits until actuator_states (or initial_position) say where the robot is"
                self.diagnostics.fault(CHANNEL, reason, WARN, every=5.0)
            return
        letter = Letter(now_ns, command)
        self._send(letter)
        self._goals.cycled(command.transition)
        if command.transition is not None:
            self.later(self._supervision.tell, command.transition)
        self._last = letter
        self.cycle_done(began, command.dynamics, read - began)

    def _send(self, letter: Letter | None) -> None:
        """A command; None: nobody knows one, and no effort is better than an old one."""
        if self._lockstep or self._sim_time:
            self._publish(letter)
        else:
            self.post(letter)

    def _publish(self, letter: Letter | None) -> None:
        """In the sender's thread, if there is one."""
        if letter is None:
            return self._commands.let_go()
        self._commands.publish(letter)
        command = letter.command
        missing = f"{command.unseen}: commanded state used" if command.unseen else ""
        self.diagnostics.tell("measured state", missing, WARN)
        self.diagnostics.tell("effort", command.excess)
        self._references.tell()
        self._impedances.tell()

    # -- reports --------------------------------------------------------------------------------

    def _tell_controller_state(self) -> None:
        if self._last is not None:
            self._controller_state.publish(self._last)

    def _show(self) -> None:
        """The robot where it is measured, if it is, and where it should be."""
        if self._markers is None or self._last is None:
            return
        command = self._last.command
        q = desired = command.state.q
        if command.seen is not None:
            q = self.robot.state(command.seen.y).q
        self._markers.publish(q, command.efforts, desired)

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
        if np.isfinite(self._controller.known.age):
            values["input age [s]"] = f"{self._controller.known.age:.4f}"
        if self.unsent:
            values["commands not sent"] = str(self.unsent)
        self._supervision.measure()
        return None if self._last is None else self._last.command.state


main = partial(run, Feedforward)
