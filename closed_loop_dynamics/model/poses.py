"""Where bodies and links are at given joint positions, in plain NumPy, for load time."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..se3 import axis_rotation, pose
from .tree import REVOLUTE, Joint, Tree

#: Body -> its (4, 4) pose in the root frame; the root itself is body -1.
Poses = dict[int, Array]


def body_poses(tree: Tree, q: dict[str, float] | None = None) -> Poses:
    """Where all bodies are; joints not in ``q`` (and bases) at zero."""
    poses = {-1: np.eye(4)}
    for b, body in enumerate(tree.bodies):
        moved = joint_motion(body.joint, (q or {}).get(body.joint.name, 0.0))
        poses[b] = poses[body.parent] @ body.joint.placement @ moved
    return poses


def joint_motion(joint: Joint, value: float) -> Array:
    """(4, 4) pose of a body in the frame of its joint, of a free base at its origin."""
    if joint.kind == REVOLUTE:
        return pose(axis_rotation(joint.axis, value), np.zeros(3))
    return pose(np.eye(3), joint.axis * value)


def link_pose(tree: Tree, poses: Poses, link: str) -> Array:
    """(4, 4) pose of any URDF link in the root frame."""
    body, offset = tree.frames[link]
    return poses[body] @ offset
