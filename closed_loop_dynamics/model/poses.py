"""Where bodies and links are at given joint positions, in plain NumPy, for load time."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..se3 import axis_rotation, pose
from .tree import FLOATING, PRISMATIC, Tree


def body_poses(tree: Tree, q: dict[str, float] | None = None) -> list[Array]:
    """(4, 4) pose of every body in the root frame; joints not in ``q`` (and bases) at zero."""
    poses: list[Array] = []
    for body in tree.bodies:
        joint = body.joint
        T = joint.placement if body.parent < 0 else poses[body.parent] @ joint.placement
        value = (q or {}).get(joint.name, 0.0)
        if joint.kind == FLOATING:
            poses.append(T)
        elif joint.kind == PRISMATIC:
            poses.append(T @ pose(np.eye(3), joint.axis * value))
        else:
            poses.append(T @ pose(axis_rotation(joint.axis, value), np.zeros(3)))
    return poses


def link_pose(tree: Tree, poses: list[Array], link: str) -> Array:
    """(4, 4) pose of any URDF link in the root frame."""
    body, offset = tree.frames[link]
    return offset if body < 0 else poses[body] @ offset
