"""Streams of references, from their messages to the motion: ``~/reference``, and single points."""

from __future__ import annotations

import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ..errors import InvalidInput
from ..motion.clock_steps import NANO
from ..motion.stream_target import Reference
from ..motion.streaming import Stream
from ..motion.trajectory import LARGEST, Setpoint, TrajectoryRefused
from .conversions import JointStateReader, nanoseconds, points_from
from .health import WARN
from .robot_node import RobotNode

CHANNEL = "reference"
#: The newest counts; a lost one is replaced by the next.
QUALITY = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


class ReferenceStream:
    """Listens for a :class:`Stream`."""

    def __init__(self, node: RobotNode, stream: Stream) -> None:
        self._diagnostics = node.diagnostics
        self._stream = stream
        self._names, self._clock = node.robot.names.independent, node.get_clock()
        self._reader = JointStateReader(node.robot.names.independent)
        node.add_subscription(JointState, "~/reference", CHANNEL, self._on_reference, QUALITY)

    def _on_reference(self, message: JointState) -> None:
        if self._stream.unusable:
            raise InvalidInput(self._stream.unusable)
        seen = self._reader.read(message)
        for what in (seen.position, seen.velocity):
            if what is not None and not (np.abs(what) <= LARGEST).all():
                raise InvalidInput(f"a number is beyond {LARGEST:g}")
        self._stream.push(Reference(seen.position, seen.velocity))
        self._diagnostics.clear(CHANNEL)

    def takes(self, message: JointTrajectory, running: Setpoint | None) -> bool:
        """Take a trajectory that is a message of a stream, as servoing nodes send them."""
        if len(message.points) != 1:
            return False
        try:
            points = points_from(message, self._names)
        except TrajectoryRefused:
            return False  # it will be, with the reason
        stamp = nanoseconds(message.header.stamp)
        late = (int(self._clock.now().nanoseconds) - stamp) / NANO if stamp else 0.0
        return self._stream.takes(points, points.times[0] - late, running)

    def tell(self) -> None:
        """Say why a stream is not followed, if it is not. In the cycle."""
        self._diagnostics.tell("stream", self._stream.reason, WARN)
