"""``closed-loop demo``: what ``make demo`` runs."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from ..pictures import FORMATS
from ..progress import Compilations

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
    """Where the picture goes, and which demo."""
    parser.add_argument(
        "--output",
        type=_picture,
        default=Path("out/demo.png"),
        metavar="PNG",
        help="where the picture goes (default: %(default)s)",
    )
    parser.add_argument(
        "--offline",
        action="store_true",
        help="no ROS: a squat of a smaller leg, by the library alone",
    )
    parser.add_argument(
        "--real-time",
        action="store_true",
        help="the simulator does not wait for commands, and the feedforward node adds feedback; by "
        "default both go in lockstep, by feedforward alone",
    )


def _picture(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in FORMATS:
        raise argparse.ArgumentTypeError(f"'{text}' is no picture; name it .png (or .svg, .pdf)")
    return path


def run(options: argparse.Namespace) -> int:
    """Run the demo that was asked for, or that can be run."""
    offline = options.offline
    if not offline and importlib.util.find_spec("rclpy") is None:
        print("rclpy is not installed (extra `ros`): this is the demo without ROS\n")
        offline = True
    with Compilations("crank_leg" if offline else "rh5_leg"):
        # Each is imported only when it runs: the other may not be able to.
        if offline:
            from ..demo import offline as chosen

            chosen.run(options.output)
        else:
            from ..demo import system

            system.run(options.output, real_time=options.real_time)
    return 0
