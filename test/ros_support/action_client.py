"""A client of ``follow_joint_trajectory``, as MoveIt is one: in another process than the node."""

from __future__ import annotations

from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient

from .graph import Graph

ACCEPTED, EXECUTING = GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING
SUCCEEDED, CANCELED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED
ABORTED = GoalStatus.STATUS_ABORTED


class Sent:
    """A goal on its way.

    Attributes:
        feedback: what has come so far.
    """

    def __init__(self, graph: Graph, client: Any, goal: Any) -> None:
        self._graph = graph
        self.feedback: list[Any] = []
        self._sending = graph.within(
            lambda: client.send_goal_async(goal, feedback_callback=self._hear)
        )
        self._handle: Any = None
        self._getting: Any = None

    def _hear(self, message: Any) -> None:
        self.feedback.append(message.feedback)

    @property
    def accepted(self) -> bool:
        """The server has taken it in; waits for that."""
        if self._handle is None:
            self._graph.wait(self._sending.done, "an answer to the goal")
            self._handle = self._sending.result()
        return bool(self._handle.accepted)

    def cancel(self) -> int:
        """How many goals the server is going to cancel."""
        assert self.accepted
        future = self._graph.within(self._handle.cancel_goal_async)
        self._graph.wait(future.done, "an answer to the cancel request")
        return len(future.result().goals_canceling)

    def ask(self) -> None:
        """Ask for the result; it comes when it comes."""
        assert self.accepted
        if self._getting is None:
            self._getting = self._graph.within(self._handle.get_result_async)

    def result(self) -> tuple[int, int, str]:
        """Status, code and text of the end; waits for that."""
        self.ask()
        self._graph.wait(self._getting.done, "a result")
        answer = self._getting.result()
        return answer.status, answer.result.error_code, answer.result.error_string


class TrajectoryClient:
    """Sends goals to the feedforward node of a graph."""

    def __init__(self, graph: Graph) -> None:
        from control_msgs.action import FollowJointTrajectory

        self._graph = graph
        self._kind = FollowJointTrajectory
        name = "/feedforward/follow_joint_trajectory"
        self._client = ActionClient(graph.node, FollowJointTrajectory, name)

    def send(self, trajectory: Any, **tolerances: Any) -> Sent:
        """Send a goal."""
        self._graph.wait(self._client.server_is_ready, "the action server")
        goal = self._kind.Goal(trajectory=trajectory, **tolerances)
        return Sent(self._graph, self._client, goal)
