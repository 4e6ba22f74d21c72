"""Reads mesh files (through trimesh, which viser brings along)."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array

Color = tuple[int, int, int]
#: A file that Git LFS has not fetched begins with this.
_LFS_POINTER = b"version https://git-lfs"
NOT_FOUND = "not found"


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles.

    Attributes:
        vertices: (V, 3) [m]; faces: (F, 3) indices.
        color: the usual one of the file, if it has any.
        looks: all of its colours and textures as binary glTF, to be shown ``scale`` times as large.
    """

    vertices: Array
    faces: NDArray[np.uint32]
    color: Color | None = None
    looks: bytes | None = None
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)

    def scaled(self, scale: Sequence[float]) -> Mesh:
        """Along the axes; a mirrored one keeps its outside outside."""
        faces = self.faces[:, ::-1] if np.prod(scale) < 0 else self.faces
        vertices = self.vertices * np.asarray(scale)
        return replace(self, vertices=vertices, faces=faces, scale=tuple(scale))


def read_mesh(path: Path) -> Mesh | str:
    """A mesh, in metres where the file has a unit (Collada), or the reason why there is none."""
    try:
        trimesh: Any = importlib.import_module("trimesh")
        with path.open("rb") as file:
            if file.read(len(_LFS_POINTER)) == _LFS_POINTER:
                return "a Git LFS pointer; run `git lfs pull`"
        scene = trimesh.load(path, force="scene")
        if scene.units not in (None, "meters"):
            scene = scene.convert_units("meters")
        whole = scene.to_mesh()
        vertices = np.asarray(whole.vertices, dtype=float)
        faces = np.asarray(whole.faces, dtype=np.uint32)
        if not len(faces) or not np.all(np.isfinite(vertices)):
            return "has no triangles"
        largest = max(scene.geometry.values(), key=lambda part: float(part.area))
        color = _color(largest.visual)
        return Mesh(vertices, faces, color, scene.export(file_type="glb") if color else None)
    except Exception as error:  # trimesh raises what its readers raise, if it is there at all
        return f"cannot be read ({error})"


def _color(visual: Any) -> Color | None:
    """The most frequent one; of a texture, at the corners of the triangles."""
    if not visual.defined:
        return None
    if visual.kind == "texture":
        image = any(getattr(visual.material, at, None) for at in ("image", "baseColorTexture"))
        visual = visual.to_color() if image and visual.uv is not None else visual.material
    red, green, blue = (int(v) for v in np.asarray(visual.main_color)[:3])
    return red, green, blue
