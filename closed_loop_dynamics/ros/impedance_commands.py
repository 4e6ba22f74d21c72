"""``~/impedance_command``: from its messages to the controller, with its diagnostics."""

from __future__ import annotations

from std_msgs.msg import Float64MultiArray

from ..errors import InvalidInput
from ..motion.impedance import Impedance, ImpedanceCommand
from .conversions import impedance_table
from .health import WARN
from .reference import QUALITY
from .robot_node import RobotNode
from .supervision import FOLLOWED

CHANNEL = "impedance_command"


class ImpedanceCommands:
    """Listens for an :class:`Impedance`.

    Args:
        followed: somebody else follows what was accepted: commands would not reach the robot.
    """

    def __init__(self, node: RobotNode, impedance: Impedance, followed: bool) -> None:
        self._followed = followed
        self._diagnostics = node.diagnostics
        self._impedance = impedance
        self._names = node.robot.names.independent
        node.add_subscription(
            Float64MultiArray, "~/impedance_command", CHANNEL, self._on_command, QUALITY
        )

    def _on_command(self, message: Float64MultiArray) -> None:
        if self._followed:
            raise InvalidInput(FOLLOWED)
        table = impedance_table(message, self._names)
        self._impedance.push(ImpedanceCommand.of(table))
        self._diagnostics.clear(CHANNEL)

    def tell(self) -> None:
        """Say why commands are not obeyed, if they are not. In the cycle."""
        self._diagnostics.tell("impedance", self._impedance.reason, WARN)
