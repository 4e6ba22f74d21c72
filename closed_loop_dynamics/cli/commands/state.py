"""``closed-loop state``: complete independent positions to the spanning tree."""

from __future__ import annotations

import argparse

import numpy as np

from ...arrays import Array
from ...robot import Robot
from ..states import VECTOR_NOTE, add_state_arguments, answer, coordinates
from ..tables import ACCELERATION, POSITION, VELOCITY, Table, joined, with_column

KINDS = (POSITION, VELOCITY, ACCELERATION)
DESCRIPTION = f"""\
Close the loops: positions, velocities and accelerations of all joints of the spanning tree from
those of the independent joints.

{VECTOR_NOTE}"""
EPILOG = """\
examples:
  closed-loop state crank_leg --y knee=0.8
  closed-loop state crank_leg --y hip=-0.4 knee=0.8 --yd knee=1 --actuators
  closed-loop state robot.urdf loops.yaml -i states.csv -o joints.csv
  printf 'hip,knee,ankle\\n0,0.5,0\\n' | closed-loop state crank_leg -i - --format json

Besides the joints: residual is the largest gap of a loop [m, rad]; singularity the smallest
singular value of the loops' equations, 0 at a dead point.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_state_arguments(parser, KINDS)
    parser.add_argument("--actuators", action="store_true", help="the driven joints only")


def run(options: argparse.Namespace) -> int:
    """Read, complete, write."""

    def complete(robot: Robot, y: Array, yd: Array, ydd: Array) -> Table:
        state = robot.state(y, yd, ydd)
        if options.actuators:
            joints, numbers = robot.names.actuator, (state.u, state.ud, state.udd)
        else:
            joints, numbers = robot.names.spanning, (state.q, state.qd, state.qdd)
        table = joined(
            (kind, coordinates(robot, joints, kind), values)
            for kind, values in zip(KINDS, numbers, strict=True)
        )
        table = with_column(table, "residual", np.asarray(state.residual))
        singularity = np.broadcast_to(state.singularity, (len(table.values),))
        return with_column(table, "singularity", singularity)

    return answer(options, KINDS, complete)
