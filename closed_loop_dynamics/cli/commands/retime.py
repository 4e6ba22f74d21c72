"""``closed-loop retime``: the fastest motion along a path."""

from __future__ import annotations

import argparse
import sys

from ...motion.retiming import retimed
from ..arguments import positive
from ..bags import add_input_arguments, read_recording
from ..mistakes import need
from ..output import add_output_arguments, check_output, write
from ..robot_argument import add_robot_arguments, check_fixed, load_robot
from ..states import check_table
from ..tables import ACCELERATION, POSITION, TIME, VELOCITY, joined, with_column

DESCRIPTION = """\
The fastest motion from rest to rest along a path, within the speeds of independent joints and
actuators and the efforts of actuators: time-optimal path parameterisation (extra `retime`).

The file has the positions of the independent joints, one column each; a smooth curve goes through
its rows. A column `time` does not count. Accelerations jump where the motion goes from one limit to
another; position limits are left to the path.
"""
EPILOG = """\
examples:
  closed-loop retime crank_leg -i squat.csv -o fast.csv
  closed-loop retime crank_leg -i squat.csv --rate 500 | closed-loop map crank_leg -i - -o u.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    add_input_arguments(parser.add_argument_group("input"), required=True)
    parser.add_argument(
        "--rate", type=positive, default=100.0, metavar="HZ", help="rows (default: %(default)s)"
    )
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read, retime, write."""
    check_output(options)
    need("toppra", "retiming")
    robot = load_robot(options, "loop_jacobian")
    check_fixed(robot, "retime is")
    table = read_recording(options.input, options.topic).table
    check_table(robot, table)
    names = robot.names.independent
    motion = retimed(robot, table.need(names, POSITION), 1.0 / options.rate)
    kinds = {
        POSITION: motion.positions,
        VELOCITY: motion.velocities,
        ACCELERATION: motion.accelerations,
    }
    result = joined((kind, names, values) for kind, values in kinds.items())
    result = with_column(result, TIME, motion.times, first=True)
    write(result, options.output, options.format, single=False)
    print(f"{motion.times[-1]:.4g} s from rest to rest", file=sys.stderr)
    return 0
