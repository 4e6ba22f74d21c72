"""Words for a terminal: colours where it has them, columns, numbers."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, NoReturn

LOOKS = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}


class ClosedStream(io.TextIOBase):
    """In place of a standard stream that is closed (``closed-loop ... >&-``): using it says so."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def _refuse(self, *_: object) -> NoReturn:
        raise OSError(errno.EBADF, "it is closed", self._name)

    read = write = _refuse


@dataclass(frozen=True)
class Style:
    """Colours, or none."""

    colors: bool

    @staticmethod
    def of(stream: IO[str]) -> Style:
        """Colours on a terminal, unless NO_COLOR is set."""
        return Style(stream.isatty() and "NO_COLOR" not in os.environ)

    def __call__(self, look: str, text: str) -> str:
        """``text`` in bold, dim, red or yellow."""
        return f"\x1b[{LOOKS[look]}m{text}\x1b[0m" if self.colors else text


def columns(rows: Sequence[Sequence[str]], indent: int = 2) -> list[str]:
    """Rows as aligned columns; what looks like a number stands to the right."""
    if not rows:
        return []
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    right = [all(is_number(row[k]) for row in rows[1:]) for k in range(len(rows[0]))]
    text = []
    for row in rows:
        cells = [
            cell.rjust(width) if r else cell.ljust(width)
            for cell, width, r in zip(row, widths, right, strict=True)
        ]
        text.append((" " * indent + "  ".join(cells)).rstrip())
    return text


def is_number(text: str) -> bool:
    """Whether a cell stands to the right: a number (with a mark), nothing, or the dash for none."""
    try:
        float(text.removesuffix("*") or 0.0)
    except ValueError:
        return text == "-"
    return True


def folded(text: str) -> str:
    """A long line over several, indented."""
    options = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(text, 98, subsequent_indent=" " * 6, **options)  # type: ignore[arg-type]


def number(value: float, noise: float = 0.0) -> str:
    """Six digits; what is not above ``noise`` is 0."""
    return f"{value:.6g}" if abs(value) > noise or value != value else "0"


def short(value: float) -> str:
    """Four digits, and no power of ten where all of its digits are as short."""
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.4g}"


def alike(values: Sequence[float]) -> list[str]:
    """As many decimals for all as show five digits of the largest."""
    largest = max(map(abs, values), default=0.0)
    decimals = max(0, 4 - math.floor(math.log10(largest))) if largest > 0.0 else 0
    return [f"{value:.{decimals}f}" if value else "0" for value in values]


def json_text(data: Any) -> str:
    """Strict JSON: what is not finite becomes null."""
    return json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
