"""Where bodies and links are at given joint positions, in plain NumPy, for load time."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..se3 import axis_rotation, rotate, unit_quaternion
from .tree import FLOATING, PRISMATIC, Joint, Tree


def joint_motion(joint: Joint, q: Array) -> Array:
    """(..., 4, 4) what a joint does at the first numbers of ``q`` (..., n_q or more)."""
    T = np.zeros((*q.shape[:-1], 4, 4))
    T[...] = np.eye(4)
    if joint.kind == FLOATING:
        T[..., :3, 3] = q[..., :3]
        turned = rotate(unit_quaternion(q[..., None, 3:7]), np.eye(3))
        T[..., :3, :3] = np.swapaxes(turned, -1, -2)
    elif joint.kind == PRISMATIC:
        T[..., :3, 3] = q[..., :1] * joint.axis
    else:
        T[..., :3, :3] = axis_rotation(joint.axis, q[..., :1, None])
    return T


def body_poses(tree: Tree, q: dict[str, float] | None = None) -> list[Array]:
    """(4, 4) pose of every body in the root frame; joints not in ``q`` (and bases) at zero."""
    poses: list[Array] = []
    for body in tree.bodies:
        joint = body.joint
        T = joint.placement if body.parent < 0 else poses[body.parent] @ joint.placement
        value = (q or {}).get(joint.name)
        poses.append(T if value is None else T @ joint_motion(joint, np.array([value])))
    return poses


def link_pose(tree: Tree, poses: list[Array], link: str) -> Array:
    """(4, 4) pose of any URDF link in the root frame."""
    body, offset = tree.frames[link]
    return offset if body < 0 else poses[body] @ offset
