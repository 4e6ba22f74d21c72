"""What becomes of trajectories, on topics, in the diagnostics and in the log."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial

from rclpy.serialization import serialize_message

from ..errors import ClosedLoopError
from ..motion.goals import Goals
from ..motion.splice import Accepted, Offer
from ..motion.telling import Saying
from ..motion.trajectory_check import ActuatorTable
from .conversions import trajectory_message
from .health import WARN
from .robot_node import RobotNode

#: The channel of the diagnostics.
CHANNEL = "trajectory"


class TrajectoryReports:
    """Listens to an :class:`~closed_loop_dynamics.motion.execution.Execution` for a node.

    Args:
        publish: called with each trajectory in actuator space, a serialized JointTrajectory.
        goals: are told, too.
    """

    def __init__(self, node: RobotNode, publish: Callable[[bytes], None], goals: Goals) -> None:
        self._actuators = node.robot.names.actuator
        self._diagnostics = node.diagnostics
        self._node = node
        self._publish = publish
        self._goals = goals

    def refused(self, offer: Offer | None, error: Exception) -> None:
        """Say why."""
        if offer is not None:
            self._goals.refused(offer, error)
        if not isinstance(error, ClosedLoopError):
            self._node.get_logger().error("".join(traceback.format_exception(error)))
        self._diagnostics.fault(CHANNEL, str(error), at_once=True)

    def dropped(self, offer: Offer, reason: str) -> None:
        """Nothing is wrong."""
        self._goals.dropped(offer, reason)

    def taken(self, offer: Offer) -> None:
        """The channel is well again."""
        self._goals.taken(offer)
        self._diagnostics.clear(CHANNEL)

    def accepted(self, accepted: Accepted) -> Saying:
        """Publish it."""
        publish = self.diverted(accepted.begin, accepted.table)

        def say() -> None:
            publish()
            self._node.get_logger().info(
                f"trajectory accepted: {accepted.points} points, {len(accepted.table.times)} "
                f"samples, ends in {accepted.duration:.3f} s"
            )

        return say

    def overtaken(self) -> None:
        """Say so."""
        self._goals.overtaken()
        self._node.get_logger().info("a stream of references takes over")

    def late(self, lost: float) -> None:
        """The motion ends later."""
        text = f"a cycle came {lost:.3f} s late: the motion is stretched"
        self._diagnostics.fault("overrun", text, WARN)

    def diverted(self, begin: int, table: ActuatorTable) -> Saying:
        """Whoever follows the trajectory of the actuators goes on so, too."""
        motion = table.times, table.u, table.ud, table.udd, table.tau
        message = trajectory_message(self._actuators, begin, *motion)
        return partial(self._publish, serialize_message(message))

    def time_jumped(self, jump: float) -> None:
        """Warn."""
        self._goals.time_jumped()
        self._node.get_logger().warning(
            f"time {'went back' if jump < 0 else 'jumped ahead'} by {abs(jump):.3f} s: the "
            "trajectory is dropped"
        )

    def clock_set(self, step: float) -> None:
        """Warn."""
        self._node.get_logger().warning(
            f"the system's clock was set by {step:+.3f} s: the motion goes on"
        )
