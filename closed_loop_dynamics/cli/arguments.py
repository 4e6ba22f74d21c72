"""Numbers in words and files, and types of arguments with sentences for wrong values."""

from __future__ import annotations

import argparse
import math
from typing import Any, Protocol


class Arguments(Protocol):
    """A parser or a group of its arguments."""

    def add_argument(self, *words: str, **options: Any) -> Any:
        """As argparse has it."""


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
