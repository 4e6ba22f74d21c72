"""``closed-loop check``: the linter, as a report or as JSON, with an exit status for CI."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ...errors import ModelError
from ...inspection import Finding, Report, units_of_files
from ..finding_formats import github, sarif
from ..fixes import mended
from ..output import check_place, put
from ..robot_argument import add_robot_arguments, find_robot, load_robot
from ..terminal import Style, json_text

DESCRIPTION = """\
Look a robot's files over: can they be loaded, how is each loop solved, what is doubtful (joints
that no loop moves, limits past a dead point, impossible inertias, missing actuators, numbers that
are probably in mm, g, degrees or g·mm²).
"""
EPILOG = """\
examples:
  closed-loop check crank_leg
  closed-loop check robot.urdf loops.yaml --strict      # warnings fail too: for CI
  closed-loop check robot.urdf loops.yaml --json | jq .findings
  closed-loop check robot.urdf loops.yaml --format github    # annotations beside the lines
  closed-loop check robot.urdf loops.yaml --fix mended.urdf

--fix puts right what has one right answer: rpy in degrees, and limits of the one independent joint
of a loop past the end of its reach, 1 % before it. The rest of the URDF stays as it is, to the
letter.

exit status: 0 clean, 1 errors (with --strict: or warnings), 2 the command line is wrong
"""
FORMATS = ("text", "github", "json", "sarif")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="for people, as annotations of GitHub, as JSON or as SARIF 2.1.0",
    )
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument("--strict", action="store_true", help="warnings count as errors")
    parser.add_argument(
        "--fix", metavar="URDF", help="write a copy with what has one right answer put right"
    )
    parser.add_argument("--quiet", action="store_true", help="print errors and warnings only")


def run(options: argparse.Namespace) -> int:
    """Load, lint, print."""
    form = "json" if options.json else options.format
    style = Style.of(sys.stdout)
    if options.fix is not None:
        check_place(options.fix, options)
    try:
        report = load_robot(options).report()
    except ModelError as error:
        units = units_at_fault(options)
        fix(options, units, {})
        if form == "text" or options.debug:
            print("".join(f"{_line(finding, style)}\n" for finding in units), end="")
            raise
        where = (error.file, error.place, error.remedy)
        findings = [Finding("error", "model", "", error.problem, *where), *units]
        facts: dict[str, Any] = {"submechanisms": [], "findings": [asdict(f) for f in findings]}
        failed = True
    else:
        findings, facts = list(report.findings), report.as_dict()
        failed = bool(report.errors or (options.strict and report.warnings))
        fix(options, findings, _past_their_reach(report))
    if options.quiet:
        findings = [finding for finding in findings if finding.severity != "info"]
    robot = os.path.relpath(find_robot(options.robot, options.submechanisms).urdf)
    if form == "json":
        print(json_text({"ok": not failed, **facts}))
    elif form == "sarif":
        print(json_text(sarif(findings, robot)))
    else:
        text = github(findings, robot) if form == "github" else lines(report, options, style)
        print("".join(f"{line}\n" for line in text), end="")
    return int(failed)


def fix(options: argparse.Namespace, findings: list[Finding], reach: Mapping[str, Any]) -> None:
    """Write the mended copy, and say what is different in it."""
    if options.fix is None:
        return
    source = find_robot(options.robot, options.submechanisms).urdf
    text, changes = mended(source.read_text(encoding="utf-8"), findings, reach)
    put(options.fix, text)
    for change in changes or ["nothing that has one right answer; the copy is the same"]:
        print(f"{options.fix}: {change}", file=sys.stderr)


def _past_their_reach(report: Report) -> dict[str, tuple[float, float]]:
    """What joints with limits past a singularity can reach, where that is known exactly."""
    past = {f.submechanism for f in report.warnings if f.code == "limits-past-toggle"}
    found = [s.reachable for s in report.submechanisms if s.reach_is_exact and s.name in past]
    return {joint: ends for reachable in found for joint, ends in reachable.items()}


def units_at_fault(options: argparse.Namespace) -> list[Finding]:
    """Wrong units of files that do not load: they keep loops from closing."""
    files = find_robot(options.robot, options.submechanisms)
    try:
        return units_of_files(files.urdf, files.submechanisms)
    except ModelError:  # it is the one that is reported already
        return []


def lines(report: Report, options: argparse.Namespace, style: Style) -> list[str]:
    """The report for people."""
    text = []
    if not options.quiet:
        head = f"{report.robot}: {report.n} joints, {report.m} independent, {report.p} driven"
        text.append(style("bold", head))
        for s in report.submechanisms:
            if s.solver != "serial":
                counts = f"{len(s.joints)} joints, mobility {s.mobility}"
                text.append(f"  {s.name}: {s.solver}, {counts}; {s.why}")
        serial = sum(s.solver == "serial" for s in report.submechanisms)
        text += [f"  {serial} joint{'s' * (serial != 1)} in no loop", ""]
    text += [
        _line(finding, style)
        for finding in report.findings
        if not (options.quiet and finding.severity == "info")
    ]
    count = {"error": len(report.errors), "warning": len(report.warnings)}
    words = [f"{n} {word}{'s' * (n != 1)}" for word, n in count.items() if n]
    if not options.quiet or words:
        text.append(style("bold", ", ".join(words) or "no errors, no warnings"))
    return text


def _line(finding: Finding, style: Style) -> str:
    look = {"error": "red", "warning": "yellow", "info": "dim"}[finding.severity]
    return f"{style(look, f'{finding.severity}:')} {finding.message} [{finding.code}]"
