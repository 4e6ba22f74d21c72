"""Where a result goes: standard output or a file, as CSV, JSON, a bag or text for people.

What cannot be written is refused before the work (:func:`check_output`), and a file appears whole
or not at all (:func:`put`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from .arguments import STANDARD, InputFile
from .mistakes import UsageError, need
from .tables import Table, csv_text, json_records, readable

FORMATS = ("text", "csv", "json")
_BY_SUFFIX = {".csv": "csv", ".json": "json", ".txt": "text"}
BAG_SUFFIXES = (".mcap", ".db3")


def add_output_arguments(parser: argparse.ArgumentParser, *, bags: bool = False) -> None:
    """``--output`` and ``--format``; ``bags``: the command can write them."""
    group = parser.add_argument_group("output")
    kinds = "a .csv, .json or .mcap file" if bags else "a .csv or .json file"
    group.add_argument(
        "-o",
        "--output",
        default=STANDARD,
        metavar="FILE",
        help=f"{kinds}, overwritten if it exists (default: standard output)",
    )
    group.add_argument(
        "--format",
        choices=FORMATS,
        help="default: by the file's name; on standard output text for one state, csv for many",
    )


def check_output(options: argparse.Namespace, *, bags: bool = False) -> None:
    """Refuse an ``--output`` that could not be written, or that is one of the inputs.

    Raises:
        UsageError: the name's ending, a folder, no permission, an input file.
    """
    output = options.output
    if output == STANDARD:
        return
    check_place(output, options)
    if bags and is_bag(output):
        if options.format is not None:
            raise UsageError(f"--format {options.format} is not for bags such as {output}")
        if Path(output).suffix.lower() == ".db3":
            raise UsageError(f"--output {output}: bags are written as .mcap")
        need("rosbags", "writing bags")
    else:
        _format(output, options.format)


def check_place(output: str | Path, options: argparse.Namespace) -> None:
    """Refuse a path at which no file can be written, or that the command of ``options`` reads."""
    path = Path(output).expanduser()
    for given in vars(options).values():
        if isinstance(given, InputFile) and given.includes(path):
            raise UsageError(f"'{output}' is the input '{given}' or part of it; give another name")
    _check_writable(output)


def _check_writable(output: str | Path) -> None:
    path = Path(output).expanduser()
    if path.is_dir():
        raise UsageError(f"'{output}' is a folder; name a file in it")
    place = path if path.exists() else next(p for p in path.absolute().parents if p.exists())
    if place != path and not place.is_dir():
        raise UsageError(f"'{output}' cannot be written: '{place}' is no folder")
    if not os.access(place, os.W_OK):
        raise UsageError(f"'{output}' cannot be written: no permission for '{place}'")


def _format(output: str, format: str | None, single: bool = False) -> str:
    if format is not None:
        return format
    if output == STANDARD:
        return "text" if single else "csv"
    suffix = Path(output).suffix.lower()
    if suffix not in _BY_SUFFIX:
        raise UsageError(f"--output {output}: name it .csv or .json, or give --format")
    return _BY_SUFFIX[suffix]


def write(table: Table, output: str, format: str | None, *, single: bool) -> None:
    """Write a table of results."""
    format = _format(output, format, single)
    if format == "json":
        text = json_records(table, single)
    else:
        text = csv_text(table) if format == "csv" else readable(table)
    if output == STANDARD:
        sys.stdout.write(text)
    else:
        put(output, text)
        tell(output, table)


def tell(output: str, table: Table) -> None:
    """Say what was written; a pipe or device gets the result alone."""
    if Path(output).expanduser().is_file():
        print(f"wrote {output}: {len(table.values)} rows")


def target(output: str | Path) -> Path:
    """The path of an output file; its folder is made."""
    _check_writable(output)
    path = Path(output).expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def put(output: str | Path, content: str | bytes) -> Path:
    """Write a whole file; when that fails, what was there before is still there."""
    path = target(output)
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():  # a pipe or device
        path.write_bytes(data)
        return path
    part = path.resolve().with_name(f".{path.name}.part")
    try:
        if path.exists():  # perhaps nobody else may read it
            part.touch(0o600)
        part.write_bytes(data)
        take_place(part, path)
    except OSError as error:
        error.filename, error.filename2 = str(output), None
        raise
    finally:
        part.unlink(missing_ok=True)
    return path


def take_place(part: Path, path: Path) -> None:
    """Put a finished file where ``path`` (or its target) is, with the same permissions."""
    real = path.resolve()
    if real.exists():
        shutil.copymode(real, part)
    part.replace(real)


def is_bag(name: str) -> bool:
    """A bag by its name: a .mcap or .db3 file, or a rosbag2 folder."""
    path = Path(name).expanduser()
    return path.suffix.lower() in BAG_SUFFIXES or path.is_dir()
