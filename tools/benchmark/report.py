"""The results as tables of text or Markdown, and as JSON."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..tables import Rows, markdown_table, text_table
from .beyond import BeyondRow, beyond_cells
from .cycle import CycleRow, cycle_cells
from .first_use import WaitRow, wait_cells
from .measure import Result, Row
from .node import NodeRate
from .node import cells as node_cells
from .pressed import PressedRow, pressed_cells
from .streams import StreamRow, stream_cells

HEADINGS = ("ratio", "what", "ours", "theirs", "compared with", "aim", "")
PACKAGES = ("pin", "mujoco", "casadi", "llvmlite", "numpy")
PATTERN_TITLES = {
    "trajectory": "trajectory at 1 kHz (warm-started loops)",
    "random": "random states (every call far from the last)",
    "load": "loading",
}


def machine() -> dict[str, str]:
    """Where and when."""
    facts = {"cpu": _cpu_name(), "python": platform.python_version()}
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "?"
    facts["date"] = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return facts


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({len(names)} cores)" if names else platform.processor() or "unknown"


def as_json(
    results: Sequence[Result], notes: Sequence[str], nodes: Sequence[NodeRate] = ()
) -> dict[str, Any]:
    """Everything, with times in seconds per evaluation."""
    return {
        "machine": machine(),
        "notes": list(notes),
        "robots": {result.case.name: _robot_json(result) for result in results},
        "feedforward_node": [asdict(node) for node in nodes],
    }


def _robot_json(result: Result) -> dict[str, Any]:
    return {
        "title": result.case.title,
        "size": result.size,
        "newton_iterations": result.iterations,
        "rows": [_row_json(row) for row in result.rows],
        "checks": [
            {"pattern": pattern, **check.data()}
            for pattern, checks in result.checks.items()
            for check in checks
        ],
    }


def _row_json(row: Row) -> dict[str, Any]:
    bar = None
    if row.bar is not None:
        bar = {"kind": row.bar.kind, "value": row.bar.value, "met": row.met}
    return {
        "pattern": row.pattern,
        "what": row.what,
        "ratio": row.ratio,
        "seconds": row.seconds,
        "against": row.against,
        "pinocchio_seconds": row.pinocchio,
        "bar": bar,
    }


def as_text(
    results: Sequence[Result],
    notes: Sequence[str],
    nodes: Sequence[NodeRate] = (),
    markdown: bool = False,
    first: Sequence[str] = (),
) -> str:
    """Tables, one per robot and pattern; ratios first. ``first`` goes before them."""
    facts = machine()
    lines = ["# Benchmark" if markdown else "Benchmark", ""]
    lines += ["Written by `make bench`; do not edit.", ""] if markdown else []
    lines += [facts_line(facts), "", *(f"Note: {note}" for note in notes), *first]
    if not results:
        return "\n".join([*lines, *_node_lines(nodes, markdown)]) + "\n"
    lines += ["", heading("Robots with aims, in detail", 2, markdown), ""]
    lines += [
        "ratio = Pinocchio's time / ours: above 1, ours is faster. Times per evaluation, as seen "
        "from Python;",
        "a batch's is that of 1000 divided by 1000, on one thread, or on two beside ours on one. "
        "Pinocchio gets the completed states; ours closes the loops.",
        "",
    ]
    for result in results:
        lines += ["", heading(f"{result.case.title} ({result.size})", 2, markdown)]
        for pattern, title in PATTERN_TITLES.items():
            rows = [row for row in result.rows if row.pattern == pattern]
            if pattern in result.iterations:
                title += f", {result.iterations[pattern]:.1f} Newton iterations per call"
            lines += ["", heading(title, 3, markdown), ""]
            lines += table([HEADINGS, *map(_cells, rows)], markdown)
        lines += ["", *_check_lines(result, markdown)]
    lines += _node_lines(nodes, markdown)
    lines += ["", *_summary(results, markdown)]
    return "\n".join(lines) + "\n"


def _node_lines(nodes: Sequence[NodeRate], markdown: bool) -> list[str]:
    if not nodes:
        return []
    title = heading("Feedforward node, RH5 Manus reduced, over DDS", 2, markdown)
    return ["", title, "", *table(node_cells(nodes), markdown)]


def beyond_lines(rows: Sequence[BeyondRow], markdown: bool) -> list[str]:
    """Outside the joint limits."""
    if not rows:
        return []
    title = "Outside the joint limits: time of forward dynamics over that inside"
    return ["", heading(title, 2, markdown), "", *table(beyond_cells(rows), markdown)]


def wait_lines(rows: Sequence[WaitRow], markdown: bool) -> list[str]:
    """Whole commands."""
    if not rows:
        return []
    title = "First use: whole commands in fresh processes"
    return ["", heading(title, 2, markdown), "", *table(wait_cells(rows), markdown)]


def cycle_lines(
    cycles: Sequence[CycleRow],
    streams: Sequence[StreamRow],
    pressed: Sequence[PressedRow],
    markdown: bool,
) -> list[str]:
    """The control cycle, streams through it, and the simulator."""
    lines = []
    if pressed:
        title = "The simulator in real time at 1 kHz, RH5 Manus pressed against its stops"
        lines += ["", heading(title, 2, markdown), "", *table(pressed_cells(pressed), markdown)]
    if cycles:
        title = "Control cycle, RH5-style leg and simulator, over DDS by UDP"
        lines += ["", heading(title, 2, markdown), "", *table(cycle_cells(cycles), markdown)]
    if streams:
        title = "Streams of references: steps of efforts over the largest of the model's own"
        lines += ["", heading(title, 2, markdown), "", *table(stream_cells(streams), markdown)]
    return lines


def facts_line(facts: dict[str, str]) -> str:
    """Machine, versions and date in one line."""
    packages = ", ".join(f"{name} {facts[name]}" for name in ("python", *PACKAGES))
    return f"{facts['cpu']}; {packages}; {facts['date']}"


def _cells(row: Row) -> tuple[str, ...]:
    aim = ""
    if row.bar is not None:
        aim = _time(row.bar.value) if row.bar.kind == "time" else f"{row.bar.value:g}×"
        aim = ("≤ " if row.bar.kind == "time" else "≥ ") + aim
        aim += f" ({row.bar.note})" if row.bar.note else ""
    return (
        "" if row.ratio is None else f"{row.ratio:.3g}×",
        row.what,
        _time(row.seconds),
        "" if row.pinocchio is None else _time(row.pinocchio),
        row.against or "",
        aim,
        {None: "", True: "ok", False: "MISSED"}[row.met],
    )


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def heading(text: str, level: int, markdown: bool) -> str:
    """Of a section (2) or a table (3)."""
    return f"{'#' * level} {text}" if markdown else f"{'===' if level == 2 else '---'} {text}"


def table(rows: Rows, markdown: bool) -> list[str]:
    """Lines of a table whose first row holds the headings."""
    return markdown_table(rows) if markdown else text_table(rows)


def _check_lines(result: Result, markdown: bool) -> list[str]:
    rows: list[tuple[str, ...]] = [("largest relative error", "trajectory", "random", "")]
    patterns = list(result.checks.values())
    for checks in zip(*patterns, strict=True):
        verdict = "" if checks[0].tolerance is None else "ok"
        verdict = verdict if all(check.ok for check in checks) else "WRONG"
        errors = [f"{check.error:.1e}" for check in checks]
        rows.append((checks[0].name, *errors, verdict))
    return table(rows, markdown)


def _summary(results: Sequence[Result], markdown: bool) -> list[str]:
    rows = [
        ("MISSED" if not row.met else "ok", result.case.title, *_cells(row))
        for result in results
        for row in result.rows
        if row.bar is not None
    ]
    if not rows:
        return []
    cells: list[tuple[str, ...]] = [("", "robot", "ratio", "what", "ours", "theirs", "aim")]
    cells += [(*row[:6], row[7]) for row in rows]
    return [heading("Aims", 2, markdown), "", *table(cells, markdown)]
