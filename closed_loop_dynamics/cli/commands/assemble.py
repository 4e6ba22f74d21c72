"""``closed-loop assemble``: close the loops from any configuration, write it as the reference."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import numpy as np

from ...inspection.assembling import Ways
from ...inspection.geometry import SubmechanismGeometry
from ...robot import load
from ...writers.reference_text import with_references
from ..arguments import STANDARD, add_vector
from ..mistakes import FileProblem, UsageError
from ..output import check_place, put
from ..robot_argument import add_robot_arguments, find_robot, load_robot
from ..states import parse_vector
from ..terminal import folded

DESCRIPTION = """\
Find the configurations that close the loops, from q = 0 or any other start, also far open: by
descent from many starts, and in closed form where there is one. Prints the gaps of every cut at the
start, and all distinct ways that were found, those within the joint limits first, then the nearest:
with the name of the assembly mode and the distance from the start. The first one is taken.
"""
EPILOG = """\
examples:
  closed-loop assemble four_bar
  closed-loop assemble robot.urdf loops.yaml --from knee=0.8 rod=2 -o closed.yaml

-o writes the submechanism file with what was taken as `reference:`; all else in it, comments too,
stays as it is, so that it may be the same file. Formats without a word for a reference: see
`closed-loop convert`, which writes loops and reference as a URDF and a submechanism file.

exit status: 0 closed within the limits, 1 not (nothing is written), 2 the command line is wrong
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    add_vector(parser, "--from", "where the joints start (default: at 0)", "JOINT=VALUE")
    parser.add_argument("-o", "--output", metavar="YAML", help="the file with the reference")


def run(options: argparse.Namespace) -> int:
    """Assemble one submechanism after the other, show, write."""
    loops = find_robot(options.robot, options.submechanisms).submechanisms
    output = options.output
    own = options.submechanisms  # may be completed; a shipped one may not
    if output not in (None, STANDARD) and not (own and _is_same(output, Path(own).expanduser())):
        check_place(output, options)
    robot = load_robot(options)
    mech = robot.mechanism
    if not mech.loops:
        raise UsageError("this robot has no loops")
    names = [mech.joint_name(b) for c in mech.loops for b in mech.components[c].joints]
    words = vars(options)["from"] or []
    start = dict(
        zip(names, parse_vector(words, names, np.zeros(len(names)), "--from"), strict=True)
    )
    note = sys.stderr if output == STANDARD else sys.stdout
    references: dict[str, dict[str, float]] = {}
    beyond: list[str] = []
    for c in mech.loops:
        component = mech.components[c]
        place = {name: float(start[name]) for name in map(mech.joint_name, component.joints)}
        ways = SubmechanismGeometry(robot.programs, c).assemblies(place)
        print("\n".join(_lines(component.entry.name, ways)), file=note)
        if not ways.found or ways.found[0].outside:
            beyond.append(component.entry.name)
        else:
            references.setdefault(component.entry.place, {}).update(ways.found[0].positions)
    if beyond:
        raise FileProblem(f"no way found to close {', '.join(beyond)} within the joint limits")
    if output is not None:
        text = _text(options, loops, references)
        if output == STANDARD:
            sys.stdout.write(text)
        else:
            put(output, text)
            print(f"wrote {output}")
    return 0


def _is_same(output: str, file: Path) -> bool:
    path = Path(output).expanduser()
    return path.exists() and path.samefile(file)


def _lines(name: str, ways: Ways) -> list[str]:
    text = [folded(f"{name}: gaps at the start: {ways.gaps}")]
    for number, way in enumerate(ways.found, 1):
        limits = f", beyond the limits of {', '.join(way.outside)}" if way.outside else ""
        taken = ", taken" if number == 1 and not way.outside else ""
        at = " ".join(f"{joint}={round(x, 9) + 0.0:.5g}" for joint, x in way.positions.items())
        words = f"  {number}. {way.name}, distance {way.distance:.4g}{limits}{taken}: {at}"
        text.append(folded(words))
    return text if ways.found else [*text, "  no way found to close it from there"]


def _text(
    options: argparse.Namespace, loops: Path | None, references: dict[str, dict[str, float]]
) -> str:
    """The submechanism file with the references; loaded before it is kept."""
    places = {place: re.fullmatch(r"submechanisms\[(\d+)\]", place) for place in references}
    if loops is None or not all(places.values()):
        raise UsageError(
            "this robot's file has no word for a reference; `closed-loop convert` writes it as a "
            "URDF and a submechanism file, loops and reference included"
        )
    numbered = {int(found[1]): references[place] for place, found in places.items() if found}
    text = with_references(loops.read_text(encoding="utf-8"), numbered)
    files = find_robot(options.robot)
    folders = [loops.parent, *options.search_path]
    robot = load(
        files.urdf,
        text,
        floating_base=options.floating_base,
        search_path=folders,
        xacro=dict(options.xacro),
        prepare=(),
    )
    for branch in robot.branches.values():
        system, plan = branch.closure.system, branch.closure.plan
        taken = {name: x for reference in references.values() for name, x in reference.items()}
        q = [taken[name] for name in system.names(range(len(system.joints)))]
        if not np.allclose(q, plan.q_ref, rtol=0.0, atol=1e-6):
            raise FileProblem(f"'{system.name}' does not close where it was assembled")
    return text
