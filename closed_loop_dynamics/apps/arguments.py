"""Types of arguments, with sentences for wrong values."""

from __future__ import annotations

import argparse
import math


def positive(text: str) -> float:
    """A positive finite number."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not (math.isfinite(value) and value > 0.0):
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value
