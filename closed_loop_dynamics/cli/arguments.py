"""Types of arguments: numbers with sentences for wrong values, and files that are read."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any, Protocol

STANDARD = "-"


class Arguments(Protocol):
    """A parser or a group of its arguments."""

    def add_argument(self, *words: str, **options: Any) -> Any:
        """As argparse has it."""


def add_vector(parser: Arguments, option: str, help: str, metavar: str = "VALUE") -> None:
    """An option that takes several words: numbers, or NAME=NUMBER."""
    parser.add_argument(option, nargs="+", action="extend", metavar=metavar, help=help)


def real(text: str) -> float:
    """``float(text)``, without Python's underscores: 1_0 is a slip, not ten."""
    if "_" in text:
        raise ValueError(f"'{text}' is not a number")
    return float(text)


def positive(text: str) -> float:
    """A positive finite number."""
    try:
        value = real(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not (math.isfinite(value) and value > 0.0):
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def whole(text: str) -> int:
    """A whole number of at least 2."""
    try:
        if "_" in text:
            raise ValueError
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
    if value < 2:
        raise argparse.ArgumentTypeError(f"{text} is too small; give 2 or more")
    return value


class InputFile(str):
    """A file or folder on the command line that is read; "-" is standard input.

    The type lets one check (``output.check_place``) keep commands from overwriting what they read.
    """

    def files(self) -> list[Path]:
        """The paths behind it."""
        return [] if self == STANDARD else [Path(self).expanduser()]

    def includes(self, path: Path) -> bool:
        """``path`` is one of the files, another name of one, or inside a folder of them."""
        return any(_includes(file, path) for file in self.files())


def _includes(file: Path, path: Path) -> bool:
    if file.is_dir():  # a bag
        inside = path.resolve().is_relative_to(file.resolve())
        return inside or any(_includes(entry, path) for entry in file.iterdir() if entry.is_file())
    return file.is_file() and path.exists() and path.samefile(file)
