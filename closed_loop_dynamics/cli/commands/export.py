"""``closed-loop export``: a robot's functions as plain C."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...c_export import DEFAULT, Export
from ..mistakes import UsageError
from ..robot_argument import add_robot_arguments, load_robot
from ..terminal import columns

DESCRIPTION = """\
Write functions of a robot as C99 that needs nothing but <math.h>: a header, a source, a C++17
wrapper, a sample program, CMakeLists.txt and package.xml. For controllers without Python.
"""
EPILOG = """\
examples:
  closed-loop export rh5_leg -o rh5_leg_c/
  closed-loop export rh5_leg --functions state inverse_dynamics effort_map -o rh5_leg_c/
  closed-loop export crank_leg --float --functions encoders effort_map -o crank_leg_c/

Functions are the programs of the package (state, inverse_dynamics, forward_dynamics, mass_matrix,
gravity, ...); effort_map stands for actuator_forces and independent_forces, encoders for locate
(at start-up) and encoders (in every cycle). How they are called: docs/hardware.md.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument(
        "--functions",
        nargs="+",
        default=list(DEFAULT),
        metavar="FUNCTION",
        help=f"what to write (default: {' '.join(DEFAULT)})",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="where to write it")
    parser.add_argument("--name", help="prefix of all names in C (default: the robot's name)")
    parser.add_argument("--float", action="store_true", help="single precision")


def run(options: argparse.Namespace) -> int:
    """Export, and say what it costs."""
    if Path(options.output).expanduser().is_file():
        raise UsageError(f"--output {options.output} is a file; name a folder")
    robot = load_robot(options)
    written = robot.export_c(
        options.output, options.functions, name=options.name, single=options.float
    )
    for line in summary(written):
        print(line)
    return 0


def summary(written: Export) -> list[str]:
    """Worst case of every function, and the bytes."""
    rows = [["function", "operations at most", "Newton iterations at most"]]
    rows += [[n, str(cost.operations), str(cost.iterations)] for n, cost in written.costs.items()]
    return [
        f"wrote {written.folder}: {written.name}.h, .c, .hpp, main.c, CMakeLists.txt, package.xml",
        *columns(rows),
        f"tables of starts: {written.table_bytes} bytes; memory of a thread: "
        f"{written.memory_bytes} bytes; source: {written.source_bytes} bytes",
    ]
