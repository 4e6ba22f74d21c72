"""What a robot looks like at a configuration: its visuals, and where loops are cut."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.model.text_source import TEXT_FILE
from closed_loop_dynamics.model.visual import BOX, CYLINDER, SPHERE, Visual
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


def scene_of(robot: Robot, y: ArrayLike, guess: ArrayLike | None = None) -> Scene:
    """The robot at independent positions ``y``, its loops closed.

    A body of which no visual can be drawn is shown as sticks between its joints.
    """
    tree = robot.mechanism.tree
    folder = None if tree.source == TEXT_FILE else Path(tree.source).parent
    parts, skipped, seen = [], [], set()
    for link, visuals in tree.visuals.items():
        T = robot.pose(link, y, guess)
        for visual in visuals:
            try:
                mesh = _mesh(visual, folder).moved(T @ visual.pose)
            except _Undrawable as problem:
                skipped.append(f"link '{link}': {problem}")
                continue
            parts.append(Part(mesh, visual.color or GREY))
            seen.add(link)
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


def _mesh(visual: Visual, folder: Path | None) -> Mesh:
    """The solid of a visual in its own frame."""
    if visual.problem:
        raise _Undrawable(visual.problem)
    if visual.kind == BOX:
        return box(np.array(visual.size))
    if visual.kind == CYLINDER:
        return cylinder(*visual.size)
    if visual.kind == SPHERE:
        return sphere(*visual.size)
    name = visual.mesh
    file = _find(name, folder)
    if file is None:
        raise _Undrawable(f"mesh '{name}' is not there")
    if file.suffix.lower() != ".stl":
        raise _Undrawable(f"mesh '{name}' is not an STL file")
    try:
        return read_stl(file, np.array(visual.scale))
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


def _cuts(robot: Robot, y: ArrayLike, guess: ArrayLike | None) -> Array:
    """(C, 3) where the tree was opened."""
    tree = robot.mechanism.tree
    points = []
    for branch in robot.branches.values():
        for cut in branch.closure.system.cuts:
            link = tree.root_link if cut.predecessor < 0 else tree.bodies[cut.predecessor].link
            points.append((robot.pose(link, y, guess) @ cut.frame_p)[:3, 3])
    return np.array(points).reshape(-1, 3)
