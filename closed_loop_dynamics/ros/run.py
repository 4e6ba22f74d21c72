"""A node's process: spin until it is asked to end, then close down in order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from .ending import Ending


def run(kind: Callable[[], Node], arguments: list[str] | None = None) -> int:
    """Spin a node until it is asked to end."""
    ending = Ending(getattr(kind, "__name__", "node"))
    node: Node | None = None
    try:
        rclpy.init(args=arguments)
        executor = SingleThreadedExecutor()
        node = kind()
        executor.add_node(node)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except Exception:
        # The signal handler shuts the context down at once; a callback that was publishing just
        # then fails on it. That is an orderly end too; anything else is not.
        if not ending.asked:
            raise
    finally:
        with ending:
            with contextlib.suppress(Exception):
                if node is not None:
                    node.destroy_node()
            rclpy.try_shutdown()
    return 0
