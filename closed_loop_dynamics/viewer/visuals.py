"""What the links look like: the <visual> elements of a URDF as shapes. No viser in here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..model.urdf.origins import origin_pose
from ..model.urdf.xml import parse_xml
from .mesh_files import Mesh, MeshFiles

Color = tuple[int, int, int]
BOX, CYLINDER, SPHERE, MESH = "box", "cylinder", "sphere", "mesh"
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


def read_visuals(urdf: str | Path, search_path: Sequence[Path] = ()) -> Visuals:
    """Shapes of a URDF, given as its path or text; unreadable ones are left out and listed.

    Args:
        search_path: folders in which mesh files and ROS packages are looked for as well.
    """
    root, file = parse_xml(urdf)
    meshes = MeshFiles(Path(file).parent, search_path)
    colors = {m.get("name"): _rgba(m) for m in root.findall("material")}
    found = Visuals()
    for link in root.findall("link"):
        shapes = []
        for visual in link.findall("visual"):
            shape = _shape(visual, colors, meshes, found.missing)
            if shape is not None:
                shapes.append(shape)
        if shapes:
            found.shapes[link.get("name")] = shapes
    return found


def _shape(
    visual: Any, colors: dict[str, Color | None], meshes: MeshFiles, missing: dict[str, str]
) -> Shape | None:
    pose = _origin(visual.find("origin"))
    material = visual.find("material")
    color = None
    if material is not None:
        color = _rgba(material) or colors.get(material.get("name"))
    geometry = visual.find("geometry")
    element = geometry[0] if geometry is not None and len(geometry) else None
    if element is None or pose is None:
        return None
    if element.tag == "mesh":
        name = element.get("filename", "")
        loaded = meshes.load(name, _numbers(element.get("scale"), 3) or [1.0, 1.0, 1.0])
        if isinstance(loaded, str):
            missing[name] = loaded
            return None
        return Shape(MESH, pose, color=color or loaded.color or PLAIN, mesh=loaded)
    sizes = {
        BOX: _numbers(element.get("size"), 3),
        CYLINDER: _numbers(f"{element.get('radius')} {element.get('length')}", 2),
        SPHERE: _numbers(element.get("radius"), 1),
    }
    size = sizes.get(element.tag)
    if size is None or not all(value > 0.0 for value in size):
        return None
    return Shape(element.tag, pose, tuple(size), color or PLAIN)


def _rgba(material: Any) -> Color | None:
    color = material.find("color")
    values = _numbers(color.get("rgba"), 4) if color is not None else None
    if values is None:
        return None
    red, green, blue = (round(255 * min(max(v, 0.0), 1.0)) for v in values[:3])
    return red, green, blue


def _origin(element: Any) -> Array | None:
    if element is None:
        return np.eye(4)
    xyz, rpy = (_numbers(element.get(key, "0 0 0"), 3) for key in ("xyz", "rpy"))
    return None if xyz is None or rpy is None else origin_pose(xyz, rpy)


def _numbers(text: str | None, count: int) -> list[float] | None:
    """``count`` finite numbers, or None: a picture with a gap is better than none."""
    try:
        values = [float(word) for word in (text or "").split()]
    except ValueError:
        return None
    return values if len(values) == count and np.all(np.isfinite(values)) else None
