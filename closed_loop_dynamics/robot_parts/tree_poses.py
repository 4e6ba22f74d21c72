"""Where the bodies and the two sides of every cut are, at given spanning positions: for pictures.

The positions need not close the loops, so that measured joints can be shown as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..mechanism import Mechanism
from ..model.tree import FLOATING, PRISMATIC, Joint

if TYPE_CHECKING:
    from ..robot import Robot


def body_poses(mech: Mechanism, q: Array) -> Array:
    """(..., bodies, 4, 4) poses of all bodies in the root frame at ``q`` (..., n_q)."""
    q = np.asarray(q, dtype=float)
    poses = np.empty((*q.shape[:-1], len(mech.tree.bodies), 4, 4))
    for b, body in enumerate(mech.tree.bodies):
        T = body.joint.placement @ _move(body.joint, q[..., mech.q_at[b] :])
        poses[..., b, :, :] = T if body.parent < 0 else poses[..., body.parent, :, :] @ T
    return poses


def _move(joint: Joint, q: Array) -> Array:
    """(..., 4, 4) what a joint does at the first numbers of ``q``."""
    T = np.zeros((*q.shape[:-1], 4, 4))
    T[..., :, :] = np.eye(4)
    if joint.kind == FLOATING:
        T[..., :3, 3] = q[..., :3]
        T[..., :3, :3] = _rotation(q[..., 3:7])
    elif joint.kind == PRISMATIC:
        T[..., :3, 3] = q[..., :1] * joint.axis
    else:
        half = 0.5 * q[..., :1]
        T[..., :3, :3] = _rotation(np.concatenate([np.sin(half) * joint.axis, np.cos(half)], -1))
    return T


def _rotation(quaternion: Array) -> Array:
    """(..., 3, 3) of (..., 4) x, y, z, w."""
    x, y, z, w = np.moveaxis(quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def cut_points(robot: Robot, poses: Sequence[Array] | Array) -> list[tuple[Array, Array]]:
    """Both sides of each cut in the root frame; they coincide where the loop is closed.

    ``poses`` are those of one configuration, (bodies, 4, 4).
    """
    pairs = []
    for branch in robot.branches.values():
        for cut in branch.closure.system.cuts:
            T_p = np.eye(4) if cut.predecessor < 0 else poses[cut.predecessor]
            T_s = np.eye(4) if cut.successor < 0 else poses[cut.successor]
            pairs.append(((T_p @ cut.frame_p)[:3, 3], (T_s @ cut.frame_s)[:3, 3]))
    return pairs
