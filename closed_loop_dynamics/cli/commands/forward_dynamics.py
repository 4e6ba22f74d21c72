"""``closed-loop forward-dynamics``: accelerations from actuator forces."""

from __future__ import annotations

import argparse

from ...arrays import Array
from ...quantities.reference_methods import METHODS
from ...robot import Robot
from ..states import VECTOR_NOTE, add_state_arguments, answer, coordinates
from ..tables import ACCELERATION, EFFORT, POSITION, VELOCITY, Table, joined

KINDS = (POSITION, VELOCITY, EFFORT)
DESCRIPTION = f"""\
Accelerations of the independent joints under given actuator forces (cluster ABA).

{VECTOR_NOTE}"""
EPILOG = """\
examples:
  closed-loop forward-dynamics crank_leg --y knee=0.8                       # let go
  closed-loop forward-dynamics crank_leg --y knee=0.8 --tau knee_cylinder=-40
  closed-loop forward-dynamics robot.urdf loops.yaml -i efforts.csv --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_state_arguments(parser, KINDS)
    parser.add_argument(
        "--method",
        choices=METHODS,
        default=METHODS[0],
        help="the references are slower and for comparison (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Read, compute, write."""

    def accelerations(robot: Robot, y: Array, yd: Array, tau: Array) -> Table:
        names = coordinates(robot, robot.names.independent, ACCELERATION)
        ydd = robot.forward_dynamics(y, yd, tau, method=options.method)
        return joined([(ACCELERATION, names, ydd)])

    return answer(options, KINDS, accelerations)
