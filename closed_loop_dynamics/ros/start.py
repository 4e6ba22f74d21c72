"""Entry points of the nodes' processes.

Importing a node takes more than a second. A signal in that time must end the process without a
word about half-imported modules, so it is seen to first; nothing heavy may be imported up here.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module

from .ending import leave_on_signals

NODES = ("feedforward", "simulator", "joint_state_completer", "trajectory_publisher")


def start(name: str, arguments: list[str] | None = None) -> int:
    """Run a node in this process until it is asked to end; returns the exit code."""
    leave_on_signals(name)
    module = import_module(f".{name}", __package__)
    try:
        return int(module.main(arguments))
    except Exception as error:
        sentence = _bad_arguments(error)
        if sentence is None:
            raise
        print(f"{name}: {sentence}", file=sys.stderr)
        return 1


def _bad_arguments(error: Exception) -> str | None:
    """What is wrong with the ROS arguments, such as a missing parameter file; None: not these."""
    from rclpy.impl.implementation_singleton import rclpy_implementation as rcl

    if isinstance(error, rcl.UnknownROSArgsError):
        return f"unknown ROS arguments {error}"
    _, found, reason = str(error).partition("failed to initialize rcl: ")
    if not (isinstance(error, rcl.RCLError) and found):
        return None
    return re.sub(r"\s*, at \S+:\d+", "", reason)  # where in the source of rcl


def feedforward() -> int:
    """``ros2 run closed_loop_dynamics feedforward``."""
    return start("feedforward")


def simulator() -> int:
    """``ros2 run closed_loop_dynamics simulator``."""
    return start("simulator")


def joint_state_completer() -> int:
    """``ros2 run closed_loop_dynamics joint_state_completer``."""
    return start("joint_state_completer")


def trajectory_publisher() -> int:
    """``ros2 run closed_loop_dynamics trajectory_publisher``."""
    return start("trajectory_publisher")


def main() -> int:
    """``python -m closed_loop_dynamics.ros <node> --ros-args ...``."""
    if len(sys.argv) < 2 or sys.argv[1] not in NODES:
        print(f"usage: python -m closed_loop_dynamics.ros <{'|'.join(NODES)}>", file=sys.stderr)
        return 2
    return start(sys.argv.pop(1))
