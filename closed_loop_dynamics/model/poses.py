"""Where bodies and links are at given joint positions, in plain NumPy."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..se3 import axis_rotation, rotate, unit_quaternion
from .tree import FLOATING, PRISMATIC, Joint, Tree

#: Body -> its (4, 4) pose in the root frame; the root itself is body -1.
Poses = dict[int, Array]


def joint_motion(joint: Joint, q: Array) -> Array:
    """(..., 4, 4) what a joint does at the first numbers of ``q`` (..., n_q or more)."""
    T = np.zeros((*q.shape[:-1], 4, 4))
    T[...] = np.eye(4)
    if joint.has_quaternion:
        if joint.kind == FLOATING:
            T[..., :3, 3] = q[..., :3]
        turned = rotate(unit_quaternion(q[..., None, joint.n_q - 4 : joint.n_q]), np.eye(3))
        T[..., :3, :3] = np.swapaxes(turned, -1, -2)
    elif joint.kind == PRISMATIC:
        T[..., :3, 3] = q[..., :1] * joint.axis
    else:
        T[..., :3, :3] = axis_rotation(joint.axis, q[..., :1, None])
    return T


def body_poses(tree: Tree, q: dict[str, float] | None = None) -> Poses:
    """Where all bodies are; joints not in ``q`` (and bases) at zero."""
    poses = {-1: np.eye(4)}
    for b, body in enumerate(tree.bodies):
        joint = body.joint
        poses[b] = poses[body.parent] @ joint.placement
        if q and joint.name in q and not joint.has_quaternion:
            poses[b] = poses[b] @ joint_motion(joint, np.array([q[joint.name]]))
    return poses


def link_pose(tree: Tree, poses: Poses, link: str) -> Array:
    """(4, 4) pose of any URDF link in the root frame."""
    body, offset = tree.frames[link]
    return poses[body] @ offset
