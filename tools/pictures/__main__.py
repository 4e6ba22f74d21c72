"""Command line of the pictures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from closed_loop_dynamics.errors import ClosedLoopError
from closed_loop_dynamics.robot import load

from . import VIEW, draw


def main(arguments: list[str] | None = None) -> int:
    """Draw one robot."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.pictures", description="Draw a robot as PNG."
    )
    parser.add_argument("urdf", type=Path)
    parser.add_argument("submechanisms", type=Path, nargs="?", help="submechanism file (YAML)")
    parser.add_argument("--out", type=Path, default=Path("robot.png"))
    parser.add_argument("--y", type=float, nargs="+", help="independent positions, in their order")
    parser.add_argument(
        "--view", type=float, nargs=2, default=VIEW, metavar=("AZIMUTH", "ELEVATION"), help="[deg]"
    )
    parser.add_argument("--size", type=int, default=640, help="longer side [pixels]")
    options = parser.parse_args(arguments)
    try:
        robot = load(options.urdf, options.submechanisms)
        view = (options.view[0], options.view[1])
        skipped = draw(robot, options.out, options.y, view=view, size=options.size)
    except (ClosedLoopError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    for text in skipped:
        print(f"not drawn: {text}", file=sys.stderr)
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
