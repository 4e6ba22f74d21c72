"""Entry points of the nodes' processes.

Importing a node takes more than a second. A signal in that time must end the process without a
word about half-imported modules, so it is seen to first; nothing heavy may be imported up here.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from importlib import import_module

from .ending import end_with_parent, leave_on_signals

NODES = ("feedforward", "simulator", "joint_state_completer", "trajectory_publisher")


def start(name: str, arguments: list[str] | None = None) -> int:
    """Run a node in this process until it is asked to end; returns the exit code."""
    leave_on_signals(name)
    end_with_parent()
    module = import_module(f".{name}", __package__)
    try:
        return int(module.main(arguments))
    except Exception as error:
        sentence = _users_mistake(error)
        if sentence is None:
            raise
        print(f"{name}: {sentence}", file=sys.stderr)
        return 1


def _users_mistake(error: Exception) -> str | None:
    """What is wrong with parameters or ROS arguments, say a missing file; None: not these."""
    from rclpy.impl.implementation_singleton import rclpy_implementation as rcl

    from ..errors import ClosedLoopError

    if isinstance(error, ClosedLoopError):
        return str(error)
    if isinstance(error, rcl.UnknownROSArgsError):
        return f"unknown ROS arguments {error}"
    _, found, reason = str(error).partition("failed to initialize rcl: ")
    if not (isinstance(error, rcl.RCLError) and found):
        return None
    return re.sub(r"\s*, at \S+:\d+", "", reason)  # where in the source of rcl


#: ``ros2 run closed_loop_dynamics <node>``.
feedforward, simulator, joint_state_completer, trajectory_publisher = (
    partial(start, name) for name in NODES
)


def main() -> int:
    """``python -m closed_loop_dynamics.ros <node> --ros-args ...``."""
    if len(sys.argv) < 2 or sys.argv[1] not in NODES:
        print(f"usage: python -m closed_loop_dynamics.ros <{'|'.join(NODES)}>", file=sys.stderr)
        return 2
    return start(sys.argv.pop(1))
