"""Where the robot comes from: a parameter, a file, or the latched topic ``robot_description``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from ..errors import ClosedLoopError
from ..robot import Robot, load
from .parameters import NodeParameters, ParameterError

TOPIC = "robot_description"


class NoRobot(ClosedLoopError):
    """Nobody has said which robot this is."""


class RobotSource:
    """Finds the URDF and the submechanism file and loads the robot.

    Args:
        changed: called when the topic says something new.
    """

    def __init__(self, node: Node, parameters: NodeParameters, changed: Callable[[], None]) -> None:
        self._parameters = parameters
        self._changed = changed
        self._latched = ""
        qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        node.create_subscription(String, TOPIC, self._on_description, qos)

    def _on_description(self, message: String) -> None:
        if message.data != self._latched:
            self._latched = message.data
            self._changed()

    @property
    def ready(self) -> bool:
        """A description is at hand."""
        p = self._parameters
        return bool(p["robot_description"] or p["urdf_file"] or self._latched)

    def load(self) -> Robot:
        """Read and compile.

        Raises:
            NoRobot: no parameter is set and nothing has arrived on the topic.
            ParameterError: two sources for the same thing, or a file that does not exist.
            ModelError: the description is faulty.
        """
        floating_base = self._parameters.get("floating_base", False)  # not every node has it
        folders = self._parameters["search_path"]
        robot = load(
            self._urdf(), self._submechanisms(), floating_base=floating_base, search_path=folders
        )
        mech = robot.mechanism
        for b in mech.turning[mech.floating :]:
            raise ParameterError(
                f"joint '{mech.joint_name(b)}' is {mech.joint(b).kind}: messages have one number "
                "per joint; write it as revolute and prismatic joints"
            )
        return robot

    def _urdf(self) -> str | Path:
        text, file = self._parameters["robot_description"], self._parameters["urdf_file"]
        if text and file:
            raise ParameterError("give robot_description or urdf_file, not both")
        if file:
            return _existing(file, "urdf_file")
        if text or self._latched:
            return str(text or self._latched)
        raise NoRobot(
            "no robot: set the parameter robot_description or urdf_file, or publish the topic "
            f"{TOPIC} (transient local)"
        )

    def _submechanisms(self) -> str | Path | None:
        text, file = self._parameters["submechanisms"], self._parameters["submechanism_file"]
        if text and file:
            raise ParameterError("give submechanisms or submechanism_file, not both")
        return _existing(file, "submechanism_file") if file else (text or None)


def _existing(path: str, parameter: str) -> Path:
    file = Path(path).expanduser()
    if not file.is_file():
        raise ParameterError(f"parameter '{parameter}': there is no file '{path}'")
    return file
