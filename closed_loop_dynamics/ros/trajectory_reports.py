"""What becomes of trajectories, on topics, in the diagnostics and in the log."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from trajectory_msgs.msg import JointTrajectory

from ..errors import ClosedLoopError
from ..motion.splice import Accepted, Offer
from .conversions import trajectory_message
from .robot_node import RobotNode

#: The channel of the diagnostics.
CHANNEL = "trajectory"


class TrajectoryReports:
    """Listens to an :class:`~closed_loop_dynamics.motion.execution.Execution` for a node.

    Args:
        publish: called with each accepted trajectory in actuator space.
    """

    def __init__(self, node: RobotNode, publish: Callable[[JointTrajectory], None]) -> None:
        self._actuators = node.robot.names.actuator
        self._diagnostics = node.diagnostics
        self._log = node.get_logger()
        self._publish = publish

    def refused(self, _: Offer, error: Exception) -> None:
        """Say why."""
        if not isinstance(error, ClosedLoopError):
            self._log.error("".join(traceback.format_exception(error)))
        self._diagnostics.fault(CHANNEL, str(error), at_once=True)

    def taken(self, _: Offer) -> None:
        """The channel is well again."""
        self._diagnostics.clear(CHANNEL)

    def accepted(self, accepted: Accepted) -> None:
        """Publish it."""
        table, begin = accepted.table, accepted.begin
        motion = table.times, table.u, table.ud, table.udd, table.tau
        self._publish(trajectory_message(self._actuators, begin, *motion))
        self._log.info(
            f"trajectory accepted: {accepted.points} points, {len(table.times)} samples, ends in "
            f"{accepted.duration:.3f} s"
        )

    def time_jumped(self, jump: float) -> None:
        """Warn."""
        self._log.warning(
            f"time {'went back' if jump < 0 else 'jumped ahead'} by {abs(jump):.3f} s: the "
            "trajectory is dropped"
        )

    def clock_set(self, step: float) -> None:
        """Warn."""
        self._log.warning(f"the system's clock was set by {step:+.3f} s: the motion goes on")
