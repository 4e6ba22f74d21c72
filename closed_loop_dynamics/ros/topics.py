"""Who speaks on a topic: quality of service that fits, publishers that cannot be heard, rivals.

ROS 2 connects a publisher and a subscription only if the publisher offers what the subscription
asks for. One that does not is silent for ever, without an error.
"""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSCompatibility, QoSProfile, ReliabilityPolicy, qos_check_compatible


def encoder_quality(*, lossless: bool = False, depth: int = 1) -> QoSProfile:
    """For ``actuator_states``; ``lossless``: every message counts, as in lockstep, so publishers
    must be reliable."""
    return QoSProfile(depth=10) if lossless else newest_of_all(depth)


def newest_of_all(depth: int) -> QoSProfile:
    """Best effort: that hears reliable publishers and those with the quality of sensors alike."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)


def unheard_publishers(node: Node, subscription: Any) -> str:
    """Publishers on the topic of ``subscription`` that it cannot hear, and why; empty: none."""
    texts = []
    for info in node.get_publishers_info_by_topic(subscription.topic_name):
        fits, reason = qos_check_compatible(info.qos_profile, subscription.qos_profile)
        if fits == QoSCompatibility.ERROR:
            texts.append(
                f"{_name(info)} on {subscription.topic_name} cannot be heard: it offers another "
                f"quality of service ({reason.strip().rstrip(';')})"
            )
    return "; ".join(texts)


def other_publishers(node: Node, topic: str) -> list[str]:
    """Full names of the nodes that publish ``topic`` besides ``node``.

    A second publisher of the same name, such as one that was killed a moment ago, is another one.
    """
    if node.count_publishers(topic) < 2:  # quick to find out
        return []
    names = [_name(info) for info in node.get_publishers_info_by_topic(topic)]
    own = node.get_fully_qualified_name()
    if own in names:
        names.remove(own)
    return sorted(names)


def missing_clock(node: Node) -> str:
    """That a node goes by simulated time, which nobody gives; empty: all is well."""
    topic = node.resolve_topic_name("/clock")
    if not node.get_parameter("use_sim_time").value or node.count_publishers(topic):
        return ""
    return (
        f"use_sim_time is set and nobody publishes {topic}: time stands still until somebody does "
        "(a simulator with publish_clock, ros2 bag play --clock), or set use_sim_time to false"
    )


def _name(info: Any) -> str:
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"
