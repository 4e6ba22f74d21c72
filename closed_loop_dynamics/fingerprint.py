"""Hash of the package's own source: a changed algorithm never meets old compiled code."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from .engine.cache import digest_of_files

#: Layers in which no compiled program has its origin.
_ABOVE = ("cli", "motion", "ros", "viewer")


@lru_cache(maxsize=1)
def source_digest() -> str:
    """Of all files that compiled programs and load-time decisions come from."""
    root = Path(__file__).resolve().parent
    files = (path for path in root.rglob("*.py") if path.relative_to(root).parts[0] not in _ABOVE)
    return digest_of_files(root, files)
