"""Pose and Jacobian of one link, traced; ``quantities/links.py`` has the same in NumPy."""

from __future__ import annotations

from ..arrays import Array
from ..engine.symbolic import ca
from ..spatial import SX, sx
from .motion import Motion
from .outward import body_poses
from .projection import loop_jacobian


def link_motion(motion: Motion, frame: tuple[int, Array]) -> dict[str, SX]:
    """R (3, 3) and p (3) in the root frame, J (6, m): [angular; linear] in the link frame.

    Args:
        frame: body, and the pose (4, 4) of the link on it.
    """
    mech, (body, offset) = motion.mechanism, frame
    R_at, p_at = body_poses(motion)
    R, p = sx(offset[:3, :3]), sx(offset[:3, 3])
    if body >= 0:
        R, p = R_at[body] @ R, p_at[body] + R_at[body] @ p
    J = ca.SX(6, mech.n)
    for b in mech.tree.path_to_root(body):
        for k, S in enumerate(motion.S[b].columns):
            w = R_at[b] @ S.w
            v = R_at[b] @ S.v + ca.cross(w, p - p_at[b])
            J[:, mech.qd.at[b] + k] = ca.vertcat(R.T @ w, R.T @ v)
    return {"R": R, "p": p, "J": J @ loop_jacobian(motion)}
