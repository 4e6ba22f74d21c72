"""What the links look like: the visuals of a description as shapes. No viser in here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..arrays import Array
from ..model.tree import Tree
from ..model.visual import BOX, CYLINDER, MESH, SPHERE, Visual
from .mesh_files import Mesh, MeshFiles

__all__ = ["BOX", "CYLINDER", "MESH", "PLAIN", "SPHERE", "Color", "Shape", "Visuals", "shapes_of"]

Color = tuple[int, int, int]
#: Of shapes whose URDF names no colour.
PLAIN: Color = (196, 200, 206)


@dataclass(frozen=True, eq=False)
class Shape:
    """One visible thing that is fixed to a link.

    Attributes:
        kind: BOX, CYLINDER (along z), SPHERE or MESH.
        pose: (4, 4) in the frame of the link (or body) that carries it.
        size: box: edges; cylinder: radius, length; sphere: radius [m].
        mesh: triangles, for MESH.
    """

    kind: str
    pose: Array
    size: tuple[float, ...] = ()
    color: Color = PLAIN
    mesh: Mesh | None = None


@dataclass
class Visuals:
    """The looks of a robot.

    Attributes:
        shapes: link -> its shapes.
        missing: mesh files that were not found or cannot be read, with the reason.
    """

    shapes: dict[str, list[Shape]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def shapes_of(tree: Tree, search_path: Sequence[Path] = ()) -> Visuals:
    """Shapes of a robot; what cannot be shown is left out, mesh files among it are listed.

    Args:
        search_path: folders in which mesh files and ROS packages are looked for as well.
    """
    meshes = MeshFiles(Path(tree.source).parent, search_path)
    found = Visuals()
    for link, visuals in tree.visuals.items():
        shapes = [_shape(visual, meshes, found.missing) for visual in visuals if not visual.problem]
        if any(shapes):
            found.shapes[link] = [shape for shape in shapes if shape is not None]
    return found


def _shape(visual: Visual, meshes: MeshFiles, missing: dict[str, str]) -> Shape | None:
    color = None if visual.color is None else _color(visual.color)
    if visual.kind != MESH:
        return Shape(visual.kind, visual.pose, visual.size, color or PLAIN)
    loaded = meshes.load(visual.mesh, visual.scale)
    if isinstance(loaded, str):
        missing[visual.mesh] = loaded
        return None
    return Shape(MESH, visual.pose, color=color or loaded.color or PLAIN, mesh=loaded)


def _color(given: tuple[float, float, float]) -> Color:
    red, green, blue = (round(255 * min(max(v, 0.0), 1.0)) for v in given)
    return red, green, blue
