"""``closed-loop check``: the linter, as a report or as JSON, with an exit status for CI."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ...errors import ModelError
from ...inspection import Report
from ..robot_argument import add_robot_arguments, load_robot
from ..terminal import Style, json_text

DESCRIPTION = """\
Look a robot's files over: can they be loaded, how is each loop solved, what is doubtful (joints
that no loop moves, limits past a dead point, impossible inertias, missing actuators).
"""
EPILOG = """\
examples:
  closed-loop check crank_leg
  closed-loop check robot.urdf loops.yaml --strict      # warnings fail too: for CI
  closed-loop check robot.urdf loops.yaml --json | jq .findings

exit status: 0 clean, 1 errors (with --strict: or warnings), 2 the command line is wrong
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    parser.add_argument("--strict", action="store_true", help="warnings count as errors")
    parser.add_argument("--quiet", action="store_true", help="print errors and warnings only")


def run(options: argparse.Namespace) -> int:
    """Load, lint, print."""
    try:
        report = load_robot(options).report()
    except ModelError as error:
        if not options.json or options.debug:
            raise
        print(json_text(_unloadable(error)))
        return 1
    failed = bool(report.errors or (options.strict and report.warnings))
    if options.json:
        print(json_text({"ok": not failed, **report.as_dict()}))
    else:
        for line in lines(report, options, Style.of(sys.stdout)):
            print(line)
    return int(failed)


def _unloadable(error: ModelError) -> dict[str, Any]:
    finding = {"severity": "error", "code": "model", "submechanism": "", "message": error.problem}
    finding |= {"file": error.file, "place": error.place, "remedy": error.remedy}
    return {"ok": False, "submechanisms": [], "findings": [finding]}


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
    looks = {"error": "red", "warning": "yellow", "info": "dim"}
    for finding in report.findings:
        if options.quiet and finding.severity == "info":
            continue
        label = style(looks[finding.severity], f"{finding.severity}:")
        text.append(f"{label} {finding.message} [{finding.code}]")
    count = {"error": len(report.errors), "warning": len(report.warnings)}
    words = [f"{n} {word}{'s' * (n != 1)}" for word, n in count.items() if n]
    if not options.quiet or words:
        text.append(style("bold", ", ".join(words) or "no errors, no warnings"))
    return text
