"""What a robot looks like at a configuration: the visuals of its URDF, and where loops are cut."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.model.urdf.origins import origin_pose
from closed_loop_dynamics.model.urdf.xml import looks_like_xml, parse_xml
from closed_loop_dynamics.robot import Robot

from .solids import Mesh, box, cylinder, read_stl, rod, sphere

GREY = (0.7, 0.7, 0.72)
#: Radius of a stick, relative to the robot's size.
STICK = 0.008


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

    A body of which no visual can be drawn is shown as sticks between its joints.

    Args:
        urdf: the path or text that the robot was loaded from.
    """
    root, _ = parse_xml(urdf)
    is_text = isinstance(urdf, str) and looks_like_xml(urdf)
    folder = None if is_text else Path(urdf).parent
    colors = {m.get("name"): color for m in root.findall("material") if (color := _rgb(m))}
    parts, skipped, seen = [], [], set()
    for link in root.findall("link"):
        T = robot.pose(link.get("name"), y, guess)
        for visual in link.findall("visual"):
            try:
                mesh = _mesh(visual, folder).moved(T @ _origin(visual.find("origin")))
            except _Undrawable as problem:
                skipped.append(f"link '{link.get('name')}': {problem}")
                continue
            material = visual.find("material")
            color = None if material is None else _rgb(material) or colors.get(material.get("name"))
            parts.append(Part(mesh, color or GREY))
            seen.add(link.get("name"))
    parts += _sticks(robot, y, guess, seen)
    return Scene(parts, _cuts(robot, y, guess), skipped)


def _sticks(robot: Robot, y: ArrayLike, guess: ArrayLike | None, seen: set[str]) -> list[Part]:
    """Rods from joint to joint along the bodies of which nothing else can be shown."""
    tree = robot.mechanism.tree
    at = [robot.pose(body.link, y, guess)[:3, 3] for body in tree.bodies]
    rods = [
        (at[body.parent], at[b])
        for b, body in enumerate(tree.bodies)
        if body.parent >= 0 and seen.isdisjoint(tree.bodies[body.parent].links)
    ]
    size = float(np.ptp(np.array(at), axis=0).max()) if at else 0.0
    radius = STICK * size
    return [Part(rod(a, b, radius), GREY) for a, b in rods if np.linalg.norm(b - a) > radius]


class _Undrawable(Exception):
    """Why a visual is left out."""


def _mesh(visual: Any, folder: Path | None) -> Mesh:
    """The solid of a visual in its own frame."""
    geometry = visual.find("geometry")
    solid = next(iter(geometry), None) if geometry is not None else None
    if solid is None:
        raise _Undrawable("a visual without geometry")
    if solid.tag == "box":
        return box(_numbers(solid, "size", 3))
    if solid.tag == "cylinder":
        return cylinder(_numbers(solid, "radius", 1)[0], _numbers(solid, "length", 1)[0])
    if solid.tag == "sphere":
        return sphere(_numbers(solid, "radius", 1)[0])
    if solid.tag != "mesh":
        raise _Undrawable(f"<{solid.tag}> is not known")
    name = solid.get("filename", "")
    file = _find(name, folder)
    if file is None:
        raise _Undrawable(f"mesh '{name}' is not there")
    if file.suffix.lower() != ".stl":
        raise _Undrawable(f"mesh '{name}' is not an STL file")
    scale = _numbers(solid, "scale", 3) if solid.get("scale") else np.ones(3)
    try:
        return read_stl(file, scale)
    except (ValueError, OSError) as problem:
        raise _Undrawable(f"mesh '{name}' cannot be read ({problem})") from None


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
    try:
        r, g, b, _ = [] if color is None else _numbers(color, "rgba", 4).tolist()
    except (_Undrawable, ValueError):
        return None
    return r, g, b


def _origin(element: Any) -> Array:
    if element is None:
        return np.eye(4)
    xyz, rpy = (
        _numbers(element, key, 3) if key in element.attrib else np.zeros(3)
        for key in ("xyz", "rpy")
    )
    return origin_pose(xyz.tolist(), rpy.tolist())


def _numbers(element: Any, key: str, count: int) -> Array:
    text = element.get(key, "")
    try:
        numbers = np.array([float(word) for word in text.split()])
    except ValueError:
        numbers = np.zeros(0)
    if len(numbers) != count or not np.all(np.isfinite(numbers)):
        raise _Undrawable(f'<{element.tag} {key}="{text[:40]}"> needs {count} finite numbers')
    return numbers


def _cuts(robot: Robot, y: ArrayLike, guess: ArrayLike | None) -> Array:
    """(C, 3) where the tree was opened."""
    tree = robot.mechanism.tree
    points = []
    for branch in robot.branches.values():
        for cut in branch.closure.system.cuts:
            link = tree.root_link if cut.predecessor < 0 else tree.bodies[cut.predecessor].link
            points.append((robot.pose(link, y, guess) @ cut.frame_p)[:3, 3])
    return np.array(points).reshape(-1, 3)
