"""The node ``trajectory_publisher``: sends a sample motion, from rest to rest, there and back.

Publishes ``joint_trajectory`` (remap it to ``feedforward/joint_trajectory``) as soon as somebody
listens, and again every ``2 * duration`` while ``repeat`` is set.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from ..arrays import Array
from ..motion.trajectory import Points, cycloidal
from .conversions import points_message
from .parameters import DOUBLES, STRINGS, NodeParameters, ParameterError, Spec
from .run import run
from .topics import missing_clock

PARAMETERS = (
    Spec("joints", STRINGS, "independent joints"),
    Spec("start", DOUBLES, "position before and after the motion [rad or m]"),
    Spec("goal", DOUBLES, "position half-way [rad or m]"),
    Spec("duration", 2.0, "time for one way [s]", 0.01, 3600.0),
    Spec("points", 20, "points for one way", 1, 10000),
    Spec("repeat", False, "send it again and again"),
)


def there_and_back(start: Array, goal: Array, duration: float, count: int) -> Points:
    """A cycloidal motion to ``goal`` and back to ``start``."""
    there = cycloidal(start, goal, duration, count + 1)
    back = cycloidal(goal, start, duration, count + 1)
    return Points(
        np.concatenate([there.times, back.times + duration]),
        np.vstack([there.positions, back.positions]),
        np.vstack([there.velocities, back.velocities]),
        np.vstack([there.accelerations, back.accelerations]),
    )


class TrajectoryPublisher(Node):
    """See the module."""

    def __init__(self) -> None:
        super().__init__("trajectory_publisher")
        p = NodeParameters(self, PARAMETERS)
        p.check()
        self._message = self._build(p)
        self._repeat = p["repeat"]
        self.sent = False
        self._publisher = self.create_publisher(JointTrajectory, "joint_trajectory", 10)
        # Nobody may be there to give simulated time; this has to be said all the same.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._wait = self.create_timer(0.1, self._look, clock=steady)
        self._round = self.create_timer(2.0 * p["duration"], self._send)
        self._round.cancel()

    @staticmethod
    def _build(p: NodeParameters) -> JointTrajectory:
        joints, start, goal = p["joints"], p["start"], p["goal"]
        if not joints or len(start) != len(joints) or len(goal) != len(joints):
            raise ParameterError(
                f"{len(joints)} joints, {len(start)} numbers of start, {len(goal)} of goal: "
                "the same number, at least one, is needed"
            )
        points = there_and_back(np.array(start), np.array(goal), p["duration"], p["points"])
        return points_message(joints, points)

    def _look(self) -> None:
        timeless = missing_clock(self)
        if timeless:
            self.get_logger().warning(timeless, throttle_duration_sec=10.0)
        elif self._publisher.get_subscription_count():
            self._wait.cancel()
            self._send()
            if self._repeat:
                self._round.reset()

    def _send(self) -> None:
        self._publisher.publish(self._message)
        self.get_logger().info(f"sent {len(self._message.points)} points")
        self.sent = True


main = partial(run, TrajectoryPublisher)
