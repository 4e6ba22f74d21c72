"""Findings for machines: GitHub's annotations, SARIF; with the lines that they are about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from .. import __version__
from ..errors import ModelError
from ..inspection import Finding
from ..model.xml_source import parse_xml

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def github(findings: Sequence[Finding], robot: str) -> list[str]:
    """``::warning file=robot.urdf,line=12,title=units-mass::message``, one line each."""
    lines = []
    for finding in findings:
        level = "notice" if finding.severity == "info" else finding.severity
        file, line = place_of(finding, robot)
        where = f"file={_escaped(file, ',:')},line={line},title={_escaped(finding.code, ',:')}"
        lines.append(f"::{level} {where}::{_escaped(finding.message)}")
    return lines


def sarif(findings: Sequence[Finding], robot: str) -> dict[str, Any]:
    """A SARIF 2.1.0 log."""
    rules = [{"id": code} for code in dict.fromkeys(f.code for f in findings)]
    driver = {"name": "closed-loop check", "version": __version__, "rules": rules}
    results = [_result(finding, *place_of(finding, robot)) for finding in findings]
    runs = [{"tool": {"driver": driver}, "results": results}]
    return {"$schema": _SARIF, "version": "2.1.0", "runs": runs}


def _result(finding: Finding, file: str, line: int) -> dict[str, Any]:
    uri = Path(file).as_posix()
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}
    return {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
    }


def _escaped(text: str, more: str = "") -> str:
    for sign in f"%\r\n{more}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


# -- lines -----------------------------------------------------------------------------------------


def place_of(finding: Finding, robot: str) -> tuple[str, int]:
    """File and line that a finding is about, as far as it is known: else the robot's first."""
    file = finding.file if Path(finding.file).is_file() else robot
    given = re.search(r"\(line (\d+)\)", finding.place)
    if given:
        return file, int(given[1])
    element = re.match(r"(link|joint) '(.*)'$", finding.place)
    try:
        if element:
            named = parse_xml(file).all(element[1])
            return file, next((e.line for e in named if e.get("name") == element[2]), 1)
        return file, _line_of_key(file, finding.place) if finding.place else 1
    except (ModelError, OSError, yaml.YAMLError):
        return file, 1


def _line_of_key(file: str, path: str) -> int:
    """Line of a key path such as ``submechanisms[2].loop_constraints[0].cut_joint``."""
    node = yaml.compose(Path(file).read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    for part in _parts(path):
        if isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
            node = node.value[int(part)]
        elif isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == part), node)
    return int(node.start_mark.line) + 1 if node is not None else 1


def _parts(path: str) -> Iterator[str]:
    return (match[0] for match in re.finditer(r"[^.\[\]]+", path))
