"""What a robot looks like at a configuration: the visuals of its URDF, and where loops are cut."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...model.origins import origin_pose
from ...model.urdf_xml import looks_like_xml, parse_xml
from ...robot import Robot
from .solids import Array, Mesh, box, cylinder, read_stl, sphere

GREY = (0.7, 0.7, 0.72)


@dataclass(frozen=True, eq=False)
class Part:
    """A solid in the world with its colour (red, green, blue from 0 to 1)."""

    mesh: Mesh
    color: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Scene:
    """Solids, cut points (C, 3), and what could not be drawn."""

    parts: list[Part]
    cuts: Array
    skipped: list[str] = field(default_factory=list)


def scene_of(robot: Robot, urdf: str | Path, y: ArrayLike, guess: ArrayLike | None = None) -> Scene:
    """The robot at independent positions ``y``, its loops closed.

    Args:
        urdf: the path or text that the robot was loaded from.
    """
    root, _ = parse_xml(urdf)
    is_text = isinstance(urdf, str) and looks_like_xml(urdf)
    folder = None if is_text else Path(urdf).parent
    colors = {m.get("name"): color for m in root.findall("material") if (color := _rgb(m))}
    parts, skipped = [], []
    for link in root.iter("link"):
        T = robot.pose(link.get("name"), y, guess)
        for visual in link.findall("visual"):
            mesh = _mesh(visual, folder)
            if isinstance(mesh, str):
                skipped.append(f"link '{link.get('name')}': {mesh}")
                continue
            material = visual.find("material")
            color = None if material is None else _rgb(material) or colors.get(material.get("name"))
            parts.append(Part(mesh.moved(T @ _origin(visual.find("origin"))), color or GREY))
    return Scene(parts, _cuts(robot, y, guess), skipped)


def _mesh(visual: Any, folder: Path | None) -> Mesh | str:
    """The solid of a visual in its own frame, or why there is none."""
    geometry = visual.find("geometry")
    solid = next(iter(geometry), None) if geometry is not None else None
    if solid is None:
        return "a visual without geometry"
    if solid.tag == "box":
        return box(_numbers(solid, "size"))
    if solid.tag == "cylinder":
        return cylinder(float(solid.get("radius")), float(solid.get("length")))
    if solid.tag == "sphere":
        return sphere(float(solid.get("radius")))
    if solid.tag != "mesh":
        return f"<{solid.tag}> is not known"
    name = solid.get("filename", "")
    file = _find(name, folder)
    if file is None:
        return f"mesh '{name}' is not there"
    if file.suffix.lower() != ".stl":
        return f"mesh '{name}' is not an STL file"
    scale = _numbers(solid, "scale") if solid.get("scale") else np.ones(3)
    try:
        return read_stl(file, scale)
    except (ValueError, OSError) as problem:
        return f"mesh '{name}' cannot be read ({problem})"


def _find(name: str, folder: Path | None) -> Path | None:
    """A mesh beside the URDF; ``package://`` paths are looked for in the folders above it."""
    if folder is None:
        return None
    inside = name.removeprefix("file://").removeprefix("package://")
    places = [folder, *folder.resolve().parents]
    tails = [inside, inside.partition("/")[2]] if name.startswith("package://") else [inside]
    found = (place / tail for place in places for tail in tails if tail)
    return next((path for path in found if path.is_file()), None)


def _rgb(material: Any) -> tuple[float, float, float] | None:
    color = material.find("color")
    if color is None:
        return None
    r, g, b, *_ = _numbers(color, "rgba").tolist()
    return r, g, b


def _origin(element: Any) -> Array:
    if element is None:
        return np.eye(4)
    zero = "0 0 0"
    xyz, rpy = ([float(word) for word in element.get(key, zero).split()] for key in ("xyz", "rpy"))
    return origin_pose(xyz, rpy)


def _numbers(element: Any, key: str) -> Array:
    return np.array([float(word) for word in element.get(key).split()])


def _cuts(robot: Robot, y: ArrayLike, guess: ArrayLike | None) -> Array:
    """(C, 3) where the tree was opened."""
    tree = robot.mechanism.tree
    points = []
    for branch in robot.branches.values():
        for cut in branch.closure.system.cuts:
            link = tree.root_link if cut.predecessor < 0 else tree.bodies[cut.predecessor].link
            points.append((robot.pose(link, y, guess) @ cut.frame_p)[:3, 3])
    return np.array(points).reshape(-1, 3)
