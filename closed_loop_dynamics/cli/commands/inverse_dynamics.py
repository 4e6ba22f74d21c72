"""``closed-loop inverse-dynamics``: actuator forces of a motion."""

from __future__ import annotations

import argparse

from ...arrays import Array
from ...robot import Robot
from ..states import VECTOR_NOTE, add_state_arguments, answer, coordinates
from ..tables import ACCELERATION, EFFORT, POSITION, VELOCITY, Table, joined

KINDS = (POSITION, VELOCITY, ACCELERATION)
DESCRIPTION = f"""\
Forces of the actuators for a motion of the independent joints (cluster RNEA).

{VECTOR_NOTE}"""
EPILOG = """\
examples:
  closed-loop inverse-dynamics crank_leg --y knee=0.8              # holding still
  closed-loop inverse-dynamics crank_leg --y -0.4 0.8 -0.4 --yd 0.5 -1 0.5 --ydd 1 -2 1
  closed-loop inverse-dynamics crank_leg --y knee=0.8 --independent
  closed-loop inverse-dynamics robot.urdf loops.yaml -i motion.csv -o forces.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_state_arguments(parser, KINDS)
    parser.add_argument(
        "--independent",
        action="store_true",
        help="forces of the independent joints (also for underactuated robots)",
    )


def run(options: argparse.Namespace) -> int:
    """Read, compute, write."""

    def forces(robot: Robot, y: Array, yd: Array, ydd: Array) -> Table:
        if options.independent:
            names = coordinates(robot, robot.names.independent, EFFORT)
            return joined([(EFFORT, names, robot.generalized_forces(y, yd, ydd))])
        return joined([(EFFORT, robot.names.actuator, robot.inverse_dynamics(y, yd, ydd))])

    return answer(options, KINDS, forces)
