"""What a robot looks like, in the new files: shapes, and the mesh files where they are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlparse

from ..model.mesh_place import find_mesh
from ..model.visual import BOX, CYLINDER, MESH, SPHERE, Visual
from .ties import sentences
from .xml_text import Element, add, numbers, quaternion

#: Of an STL file as bytes; text is not read by MuJoCo.
_STL_HEAD, _STL_FACE = 84, 50


class Looks:
    """Visuals of one robot.

    Args:
        source: its file.
        target: the folder that it is written to.

    """

    def __init__(self, source: str, target: Path) -> None:
        self.folder = Path(source).parent if Path(source).is_file() else None
        self.target = target
        self._hidden: dict[str, list[str]] = {}
        self._meshes: dict[tuple[str, tuple[float, ...]], str] = {}

    @property
    def notes(self) -> list[str]:
        """On what is not shown."""
        return sentences(*((f"not shown, {why}", names) for why, names in self._hidden.items()))

    def mesh_reference(self, name: str) -> str:
        """A mesh by its name in the new file: relative paths lead from there."""
        if self.folder is None or urlparse(name).scheme or Path(name).is_absolute():
            return name
        return Path(os.path.relpath(self.folder / name, self.target)).as_posix()

    def add_geoms(self, body: Element, assets: Element, visuals: Iterable[Visual]) -> None:
        """MuJoCo's geoms; they only show."""
        for visual in visuals:
            shape = self._shape(assets, visual)
            if shape:
                at = visual.pose
                color = "" if visual.color is None else numbers((*visual.color, 1.0))
                place = {"pos": numbers(at[:3, 3]), "quat": numbers(quaternion(at[:3, :3]))}
                add(body, "geom", **shape, **place, rgba=color)

    def _shape(self, assets: Element, visual: Visual) -> dict[str, str]:
        """Type and size; empty where MuJoCo cannot show it."""
        if visual.problem:
            return {}
        if visual.kind == MESH:
            name = self._mesh(assets, visual)
            return {"type": "mesh", "mesh": name} if name else {}
        size = visual.size
        if visual.kind == BOX:
            size = tuple(0.5 * edge for edge in size)
        elif visual.kind == CYLINDER:
            size = (size[0], 0.5 * size[1])
        else:
            assert visual.kind == SPHERE
        return {"type": visual.kind, "size": numbers(size)}

    def _mesh(self, assets: Element, visual: Visual) -> str:
        """Name of the asset; empty, and a note, where MuJoCo would refuse the file."""
        key = (visual.mesh, visual.scale)
        if key not in self._meshes:
            path = find_mesh(visual.mesh, self.folder or Path(), ())
            self._meshes[key] = f"mesh {len(self._meshes)}" if _shown(path) else ""
            if path is None or not self._meshes[key]:
                why = "no such file" if path is None else "MuJoCo reads binary STL and OBJ only"
                self._hidden.setdefault(why, []).append(visual.mesh)
            else:
                file = Path(os.path.relpath(path, self.target)).as_posix()
                about = {"scale": numbers(visual.scale), "inertia": "shell"}
                add(assets, "mesh", name=self._meshes[key], file=file, **about)
        return self._meshes[key]


def _shown(path: Path | None) -> bool:
    """Whether MuJoCo reads a mesh file."""
    if path is None or path.suffix.lower() not in (".stl", ".obj"):
        return False
    if path.suffix.lower() == ".obj":
        return True
    with path.open("rb") as file:
        head = file.read(_STL_HEAD)
    faces = int.from_bytes(head[80:84], "little")
    return path.stat().st_size == _STL_HEAD + _STL_FACE * faces and faces > 0
