"""``closed-loop demo``: what ``make demo`` runs."""

from __future__ import annotations

import argparse

from ..demo import command_line

DESCRIPTION = """\
A leg with three closed loops moves its foot up and down: simulator and feedforward run as ROS 2
nodes on this machine; prints a table and draws a picture. Without rclpy a smaller leg squats, by
the library alone.
"""
EPILOG = """\
examples:
  closed-loop demo
  closed-loop demo --offline --output squat.png
"""

add_arguments = command_line.add_arguments


def run(options: argparse.Namespace) -> int:
    """Hand over to the demo."""
    command_line.run(options)
    return 0
