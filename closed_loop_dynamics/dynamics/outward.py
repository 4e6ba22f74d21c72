"""The outward pass that all algorithms share: poses, velocities, their products, accelerations.

Featherstone 2008, Sec. 5.3, in body frames: with the joint's own motion vJ = S qd,

    v_i = X_i v_parent + vJ,    c_i = v_i x vJ,    a_i = X_i a_parent + c_i + S_i qdd_i.

It holds for joints of any number of velocities; S is constant in the body frame.
"""

from __future__ import annotations

from ..spatial import SX, Spatial
from .motion import Motion


def body_poses(motion: Motion) -> tuple[dict[int, SX], dict[int, SX]]:
    """Orientation R and origin p of every body in the root frame."""
    R: dict[int, SX] = {}
    p: dict[int, SX] = {}
    for i, body in enumerate(motion.mechanism.tree.bodies):
        R_i, p_i = motion.X[i].matrix
        if body.parent >= 0:
            p_i = p[body.parent] + R[body.parent] @ p_i
            R_i = R[body.parent] @ R_i
        R[i], p[i] = R_i, p_i
    return R, p


def velocities(motion: Motion) -> tuple[dict[int, Spatial], dict[int, Spatial]]:
    """Body -> its velocity v (-1: the root), and body -> the velocity product c of its joint."""
    v: dict[int, Spatial] = {-1: Spatial.zero()}
    c: dict[int, Spatial] = {}
    for i, body in enumerate(motion.mechanism.tree.bodies):
        vJ = motion.S[i] @ motion.qd[i]
        carried = motion.X[i].motion_to_child(v[body.parent])
        # v x vJ, without vJ x vJ = 0: nothing is left of it for joints that stand on the root.
        v[i], c[i] = carried + vJ, carried.cross_motion(vJ)
    return v, c


def accelerations(
    motion: Motion, c: dict[int, Spatial], qdd: dict[int, SX], root: Spatial
) -> dict[int, Spatial]:
    """Body -> its acceleration, for that of the root (gravity enters there)."""
    a: dict[int, Spatial] = {-1: root}
    for i, body in enumerate(motion.mechanism.tree.bodies):
        a[i] = body_acceleration(motion, i, a[body.parent], c[i], qdd[i])
    return a


def body_acceleration(motion: Motion, body: int, a_parent: Spatial, c: Spatial, qdd: SX) -> Spatial:
    """Of one body, from that of its parent body."""
    return motion.X[body].motion_to_child(a_parent) + c + motion.S[body] @ qdd
