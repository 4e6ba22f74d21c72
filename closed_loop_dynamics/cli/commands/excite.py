"""``closed-loop excite``: a motion for identification."""

from __future__ import annotations

import argparse
import sys

from ...identification import excite
from ..arguments import positive, whole
from ..bags import TRAJECTORY, write_result
from ..mistakes import UsageError
from ..output import add_output_arguments, check_output
from ..progress import Progress
from ..robot_argument import add_robot_arguments, load_robot
from ..tables import ACCELERATION, POSITION, TIME, VELOCITY, joined, with_column

DESCRIPTION = """\
Design a motion of the independent joints that shows the parameters of a robot: a Fourier series per
joint that starts and ends at rest and stays within 95 % of the limits of position, speed and force,
of independent joints and of actuators (forces by the model as it is). The excitation score, the
condition number of the normalised regressor, is made small. The motion may be repeated; what a log
of it says, `closed-loop identify` tells.
"""
EPILOG = """\
examples:
  closed-loop excite crank_leg -o motion.csv
  closed-loop excite rh5_leg --period 20 --harmonics 8 --evaluations 10000 -o motion.mcap
  closed-loop excite crank_leg --seed 2 | closed-loop plot - -o motion.png

The same options give the same motion. `closed-loop map` turns it into commands of the actuators.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument(
        "--period", type=positive, default=10.0, metavar="S", help="[s] (default: %(default)g)"
    )
    parser.add_argument(
        "--harmonics",
        type=whole,
        default=5,
        metavar="N",
        help="of 1/period; the fastest is N/period [Hz] (default: %(default)s)",
    )
    parser.add_argument(
        "--rate", type=positive, default=100.0, metavar="HZ", help="of rows (default: %(default)g)"
    )
    parser.add_argument(
        "--evaluations",
        type=whole,
        default=3000,
        metavar="N",
        help="motions that are tried, about (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="(default: %(default)s)")
    add_output_arguments(parser, bags=True)


def run(options: argparse.Namespace) -> int:
    """Search, tell, write."""
    check_output(options, bags=True)
    if options.seed < 0:
        raise UsageError("--seed is negative")
    robot = load_robot(options, "regressor", "state", "inverse_dynamics")
    with Progress("trying motions", options.evaluations) as bar:
        found = excite(
            robot,
            period=options.period,
            harmonics=options.harmonics,
            rate=options.rate,
            evaluations=options.evaluations,
            seed=options.seed,
            progress=bar.at,
        )
    kinds = ((POSITION, found.y), (VELOCITY, found.yd), (ACCELERATION, found.ydd))
    table = joined((kind, robot.names.independent, values) for kind, values in kinds)
    table = with_column(table, TIME, found.times, first=True)
    write_result(options, table, "/joint_trajectory", TRAJECTORY)
    print(
        f"condition number {found.condition:.3g} ({found.parameters} parameters); random motions "
        f"have {found.random_condition:.3g}",
        file=sys.stderr,
    )
    return 0
