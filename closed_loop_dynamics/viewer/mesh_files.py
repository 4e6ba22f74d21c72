"""Reads mesh files (through trimesh, which viser brings along)."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array

Color = tuple[int, int, int]
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
    color: Color | None = None

    def scaled(self, scale: Sequence[float]) -> Mesh:
        """Along the axes; a mirrored one keeps its outside outside."""
        faces = self.faces[:, ::-1] if np.prod(scale) < 0 else self.faces
        return Mesh(self.vertices * np.asarray(scale), faces, self.color)


def read_mesh(path: Path) -> Mesh | str:
    """A mesh, or the reason why there is none."""
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


def _color(mesh: Any) -> Color | None:
    visual = getattr(mesh, "visual", None)
    if visual is None or not getattr(visual, "defined", False):
        return None
    red, green, blue = (int(v) for v in np.asarray(visual.main_color)[:3])
    return red, green, blue
