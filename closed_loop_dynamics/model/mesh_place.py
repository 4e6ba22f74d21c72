"""Where the files are that a robot's file names: meshes, and models that it includes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlparse


def find_mesh(name: str, folder: Path, search_path: Sequence[Path]) -> Path | None:
    """A mesh file beside the URDF (in ``folder``), in ROS packages or in further folders."""
    return next((p for p in candidates(name, folder, search_path) if p.is_file()), None)


def candidates(name: str, folder: Path, search_path: Sequence[Path]) -> Iterator[Path]:
    """Paths that a name or URI may mean, seen from a file in ``folder``."""
    parsed = urlparse(name)
    if parsed.scheme in ("package", "model"):
        package, rest = parsed.netloc, unquote(parsed.path).lstrip("/")
        for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
            if prefix:
                yield Path(prefix) / "share" / package / rest
        # In a source tree: the package's folder is above the URDF, or in the search path.
        for above in (folder.resolve(), *folder.resolve().parents):
            if above.name == package:
                yield above / rest
            yield above / package / rest
        for further in search_path:
            yield further / package / rest
            yield further / rest
    elif parsed.scheme in ("", "file"):
        path = Path(unquote(parsed.path) if parsed.scheme else name)
        for further in (folder, *search_path):
            yield further / path
