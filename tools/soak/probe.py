"""``python -m tools.soak.probe``: what a stranger hears of a node, in his environment's domain.

A campaign that waits in vain does not know who is deaf, the node or itself: another process asks.
"""

from __future__ import annotations

import time

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

NODE = "feedforward"
SECONDS = 6.0


def main() -> None:
    """Print the newest diagnostics of the node, and who is connected to its measurements."""
    rclpy.init()
    node = rclpy.create_node("soak_probe")
    told: dict[str, str] = {}
    node.create_subscription(DiagnosticArray, "/diagnostics", lambda a: _keep(a, told), 10)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)
    print(told.get(NODE, f"nothing of {NODE}"), *_ends(node, "/soak/actuator_states"), sep="; ")
    rclpy.shutdown()


def _keep(array: DiagnosticArray, told: dict[str, str]) -> None:
    for status in array.status:
        values = ", ".join(f"{pair.key}: {pair.value}" for pair in status.values)
        told[status.name] = f"{status.message} ({values})"


def _ends(node: Node, topic: str) -> list[str]:
    found = {
        "publisher": node.get_publishers_info_by_topic(topic),
        "subscriber": node.get_subscriptions_info_by_topic(topic),
    }
    return [f"{kind} of {topic}: {info.node_name}" for kind, of in found.items() for info in of]


if __name__ == "__main__":
    main()
