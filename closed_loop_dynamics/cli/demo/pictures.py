"""What both demos need to draw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

BELOW: dict[str, Any] = {  # a legend under its panel, where it hides no curve
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.15),
    "ncols": 3,
    "frameon": False,
    "fontsize": "small",
    "columnspacing": 1.0,
}


def save(output: Path, draw: Callable[[], None]) -> None:
    """Draw and say where the picture is, or that matplotlib is missing."""
    try:
        draw()
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        print("\nno picture: pip install matplotlib")
    else:
        print(f"\npicture: {output}")
