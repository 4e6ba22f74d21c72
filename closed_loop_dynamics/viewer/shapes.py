"""What the robot looks like: the visuals of its description as shapes; bars from joint to joint and
balls at the joints for bodies that have none. No viser in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from ..arrays import Array
from ..model.mesh_place import find_mesh
from ..model.tree import Tree
from ..model.visual import BOX, CYLINDER, MESH, SPHERE, Visual
from ..quantities.links import body_poses
from ..robot import Robot
from .mesh_files import NOT_FOUND, Color, Mesh, read_mesh

#: Of shapes whose URDF names no colour.
PLAIN: Color = (196, 200, 206)
#: Thickness of bars, share of the robot's size.
THICKNESS = 0.012
BALL: Color = (120, 126, 134)


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

    def notes(self) -> list[str]:
        """A line for each reason why meshes are missing, with their names."""
        lines = []
        for reason in dict.fromkeys(self.missing.values()):
            names = [name for name, why in self.missing.items() if why == reason]
            hint = " (--search-path names further folders)" * (reason == NOT_FOUND)
            lines.append(f"note: bars stand for meshes, {reason}{hint}: {', '.join(names)}")
        return lines


def shapes_of(tree: Tree, search_path: Sequence[Path] = ()) -> Visuals:
    """Shapes of a robot; what cannot be shown is left out, mesh files among it are listed.

    Args:
        search_path: folders in which mesh files and ROS packages are looked for as well.
    """
    folder, read, found = Path(tree.source).parent, cache(read_mesh), Visuals()

    def shape(visual: Visual) -> Shape | None:
        color = None if visual.color is None else _color(visual.color)
        if visual.kind != MESH:
            return Shape(visual.kind, visual.pose, visual.size, color or PLAIN)
        path = find_mesh(visual.mesh, folder, search_path)
        mesh = NOT_FOUND if path is None else read(path)
        if isinstance(mesh, str):
            found.missing[visual.mesh] = mesh
            return None
        mesh = mesh.scaled(visual.scale)
        if color is not None:  # the robot's file has the last word
            mesh = replace(mesh, looks=None)
        return Shape(MESH, visual.pose, color=color or mesh.color or PLAIN, mesh=mesh)

    for link, visuals in tree.visuals.items():
        shapes = [shape(visual) for visual in visuals if not visual.problem]
        if any(shapes):
            found.shapes[link] = [one for one in shapes if one is not None]
    return found


def _color(given: tuple[float, float, float]) -> Color:
    red, green, blue = (round(255 * min(max(v, 0.0), 1.0)) for v in given)
    return red, green, blue


# -- bars -----------------------------------------------------------------------------------------


def robot_size(robot: Robot) -> float:
    """How large the robot is: extent of its joints and masses at q = 0 [m], at least 1 mm."""
    poses = body_poses(robot.mechanism, robot.mechanism.neutral_q())
    bodies = robot.mechanism.tree.bodies
    middles = [b.first_moment / b.mass if b.mass > 0.0 else np.zeros(3) for b in bodies]
    masses = np.einsum("nij,nj->ni", poses[:, :3, :3], middles) + poses[:, :3, 3]
    points = np.vstack([np.zeros(3), poses[:, :3, 3], masses])
    extent = float(np.max(np.ptp(points, axis=0)))
    return max(extent, 1e-3) if extent > 0.0 else 1.0


def link_size(robot: Robot) -> float:
    """Size of what is drawn on a robot with links of usual length: at most its own size [m]."""
    bodies = robot.mechanism.tree.bodies
    lengths = [float(np.linalg.norm(b.joint.placement[:3, 3])) for b in bodies]
    usual = float(np.median([length for length in lengths if length > 1e-6] or [np.inf]))
    return min(robot_size(robot), 7.0 * usual)


def body_shapes(robot: Robot, visuals: Visuals, size: float) -> dict[int, list[Shape]]:
    """Body (-1: the root) -> shapes in its frame; bars where no link of the body has any."""
    tree = robot.mechanism.tree
    shapes: dict[int, list[Shape]] = {b: [] for b in range(-1, len(tree.bodies))}
    for link, found in visuals.shapes.items():
        body, offset = tree.frames[link]
        shapes[body] += [replace(shape, pose=offset @ shape.pose) for shape in found]
    for body, found in shapes.items():
        if not found:
            found += _bars(robot, body, size)
    return shapes


def _bars(robot: Robot, body: int, size: float) -> list[Shape]:
    """From the body's origin to the joints and cuts that it carries."""
    tree, thick = robot.mechanism.tree, THICKNESS * size
    ends = [b.joint.placement[:3, 3] for b in tree.bodies if b.parent == body]
    cuts = [cut for branch in robot.branches.values() for cut in branch.closure.system.cuts]
    ends += [cut.frame_p[:3, 3] for cut in cuts if cut.predecessor == body]
    ends += [cut.frame_s[:3, 3] for cut in cuts if cut.successor == body]
    shapes = [Shape(SPHERE, np.eye(4), (0.9 * thick,), BALL)] if body >= 0 else []
    for end in ends:
        length = float(np.linalg.norm(end))
        if length > 0.2 * thick:
            shapes.append(Shape(CYLINDER, along(np.zeros(3), end), (0.5 * thick, length), PLAIN))
    if body < 0 and not shapes:
        shapes.append(Shape(BOX, np.eye(4), (4 * thick, 4 * thick, thick), BALL))
    return shapes


def along(start: Array, end: Array) -> Array:
    """(4, 4) pose in the middle between two points, its z axis from one to the other."""
    pose = np.eye(4)
    z = (end - start) / np.linalg.norm(end - start)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    pose[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    pose[:3, 3] = 0.5 * (start + end)
    return pose
