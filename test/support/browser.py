"""A browser for the tests of the viewer, and what its pictures show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools.pictures import browser as chromium

ARTEFACTS = Path(__file__).resolve().parents[2] / "out" / "viewer"


def start_browser() -> Any:
    """A browser, or skip with the reason."""
    try:
        return chromium.start_browser()
    except chromium.NoBrowser as reason:
        pytest.skip(str(reason))


def picture(browser: Any, name: str) -> np.ndarray:
    """(height, width, 3) what is seen now; kept under out/viewer."""
    return chromium.picture(browser, ARTEFACTS / f"{name}.png")


def colored(image: np.ndarray) -> np.ndarray:
    """(height, width) pixels that are neither grey nor white: what only a robot has."""
    return image.max(axis=2) - image.min(axis=2) > 60


def differing(a: np.ndarray, b: np.ndarray) -> int:
    """How many pixels differ clearly."""
    return int((np.abs(a - b).max(axis=2) > 40).sum())
