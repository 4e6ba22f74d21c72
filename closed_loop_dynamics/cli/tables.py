"""Numbers with column names: CSV in and out. Bags are turned into the same tables (``bags``).

A column is called like the joint: ``knee`` is its position, ``knee.velocity``,
``knee.acceleration`` and ``knee.effort`` the rest; ``time`` is in seconds. The position of a joint
whose name means something else already is written in full: ``time.position``. Messages about a
value name file, row and column.
"""

from __future__ import annotations

import csv
import difflib
import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..arrays import Array
from ..errors import did_you_mean
from .arguments import STANDARD, real
from .mistakes import FileProblem, no_file
from .terminal import columns as aligned
from .terminal import json_text, number

TIME = "time"
POSITION, VELOCITY, ACCELERATION, EFFORT = "position", "velocity", "acceleration", "effort"
KINDS = (POSITION, VELOCITY, ACCELERATION, EFFORT)
#: The kind of columns that belong to no joint.
REMARK = "remark"
_LIKE_TIME = ("t", "time", "times", "timestamp", "stamp", "sec", "secs", "seconds")
#: Columns that our own commands write beside time and that are no input.
REMARKS = ("residual", "singularity", "energy.kinetic", "energy.potential")
#: Printed as 0 in text for people; files have all digits.
NOISE = 1e-12


def column(joint: str, kind: str) -> str:
    """Name of the column of a joint's position, velocity, acceleration or effort."""
    plain = kind == POSITION and meaning(joint) == (joint, POSITION)
    return joint if plain else f"{joint}.{kind}"


def meaning(name: str) -> tuple[str, str]:
    """Joint and kind of a column; ``knee.position`` and ``knee/position`` mean ``knee``.

    A column of no joint, ``time`` say, is a remark of its own name.
    """
    if name == TIME or name in REMARKS:
        return name, REMARK
    for separator in (".", "/"):
        joint, found, kind = name.rpartition(separator)
        if found and joint and kind in KINDS:
            return joint, kind
    return name, POSITION


@dataclass(frozen=True, eq=False)
class Table:
    """A file of numbers.

    Attributes:
        columns: names.
        values: (N, columns).
        source: file name, for messages.
        lines: (N,) where the rows stand in the file; empty when that means nothing.
        start: time that the column ``time`` counts from [ns since the epoch].
    """

    columns: tuple[str, ...]
    values: Array
    source: str = ""
    lines: tuple[int, ...] = ()
    start: int = 0

    def place(self, row: int, names: Iterable[str] = ()) -> str:
        """Where a value is, for messages."""
        where = f"row {row + 1}" + (f" (line {self.lines[row]})" if self.lines else "")
        names = list(names)
        if names:
            where += f", column{'s' * (len(names) > 1)} {', '.join(names)}"
        return f"{self.source}: {where}" if self.source else where

    def get(self, joints: Sequence[str], kind: str) -> Array | None:
        """(N, joints) one kind of number, or None when no column has it.

        Raises:
            FileProblem: some joints have it and others do not.
        """
        at = {meaning(name): k for k, name in enumerate(self.columns)}
        found = [at.get((joint, kind)) for joint in joints]
        have = [k for k in found if k is not None]
        if not have:
            return None
        if len(have) < len(found):
            raise self._missing(joints[found.index(None)], joints, kind)
        return self.values[:, have]

    def need(self, joints: Sequence[str], kind: str) -> Array:
        """Like :meth:`get`, but it must be there."""
        found = self.get(joints, kind)
        if found is None and joints:
            raise self._missing(joints[0], joints, kind)
        return np.zeros((len(self.values), 0)) if found is None else found

    def _missing(self, joint: str, joints: Sequence[str], kind: str) -> FileProblem:
        needed = ", ".join(column(each, kind) for each in joints)
        name = column(joint, kind)
        return FileProblem(f"{self.source}: the column '{name}' is missing; needed: {needed}")

    @property
    def times(self) -> Array | None:
        """(N,) the column ``time``, if there is one."""
        return self.values[:, self.columns.index(TIME)] if TIME in self.columns else None

    def check_columns(self, known: Sequence[str]) -> None:
        """Refuse columns that are no joint of the robot: they are likely misspelt."""
        for name in self.columns:
            joint, kind = meaning(name)
            if kind == REMARK or joint in known:
                continue
            hint = _perhaps(name, known)
            raise FileProblem(f"{self.source}: column '{name}' is no joint of the robot; {hint}")

    def check_numbers(self, largest: float) -> None:
        """Refuse NaN (also: empty fields), infinity and what is beyond ``largest``; not of time."""
        finite = np.isfinite(self.values)
        beyond = np.abs(self.values) > largest
        if TIME in self.columns:
            beyond[:, self.columns.index(TIME)] = False
        bad = np.argwhere(~finite | beyond)
        if len(bad):
            row, k = (int(i) for i in bad[0])
            value = self.values[row, k]
            why = f"is beyond {largest:g}; units are SI"
            if not finite[row, k]:
                why = "is not a finite number" + " (or an empty field)" * bool(np.isnan(value))
            raise FileProblem(f"{self.place(row, [self.columns[k]])}: {value:g} {why}")


def _perhaps(name: str, known: Sequence[str]) -> str:
    """What an unknown column may have meant: another joint, another kind of number, time."""
    if name.lower() in _LIKE_TIME:
        return f"did you mean '{TIME}'?"
    joint, _, part = name.rpartition(".")
    if joint not in known:
        kind = meaning(name)[1]
        choices = [column(each, kind) for each in known]
        return did_you_mean(name, [*choices, TIME] if kind == POSITION else choices)
    parts = [each.removeprefix(f"{joint}.") for each in known if each.startswith(f"{joint}.")]
    near = difflib.get_close_matches(part, [*KINDS, *parts], n=1, cutoff=0.4)  # acc, vel, pos
    if near:
        return f"did you mean '{joint}.{near[0]}'?"
    return f"valid: {', '.join(column(joint, kind) for kind in KINDS)}"


def read_csv(path: str) -> Table:
    """A CSV file with column names in its first row; "-" is standard input.

    Comma, semicolon or tab between values; lines that start with # are skipped; an empty field is
    NaN.

    Raises:
        FileProblem: no names, names that repeat, rows of other lengths, words for numbers.
    """
    source = "standard input" if path == STANDARD else path
    if path != STANDARD and not Path(path).expanduser().exists():
        raise no_file(Path(path))
    try:
        text = (
            sys.stdin.read() if path == STANDARD else Path(path).expanduser().read_text("utf-8-sig")
        )
    except UnicodeDecodeError:
        raise FileProblem(f"{source}: this is no text file; bags end in .mcap or .db3") from None
    numbered = [
        (k, line)
        for k, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not numbered:
        raise FileProblem(f"{source}: the file is empty; its first row has to name the columns")
    lines = [k for k, _ in numbered]
    first = numbered[0][1]
    delimiter = max(",;\t", key=first.count)
    rows = list(csv.reader((line for _, line in numbered), delimiter=delimiter))
    names = tuple(name.strip() for name in rows[0])
    _check_names(names, source)
    values = np.empty((len(rows) - 1, len(names)))
    for i, row in enumerate(rows[1:]):
        if len(row) != len(names):
            raise FileProblem(
                f"{source}: row {i + 1} (line {lines[i + 1]}) has {len(row)} values for "
                f"{len(names)} columns"
            )
        try:
            values[i] = [real(field) if field.strip() else np.nan for field in row]
        except ValueError:
            k = next(k for k, field in enumerate(row) if not _is_number(field))
            raise FileProblem(
                f"{source}: row {i + 1} (line {lines[i + 1]}), column {names[k]}: "
                f"'{row[k].strip()}' is not a number"
            ) from None
    return Table(names, values, source, tuple(lines[1:]))


def _is_number(field: str) -> bool:
    try:
        real(field or "nan")
    except ValueError:
        return not field.strip()
    return True


def _check_names(names: tuple[str, ...], source: str) -> None:
    if all(_is_number(name) for name in names):
        raise FileProblem(
            f"{source}: the first row has only numbers; it has to name the columns, such as "
            "time,hip,knee"
        )
    seen: dict[tuple[str, str], str] = {}
    for k, name in enumerate(names):
        if not name:
            raise FileProblem(f"{source}: column {k + 1} has no name")
        if meaning(name) in seen:
            raise FileProblem(f"{source}: column '{name}' appears twice")
        seen[meaning(name)] = name


# -- writing --------------------------------------------------------------------------------------


def csv_text(table: Table) -> str:
    """CSV; numbers are written so that reading gives the same bits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([repr(float(v)) for v in row] for row in table.values)
    return out.getvalue()


def json_records(table: Table, single: bool) -> str:
    """One JSON object per row, or the only one."""
    records = [dict(zip(table.columns, map(float, row), strict=True)) for row in table.values]
    return json_text(records[0] if single else records) + "\n"


def readable(table: Table) -> str:
    """One row per joint for a single state, one line per row for more."""
    if len(table.values) != 1:
        rows = [list(table.columns), *([number(v) for v in row] for row in table.values)]
        return "\n".join(aligned(rows, indent=0)) + "\n"
    entries = {meaning(name): v for name, v in zip(table.columns, table.values[0], strict=True)}
    plain = {name: v for (name, kind), v in entries.items() if kind == REMARK}
    joints = list(dict.fromkeys(joint for joint, kind in entries if kind != REMARK))
    kinds = [kind for kind in KINDS if any((joint, kind) in entries for joint in joints)]
    cells = [
        [number(entries[joint, kind], NOISE) if (joint, kind) in entries else "-" for kind in kinds]
        for joint in joints
    ]
    rows = [["joint", *kinds], *([j, *row] for j, row in zip(joints, cells, strict=True))]
    notes = [f"{name} {number(value)}" for name, value in plain.items()]
    return "\n".join([*aligned(rows, indent=0), *notes]) + "\n"


def joined(parts: Iterable[tuple[str, Sequence[str], Array | None]]) -> Table:
    """A table from parts (kind, joints, (N, joints) numbers); None stands for no such part."""
    names: list[str] = []
    blocks = []
    for kind, joints, values in parts:
        if values is None:
            continue
        names += [column(joint, kind) for joint in joints]
        blocks.append(np.atleast_2d(values))
    return Table(tuple(names), np.hstack(blocks))


def with_column(table: Table, name: str, values: Array, *, first: bool = False) -> Table:
    """One more column."""
    new = np.reshape(values, (-1, 1))
    if first:
        columns = (name, *table.columns)
        return replace(table, columns=columns, values=np.hstack([new, table.values]))
    return replace(table, columns=(*table.columns, name), values=np.hstack([table.values, new]))
