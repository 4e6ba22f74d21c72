"""Commands on topics: efforts and positions of the actuators, and the whole tree more rarely."""

from __future__ import annotations

from typing import NamedTuple

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ..arrays import Array
from ..motion.clock_steps import NANO
from ..motion.controller import Command
from ..motion.efforts import EffortRate
from ..motion.voice import Voice
from .robot_node import RobotNode
from .serialized import EffortBuffer, JointStateBuffer


class Letter(NamedTuple):
    """A command and its time [ns]."""

    time: int
    command: Command


class CommandTopics:
    """Publishes commands; belongs to one thread at a time.

    Args:
        lockstep: the efforts answer the state of their time.
        tree_rate: messages of ``joint_states`` per second at most [Hz]; 0: none. In lockstep there
            is one for each command.
        rate: of what is really said.
    """

    def __init__(
        self, node: RobotNode, rate: EffortRate, *, lockstep: bool, tree_rate: float
    ) -> None:
        names = node.robot.names
        self._voice = Voice(rate, self._speak)
        self._lockstep = lockstep
        self._efforts = EffortBuffer(node.robot.p)
        self._command = JointStateBuffer(names.actuator)
        self._tree = JointStateBuffer(names.spanning, effort=False)
        self._command_out = node.add_publisher(JointState, "~/actuator_command")
        self._effort_out = node.add_publisher(Float64MultiArray, "~/effort_command")
        self._tree_out = node.add_publisher(JointState, "joint_states") if tree_rate else None
        self._tree_period = 0.0 if lockstep or not tree_rate else NANO / tree_rate
        self._tree_due = 0.0

    @property
    def effort_topic(self) -> str:
        """The resolved name."""
        return self._effort_out.topic_name

    def restart(self) -> None:
        """Whatever comes first may come."""
        self._voice.restart()

    def publish(self, letter: Letter) -> None:
        """What moves the robot goes first. In lockstep it is what everybody waits for: last."""
        now, command = letter
        state = command.state
        ud, qd = state.ud, state.qd
        assert ud is not None and qd is not None
        if not self._lockstep:
            self._voice.follow(command)
        self._command_out.publish(self._command.fill(now, state.u, ud, command.efforts))
        if self._tree_out is not None and self._is_due(now):
            self._tree_out.publish(self._tree.fill(now, state.q, qd))
        if self._lockstep:
            self._effort_out.publish(self._efforts.fill(command.efforts, now))

    def publish_efforts(self, efforts: Array) -> None:
        """The efforts alone, (p,)."""
        self._voice.say(efforts)

    @property
    def has_let_go(self) -> bool:
        """Zero has been said, often enough."""
        return self._voice.has_let_go

    def let_go(self) -> None:
        """Nobody knows what to command: towards zero."""
        self._voice.let_go()

    def _speak(self, efforts: Array) -> None:
        self._effort_out.publish(self._efforts.fill(efforts))

    def _is_due(self, now: int) -> bool:
        """On a raster; after a jump of time, or a pause, at once."""
        early = self._tree_due - now
        if 0.0 < early <= self._tree_period:
            return False
        behind = not -self._tree_period < early <= 0.0
        self._tree_due = (now if behind else self._tree_due) + self._tree_period
        return True
