"""Shapes for bodies that the URDF gives none: bars from joint to joint, balls at the joints."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..quantities.links import body_poses
from ..robot import Robot
from .visuals import BOX, CYLINDER, PLAIN, SPHERE, Color, Shape, Visuals

#: Thickness of bars, share of the robot's size.
THICKNESS = 0.012
BALL: Color = (120, 126, 134)


def robot_size(robot: Robot) -> float:
    """How large the robot is: extent of its joints at the reference [m], at least 1 mm."""
    poses = body_poses(robot.mechanism, robot.mechanism.neutral_q())
    points = np.vstack([np.zeros(3), poses[:, :3, 3]])
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
        shapes[body] += [Shape(s.kind, offset @ s.pose, s.size, s.color, s.mesh) for s in found]
    for body, found in shapes.items():
        if not found:
            found += _bars(robot, body, size)
    return shapes


def _bars(robot: Robot, body: int, size: float) -> list[Shape]:
    """From the body's origin to the joints and cuts that it carries."""
    tree, thick = robot.mechanism.tree, THICKNESS * size
    ends = [b.joint.placement[:3, 3] for b in tree.bodies if b.parent == body]
    for branch in robot.branches.values():
        for cut in branch.closure.system.cuts:
            if cut.predecessor == body:
                ends.append(cut.frame_p[:3, 3])
            if cut.successor == body:
                ends.append(cut.frame_s[:3, 3])
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
