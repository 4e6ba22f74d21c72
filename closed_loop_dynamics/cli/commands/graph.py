"""``closed-loop graph``: the cluster tree as SVG."""

from __future__ import annotations

import argparse
import sys

from ..arguments import STANDARD
from ..cluster_drawing import cluster_svg
from ..mistakes import UsageError
from ..output import check_place, put
from ..robot_argument import add_robot_arguments, load_robot

DESCRIPTION = """\
Draw the cluster tree: which joints are solved together, on which cluster each stands, which joints
are commanded and driven, how each loop is solved. Opens in any browser.
"""
EPILOG = """\
examples:
  closed-loop graph crank_leg -o crank_leg.svg
  closed-loop graph robot.urdf loops.yaml > robot.svg
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument(
        "-o", "--output", default=STANDARD, metavar="SVG", help="default: standard output"
    )


def run(options: argparse.Namespace) -> int:
    """Draw and write."""
    if options.output != STANDARD:
        if not options.output.endswith(".svg"):
            raise UsageError(f"--output {options.output}: name it .svg")
        check_place(options.output, options)
    text = cluster_svg(load_robot(options))
    if options.output == STANDARD:
        sys.stdout.write(text)
    else:
        put(options.output, text)
        print(f"wrote {options.output}")
    return 0
