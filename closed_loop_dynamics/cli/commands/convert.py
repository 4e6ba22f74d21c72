"""``closed-loop convert``: a robot in another file format."""

from __future__ import annotations

import argparse

from ...writers import FORMATS, compose
from ..output import check_place, put
from ..robot_argument import add_robot_arguments, load_robot
from ..terminal import folded

DESCRIPTION = """\
Write a robot in another file format, whatever format it comes in, loops closed as the robot is
computed here. What the format says in other words or not at all is printed; what the dynamics need
and the format has no words for is refused.
"""
_KNOWN = "\n".join(
    f"  {name:6} {', '.join(known.suffixes) or f'--to {name}':11}  {known.what}"
    for name, known in FORMATS.items()
)
EPILOG = f"""\
examples:
  closed-loop convert crank_leg -o crank_leg.xml            # MJCF: load it in MuJoCo
  closed-loop convert gripper.xml -o gripper.urdf           # and gripper.yaml, the loops
  closed-loop convert robot.urdf robot.yaml -o plus.urdf --to urdf+

formats, by the suffix of --output or --to:
{_KNOWN}

What each format can say: docs/formats.md.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to write it")
    parser.add_argument("--to", choices=FORMATS, help="format (default: by the suffix)")


def run(options: argparse.Namespace) -> int:
    """Load, write, and say what the format does not."""
    written = compose(load_robot(options).mechanism, options.output, options.to)
    for file in written.files:
        check_place(file, options)
    for note in written.notes:
        print(folded(f"note: {note}"))
    for file, text in written.texts.items():
        put(file, text)
    print(f"wrote {' and '.join(map(str, written.files))}")
    return 0
