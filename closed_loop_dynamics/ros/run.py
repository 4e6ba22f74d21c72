"""A node's process: spin until it is asked to end, then close down in order.

Signals are ours, not rclpy's: it would shut its context down at once, and a node that moves a robot
has something to say yet.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from .ending import Ending


def run(kind: Callable[[], Node], arguments: list[str] | None = None) -> int:
    """Spin a node until it is asked to end."""
    ending = Ending(getattr(kind, "__name__", "node"))
    node: Node | None = None
    try:
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
        executor = SingleThreadedExecutor()
        ending.wake = lambda: executor.create_task(lambda: None)
        node = kind()
        ending.in_charge = lambda: getattr(node, "in_charge", False)
        executor.add_node(node)
        while rclpy.ok() and not ending.asked:
            executor.spin_once()
    except ExternalShutdownException:
        pass
    finally:
        with ending:
            with contextlib.suppress(Exception):
                if node is not None:
                    node.destroy_node()
            rclpy.try_shutdown()
    return 0
