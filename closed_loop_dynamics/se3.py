"""Poses in plain NumPy, for load time: homogeneous matrices and the tree at given positions."""

from __future__ import annotations

import numpy as np

from .arrays import Array
from .model.tree import FLOATING, PRISMATIC, Tree


def pose(rotation: Array, position: Array) -> Array:
    """(4, 4) from (3, 3) and (3,)."""
    result = np.eye(4)
    result[:3, :3] = rotation
    result[:3, 3] = position
    return result


def inverse(T: Array) -> Array:
    """Inverse of a rigid pose."""
    R = T[:3, :3]
    return pose(R.T, -R.T @ T[:3, 3])


def axis_rotation(axis: Array, angle: float) -> Array:
    """(3, 3) rotation about a unit axis."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K))


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
