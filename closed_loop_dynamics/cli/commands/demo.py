"""``closed-loop demo``: what ``make demo`` runs."""

from __future__ import annotations

import argparse
import importlib.util
import time
from pathlib import Path

from ...robot import load
from ...shipped import shipped_robot
from ..demo.offline import record
from ..demo.recording import UpAndDown
from ..demo.report import draw, table
from ..mistakes import FileProblem
from ..pictures import FORMATS, save_figure
from ..progress import Compilations

DESCRIPTION = """\
A leg with three closed loops moves its foot up and down: simulator and feedforward run as ROS 2
nodes on this machine; prints a table and draws a picture. Without rclpy it moves by the library
alone.
"""
EPILOG = """\
examples:
  closed-loop demo
  closed-loop demo --offline --output leg.png
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
        "--offline", action="store_true", help="no ROS: the same motion, by the library alone"
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
    """Move the leg the way that was asked for, or that can be gone; print the table, draw."""
    offline = options.offline
    if not offline and importlib.util.find_spec("rclpy") is None:
        print("rclpy is not installed (extra `ros`): this is the demo without ROS\n")
        offline = True
    leg = shipped_robot("rh5_leg")
    with Compilations(leg.name):
        began = time.perf_counter()
        robot = load(leg.urdf, leg.submechanisms)
        motion = UpAndDown.of(leg.sample, robot)
        print(f"{leg.name} loaded in {time.perf_counter() - began:.1f} s; it moves ...")
        if offline:
            recording = record(robot, motion)
        else:
            from ..demo import system  # ROS: it may not be here

            recording = system.record(leg, robot, motion, real_time=options.real_time)
        print(table(robot, recording))
        try:
            figure = draw(robot, recording)
        except FileProblem:
            print("\nno picture: pip install matplotlib")
        else:
            print()
            save_figure(figure, str(options.output))
    return 0
