"""``closed-loop demo``: what ``make demo`` runs."""

from __future__ import annotations

import argparse
from pathlib import Path

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``demo``: those of ``closed-loop-demo``."""
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("out/demo.png"),
        metavar="PNG",
        help="where the picture goes (default: %(default)s)",
    )
    parser.add_argument("--offline", action="store_true", help="no ROS: a squat of a smaller leg")
    parser.add_argument(
        "--real-time",
        action="store_true",
        help="the simulator does not wait for commands, and feedback is added",
    )


def run(options: argparse.Namespace) -> int:
    """Hand over to the demo."""
    from ...demo import main

    words = ["--output", str(options.output)]
    words += ["--offline"] * options.offline + ["--real-time"] * options.real_time
    main(words)
    return 0
