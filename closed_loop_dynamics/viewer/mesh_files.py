"""Finds and reads the mesh files that a URDF names (through trimesh, which viser brings along)."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array

#: A file that Git LFS has not fetched begins with this.
_LFS_POINTER = b"version https://git-lfs"


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles.

    Attributes:
        vertices: (V, 3) [m]; faces: (F, 3) indices.
        color: of the file, if it has one.
    """

    vertices: Array
    faces: NDArray[np.uint32]
    color: tuple[int, int, int] | None = None


class MeshFiles:
    """Looks for mesh files beside the URDF, in ROS packages and in further folders."""

    def __init__(self, folder: Path, search_path: Sequence[Path] = ()) -> None:
        self._folder = folder
        self._search = tuple(search_path)
        self._read: dict[Path, Mesh | str] = {}

    def load(self, name: str, scale: Sequence[float]) -> Mesh | str:
        """A mesh, or the reason why there is none."""
        path = next((p for p in self._candidates(name) if p.is_file()), None)
        if path is None:
            return "not found"
        if path not in self._read:
            self._read[path] = _read(path)
        mesh = self._read[path]
        if isinstance(mesh, str):
            return mesh
        faces = mesh.faces[:, ::-1] if np.prod(scale) < 0 else mesh.faces
        return Mesh(mesh.vertices * np.asarray(scale), faces, mesh.color)

    def _candidates(self, name: str) -> Iterator[Path]:
        parsed = urlparse(name)
        if parsed.scheme == "package":
            package, rest = parsed.netloc, unquote(parsed.path).lstrip("/")
            for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
                if prefix:
                    yield Path(prefix) / "share" / package / rest
            # In a source tree: the package's folder is above the URDF, or in the search path.
            for folder in (self._folder.resolve(), *self._folder.resolve().parents):
                if folder.name == package:
                    yield folder / rest
                yield folder / package / rest
            for folder in self._search:
                yield folder / package / rest
                yield folder / rest
            return
        if parsed.scheme not in ("", "file"):
            return
        path = Path(unquote(parsed.path) if parsed.scheme else name)
        for folder in (self._folder, *self._search):
            yield folder / path


def _read(path: Path) -> Mesh | str:
    trimesh: Any = importlib.import_module("trimesh")
    with path.open("rb") as file:
        if file.read(len(_LFS_POINTER)) == _LFS_POINTER:
            return "a Git LFS pointer; run `git lfs pull`"
    try:
        loaded = trimesh.load(path, force="mesh")
        vertices = np.asarray(loaded.vertices, dtype=float)
        faces = np.asarray(loaded.faces, dtype=np.uint32)
    except Exception as error:  # trimesh raises what its readers raise
        return f"cannot be read ({error})"
    if not len(faces) or not np.all(np.isfinite(vertices)):
        return "has no triangles"
    return Mesh(vertices, faces, _color(loaded))


def _color(mesh: Any) -> tuple[int, int, int] | None:
    visual = getattr(mesh, "visual", None)
    if visual is None or not getattr(visual, "defined", False):
        return None
    red, green, blue = (int(v) for v in np.asarray(visual.main_color)[:3])
    return red, green, blue
