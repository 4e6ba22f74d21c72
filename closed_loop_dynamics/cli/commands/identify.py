"""``closed-loop identify``: dynamic parameters from a log."""

from __future__ import annotations

import argparse
import sys

from ...identification import CUTOFF, identify
from ...identification.files import csv_text, json_text
from ..arguments import positive
from ..bags import add_input_arguments, read_recording
from ..log_file import LOG_NOTE, log_of
from ..mistakes import UsageError
from ..output import check_output, put
from ..progress import Progress
from ..robot_argument import add_robot_arguments, load_robot

DESCRIPTION = f"""\
Identify inertias, friction and rotor inertias from a log of a moving robot. Printed are the base
parameters (combinations that forces depend on) that the log determines, with 95 % confidence
intervals, and what the parameters leave of the measured forces, before and after. The parameters
that are written belong to possible bodies; where the log says nothing they are near to the model.

{LOG_NOTE}"""
EPILOG = """\
examples:
  closed-loop identify crank_leg -i log.csv
  closed-loop identify crank_leg -i log.csv -o identified.json
  closed-loop identify robot.urdf loops.yaml -i bag_folder --topic /actuator_states -o found.csv

The file is read back by `closed_loop_dynamics.identification.read_parameters(robot, file)`, for
`parameters=` of the Python API. `closed-loop excite` designs a motion. See docs/identification.md.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    add_input_arguments(parser.add_argument_group("input"), required=True)
    parser.add_argument(
        "--cutoff",
        type=positive,
        default=CUTOFF,
        metavar="HZ",
        help="of the filter for positions: several times the highest frequency of the motion "
        "(default: %(default)g)",
    )
    parser.add_argument(
        "--friction",
        nargs="+",
        metavar="JOINT",
        help="joints whose friction and rotor inertia are identified (default: the actuators)",
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", metavar="FILE", help="all parameters: a .csv file, or .json with the rest"
    )


def run(options: argparse.Namespace) -> int:
    """Read, identify, tell, write."""
    options.format = None
    if options.output is not None:
        if not options.output.lower().endswith((".csv", ".json")):
            raise UsageError(f"--output {options.output}: name it .csv or .json")
        check_output(options)
    robot = load_robot(options, "regressor")
    log = log_of(robot, read_recording(options.input, options.topic).table, options.cutoff)
    with Progress("identifying", len(log.times)) as bar:
        found = identify(robot, log, friction=options.friction, progress=bar.at)
    print("\n".join(found.lines()))
    for text in found.warnings:
        print(f"warning: {text}", file=sys.stderr)
    if options.output is not None:
        as_text = json_text if options.output.lower().endswith(".json") else csv_text
        put(options.output, as_text(found))
        print(f"wrote {options.output}")
    return 0
