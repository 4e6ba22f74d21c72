"""The action ``~/follow_joint_trajectory``: goals of clients, what becomes of them, feedback.

Every callback is quick: a goal is taken in and its trajectory offered like one of the topic. What
becomes of it (``motion/goals``) is looked up by a timer of the executor, which ends the handles of
the clients; the cycle knows nothing of them. Refusals are told as results with code and reason,
because a goal that is not even taken in could be given neither.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future

from ..motion.clock_steps import NANO
from ..motion.controller import Controller
from ..motion.goals import End, Goal, Goals, Outcome
from ..motion.partial import Partial
from ..motion.splice import Offer, once
from ..motion.supervisor import State
from ..motion.tolerances import Tolerance, goal_policy
from ..motion.trajectory import Setpoint, TrajectoryRefused
from .conversions import nanoseconds, points_from, set_stamp, trajectory_point
from .robot_node import RobotNode

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:  # it is not among the wheels on PyPI
    FollowJointTrajectory = None

NAME = "~/follow_joint_trajectory"
#: How long results are kept for clients that ask late [s].
KEPT = 10
#: For results to be sent before the server goes [s].
LAST_WORDS = 0.2


class GuardedActionServer(ActionServer):
    """An action server whose requests cannot end the node."""

    def __init__(self, node: RobotNode, *arguments: Any, **settings: Any) -> None:
        self._guarding = node
        super().__init__(node, *arguments, **settings)

    async def execute(self, taken_data: Any) -> None:
        """Answer requests."""
        try:
            await super().execute(taken_data)
        except Exception as error:  # such as an answer to a client that is gone
            if self._guarding.context.ok():
                self._guarding.get_logger().warning(f"{NAME}: {error}", throttle_duration_sec=1.0)


class TrajectoryAction:
    """Serves the action for a node; nothing at all where there is no control_msgs."""

    def __init__(self, node: RobotNode, goals: Goals, controller: Controller) -> None:
        self._node = node
        self._goals = goals
        self._controller = controller
        self._names = node.robot.names.independent
        self._default = controller.supervisor.policy
        self._open: dict[Goal, tuple[Any, Future]] = {}
        self._ending = 0
        self._timer: Any = None
        if FollowJointTrajectory is None:
            text = f"no action {NAME} without control_msgs: install it for actions"
            node.get_logger().info(text, once=True)
            return
        server = GuardedActionServer(
            node,
            FollowJointTrajectory,
            NAME,
            execute_callback=self._follow,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
            result_timeout=KEPT,
        )
        node.add_interface(server, self._destroy)

    def start(self, period: float) -> None:
        """Look after goals every ``period`` [s], as long as there are any."""
        if FollowJointTrajectory is not None:
            self._timer = self._node.add_timer(period, self._look, self._node.steady)
            self._timer.cancel()

    def stop(self, reason: str) -> None:
        """Abort all goals. When the timers of the activation are gone, and no cycle runs."""
        self._timer = None
        self._goals.end_all(reason)
        self._look()

    # -- requests -------------------------------------------------------------------------------

    def _on_goal(self, _: Any) -> GoalResponse:
        if self._node.active:
            return GoalResponse.ACCEPT
        self._node.get_logger().warning(f"{NAME}: goal rejected, the node is not active")
        return GoalResponse.REJECT

    def _on_accepted(self, handle: Any) -> None:
        goal, done = self._goal(handle.request), Future()
        self._open[goal] = handle, done
        self._goals.add(goal)
        handle.execute(partial(self._follow, done=done))
        self._controller.execution.offer(goal.offer)
        if self._timer is not None:
            self._timer.reset()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        for goal, (known, _) in self._open.items():
            if known.goal_id == handle.goal_id:
                self._goals.cancel(goal)
                return CancelResponse.ACCEPT
        return CancelResponse.REJECT

    async def _follow(self, handle: Any, done: Future) -> Any:
        outcome: Outcome = await done
        self._ending -= 1
        if outcome.end is End.SUCCEEDED:
            handle.succeed()
        elif outcome.end is End.CANCELED and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return FollowJointTrajectory.Result(
            error_code=int(outcome.code), error_string=outcome.reason
        )

    def _goal(self, request: Any) -> Goal:
        trajectory, execution = request.trajectory, self._controller.execution
        some = Partial(
            self._names,
            trajectory.joint_names,
            once(partial(self._points, trajectory)),
            lambda: execution.departure,
        )

        def read() -> Any:
            others = getattr(request, "multi_dof_trajectory", None)
            if others is not None and len(others.points):
                raise TrajectoryRefused("multi_dof_trajectory: this robot has no such joints")
            goal.policy = self._policy(request)
            return some.read()

        def begins(running: Setpoint) -> None:
            self._goals.check_wanted(offer)
            some.begins(running)

        stamp = nanoseconds(trajectory.header.stamp)
        offer = Offer(read, stamp, wanted=lambda: self._goals.wants(offer), begins=begins)
        goal = Goal(offer, self._default)
        return goal

    def _points(self, trajectory: Any) -> Any:
        """Take them out of the message: it is kept until the result is forgotten."""
        try:
            return points_from(trajectory, self._names, partial=True)
        finally:
            trajectory.points = []

    def _policy(self, request: Any) -> Any:
        path, end = (
            [Tolerance(t.name, t.position, t.velocity, t.acceleration) for t in tolerances]
            for tolerances in (request.path_tolerance, request.goal_tolerance)
        )
        time = nanoseconds(request.goal_time_tolerance) / NANO
        return goal_policy(self._default, path, end, time)

    # -- from time to time ----------------------------------------------------------------------

    def _look(self) -> None:
        self._goals.insist()
        for goal in self._goals.ended():
            _, done = self._open.pop(goal)
            outcome = goal.outcome
            assert outcome is not None
            self._ending += 1
            done.set_result(outcome)
            self._node.get_logger().info(f"goal {outcome.end.value}: {outcome.reason}")
        current, state = self._goals.current, self._controller.supervisor.state
        if current in self._open and state is State.TRACKING:
            self._open[current][0].publish_feedback(self._feedback())
        if not self._open and self._timer is not None:
            self._timer.cancel()

    def _feedback(self) -> Any:
        message = FollowJointTrajectory.Feedback(joint_names=list(self._names))
        set_stamp(message.header.stamp, int(self._node.get_clock().now().nanoseconds))
        execution = self._controller.execution
        reference, elapsed = execution.reference, round(execution.elapsed * NANO)
        fresh = self._controller.known.position() is not None
        seen = self._controller.known.newest if fresh else None
        if reference is not None:
            message.desired = trajectory_point(reference.y, reference.yd, reference.ydd)
        if reference is not None and seen is not None:
            message.actual = trajectory_point(seen.y, seen.yd)
            message.error = trajectory_point(reference.y - seen.y, reference.yd - seen.yd)
        for point in (message.desired, message.actual, message.error):
            set_stamp(point.time_from_start, elapsed)
        return message

    def _destroy(self, server: GuardedActionServer) -> None:
        """Now, or when the last results have been sent: that takes another turn of the executor."""
        if not self._ending:
            server.destroy()
            return

        def later() -> None:
            self._node.destroy_timer(timer)
            server.destroy()

        timer = self._node.create_timer(LAST_WORDS, later, clock=self._node.steady)
