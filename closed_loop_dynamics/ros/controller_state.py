"""``~/controller_state``: reference, feedback, error and output, for people who watch or record.

By the names of joint_trajectory_controller where control_msgs is installed; elsewhere as three
JointState topics. All of it is about the independent joints: the output is what the efforts of the
actuators do there, G_u^T tau_u.
"""

from __future__ import annotations

from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from ..arrays import Array
from ..motion.controller import Command
from .command_topics import Letter
from .conversions import set_stamp, trajectory_point
from .robot_node import RobotNode
from .serialized import JointStateBuffer

try:
    from control_msgs.msg import JointTrajectoryControllerState
except ImportError:  # it is not among the wheels on PyPI
    JointTrajectoryControllerState = None

TOPIC = "~/controller_state"


class ControllerState:
    """Publishes the newest command beside what was measured."""

    def __init__(self, node: RobotNode) -> None:
        self._robot = node.robot
        kind = JointStateTrio if JointTrajectoryControllerState is None else OneMessage
        self._topics: JointStateTrio | OneMessage = kind(node)

    def publish(self, letter: Letter) -> None:
        """Tell what was commanded and measured in a cycle."""
        command = letter.command
        G_u = self._robot.actuator_jacobian(command.setpoint.y)
        self._topics.publish(letter.time, command, G_u.T @ command.efforts)


class OneMessage:
    """control_msgs/JointTrajectoryControllerState."""

    def __init__(self, node: RobotNode) -> None:
        self._out = node.add_publisher(JointTrajectoryControllerState, TOPIC)
        self._message = JointTrajectoryControllerState(
            joint_names=list(node.robot.names.independent)
        )
        if hasattr(self._message, "speed_scaling_factor"):  # not yet in Humble
            self._message.speed_scaling_factor = 1.0

    def publish(self, time: int, command: Command, output: Array) -> None:
        """Without a measurement feedback and error are empty."""
        message, reference, seen = self._message, command.setpoint, command.seen
        set_stamp(message.header.stamp, time)
        message.reference = trajectory_point(reference.y, reference.yd, reference.ydd)
        message.output = JointTrajectoryPoint(effort=output.tolist())
        message.feedback = message.error = JointTrajectoryPoint()
        if seen is not None:
            message.feedback = trajectory_point(seen.y, seen.yd)
            message.error = trajectory_point(reference.y - seen.y, reference.yd - seen.yd)
        self._out.publish(message)


class JointStateTrio:
    """sensor_msgs/JointState, three times; the output is the effort of the reference."""

    def __init__(self, node: RobotNode) -> None:
        names = node.robot.names.independent
        self._reference = JointStateBuffer(names)
        self._feedback, self._error = (JointStateBuffer(names, effort=False) for _ in range(2))
        self._reference_out, self._feedback_out, self._error_out = (
            node.add_publisher(JointState, f"{TOPIC}/{what}")
            for what in ("reference", "feedback", "error")
        )

    def publish(self, time: int, command: Command, output: Array) -> None:
        """Without a measurement there is a reference only."""
        y, yd, seen = command.setpoint.y, command.setpoint.yd, command.seen
        self._reference_out.publish(self._reference.fill(time, y, yd, output))
        if seen is not None:
            self._feedback_out.publish(self._feedback.fill(time, seen.y, seen.yd))
            self._error_out.publish(self._error.fill(time, y - seen.y, yd - seen.yd))
