"""What has one right answer is put right in the text of a URDF; all else in it stays as it is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from ..inspection import Finding

#: How far before a dead point limits are put, of what the loop reaches: at it nothing can be held.
BEFORE = 0.01
_NUMBER = r"[-+]?[\d.]+(?:[eE][-+]?\d+)?"


def mended(
    text: str, findings: list[Finding], reach: Mapping[str, tuple[float, float]]
) -> tuple[str, list[str]]:
    """The text with ``rpy`` in degrees in rad, and limits within what a loop reaches.

    Args:
        findings: what the linter says about it.
        reach: joint with limits past a singularity -> what it can reach, exactly.

    Returns:
        The new text, and a sentence for every change.
    """
    changes: list[str] = []
    lines = text.split("\n")
    for line in sorted(_lines_in_degrees(findings)):
        start = sum(len(each) + 1 for each in lines[: line - 1])
        head, rest = text[:start], text[start:]
        old = re.search(r'rpy\s*=\s*(["\'])(.*?)\1', rest)
        if old is None:
            continue
        new = " ".join(f"{math.radians(float(angle)):.9g}" for angle in old[2].split())
        text = head + rest[: old.start(2)] + new + rest[old.end(2) :]
        changes.append(f"line {line}: rpy in degrees, {old[2]}, is {new} rad")
    for joint, ends in reach.items():
        text, words = _with_limits(text, joint, ends)
        changes += words
    return text, changes


def _lines_in_degrees(findings: list[Finding]) -> Iterator[int]:
    for finding in findings:
        line = re.search(r"line (\d+)", finding.place)
        if finding.code == "units-angle" and "rpy=" in finding.message and line:
            yield int(line[1])


def _with_limits(text: str, joint: str, ends: tuple[float, float]) -> tuple[str, list[str]]:
    """Limits that reach further than ``ends`` are shortened, to a little before the dead point."""
    element = re.search(rf'<joint\b[^>]*\bname\s*=\s*["\']{re.escape(joint)}["\']', text)
    limit = re.compile(r"<limit\b[^>]*>").search(text, element.end()) if element else None
    if element is None or limit is None or "</joint>" in text[element.end() : limit.start()]:
        return text, []
    tag, changes, short = limit[0], [], BEFORE * (ends[1] - ends[0])
    for side, end, inwards in (("lower", ends[0], short), ("upper", ends[1], -short)):
        old = re.search(rf'\b{side}\s*=\s*["\']\s*({_NUMBER})\s*["\']', tag)
        if old is None or abs(float(old[1]) - end) < 1e-6:
            continue
        new = f"{end + inwards:.4g}"
        tag = tag[: old.start(1)] + new + tag[old.end(1) :]
        changes.append(f"joint '{joint}': {side} limit {old[1]} is {new}, before its loop ends")
    return text[: limit.start()] + tag + text[limit.end() :], changes
