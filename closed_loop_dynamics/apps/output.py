"""Where a table goes: standard output or a file, as CSV, JSON, a bag or text for people."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .mistakes import UsageError
from .tables import STANDARD, Table, csv_text, json_records, readable

FORMATS = ("text", "csv", "json")
_BY_SUFFIX = {".csv": "csv", ".json": "json", ".txt": "text"}
BAG_SUFFIXES = (".mcap", ".db3")


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """``--output`` and ``--format``."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o",
        "--output",
        default=STANDARD,
        metavar="FILE",
        help="a .csv or .json file (default: standard output)",
    )
    group.add_argument(
        "--format",
        choices=FORMATS,
        help="default: by the file's name; on standard output text for one state, csv for many",
    )


def write(table: Table, output: str, format: str | None, *, single: bool) -> None:
    """Write a table of results."""
    if format is None:
        format = "text" if single else "csv"
        if output != STANDARD:
            suffix = Path(output).suffix.lower()
            if suffix not in _BY_SUFFIX:
                raise UsageError(f"--output {output}: name it .csv or .json, or give --format")
            format = _BY_SUFFIX[suffix]
    if format == "json":
        text = json_records(table, single)
    else:
        text = csv_text(table) if format == "csv" else readable(table)
    if output == STANDARD:
        sys.stdout.write(text)
    else:
        target(output).write_text(text, encoding="utf-8")


def target(output: str | Path) -> Path:
    """The path of an output file; its folder is made."""
    path = Path(output).expanduser()
    if path.is_dir():
        raise UsageError(f"'{output}' is a folder; name a file in it")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def is_bag(name: str) -> bool:
    """A bag by its name: a .mcap or .db3 file, or a rosbag2 folder."""
    path = Path(name).expanduser()
    return path.suffix.lower() in BAG_SUFFIXES or path.is_dir()
