"""The supervisor on topics: services to ask, an emergency stop to hear, a state to tell."""

from __future__ import annotations

from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from ..motion.supervisor import Request, Supervisor, Transition
from .health import ERROR, WARN
from .robot_node import RobotNode
from .topics import other_publishers

CHANNEL = "supervisor"
#: Why efforts of ours would not reach the robot.
FOLLOWED = "who follows the trajectory holds the robot (trajectory_follower), not this node"
SERVICES = {
    "~/hold": Request.HOLD,
    "~/stop": Request.STOP,
    "~/damp": Request.DAMP,
    "~/resume": Request.RESUME,
    "~/gravity_compensation": Request.COMPENSATE,
}


class Supervision:
    """Listens and speaks for a :class:`Supervisor`.

    Args:
        effort_topic: that nobody else may publish.
        followed: somebody else follows what was accepted, and holds the robot.
    """

    def __init__(
        self, node: RobotNode, supervisor: Supervisor, effort_topic: str, followed: bool
    ) -> None:
        self._node = node
        self._followed = followed
        self._supervisor = supervisor
        self._effort_topic = effort_topic
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._out = node.add_publisher(String, "~/state", latched)
        for name, request in SERVICES.items():
            self._add_service(name, request)
        # Whatever a button offers: all of it, as much as it can, what it has latched before.
        for quality in (
            QoSProfile(depth=10),
            QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT),
            QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL),
        ):
            node.add_subscription(
                Bool, "~/emergency_stop", CHANNEL, self._on_emergency, quality, always=True
            )

    def _add_service(self, name: str, request: Request) -> None:
        def answer(_: Any, response: Any) -> Any:
            refusal = self._refusal(request) or self._supervisor.ask(request)
            response.success, response.message = not refusal, refusal or f"will {request.value}"
            return response

        self._node.add_service(Trigger, name, answer)

    def _refusal(self, request: Request) -> str:
        if not self._node.active:
            return "the node is not active"
        if request is Request.COMPENSATE and self._followed:
            return FOLLOWED
        return self._look_for_rivals() if request is Request.RESUME else ""

    def _look_for_rivals(self) -> str:
        """Who else publishes efforts; empty: nobody."""
        rivals = other_publishers(self._node, self._effort_topic)
        return f"{', '.join(rivals)} publishes {self._effort_topic}, too" if rivals else ""

    def _on_emergency(self, message: Bool) -> None:
        self._supervisor.press(bool(message.data))

    def say(self) -> None:
        """State and reason, on the topic."""
        self._out.publish(String(data=f"{self._supervisor.state.value}: {self._supervisor.reason}"))

    def tell(self, transition: Transition) -> None:
        """In log, diagnostics and on the topic."""
        before, after = transition.before.value, transition.after.value
        text = f"{before} -> {after}: {transition.reason}"
        self.say()
        if transition.fault:
            self._node.diagnostics.fault(CHANNEL, text, ERROR, at_once=True)
        else:
            self._node.get_logger().info(text)
            self._node.diagnostics.clear(CHANNEL)

    def measure(self) -> None:
        """State and reason as numbers of the diagnostics; rivals of the efforts."""
        supervisor, values = self._supervisor, self._node.health.values
        values["state"], values["reason"] = supervisor.state.value, supervisor.reason
        if supervisor.closed:
            level = ERROR if supervisor.fault else WARN
            self._node.diagnostics.fault(CHANNEL, supervisor.closed, level, every=60.0)
        rivals = self._look_for_rivals()
        self._node.diagnostics.tell("rival", rivals and f"{rivals}: stopped", every=10.0)
        if rivals and supervisor.in_charge:
            supervisor.ask(Request.STOP, why=rivals)
