"""The kinds of joints, traced: their transform X(q) and the rate of their position.

Whoever adds a kind says here what it does at a position, and in
``model/tree.py`` which positions, velocities and S it has; no algorithm asks for the kind.
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..model.tree import PRISMATIC, Joint
from ..spatial import SX, Transform, rotation, rotation_of_quaternion, sx

#: Smallest squared norm of a quaternion that still names a direction.
QUATERNION = 1e-12


def joint_transform(joint: Joint, q: SX) -> Transform:
    """Pose of the body in its parent body at position ``q`` (n_q, 1)."""
    R, p = sx(joint.placement[:3, :3]), sx(joint.placement[:3, 3])
    if joint.has_quaternion:
        away = q[:-4] if joint.n_v == 6 else ca.SX.zeros(3)
        return Transform(((R, p), (rotation_of_quaternion(q[-4:]), away)))
    if joint.kind == PRISMATIC:
        return Transform(((R, p + R @ (sx(joint.axis) * q)),))
    return Transform(((R, p), (rotation(joint.axis, q), ca.SX.zeros(3))))


def joint_checks(joint: Joint, q: SX) -> list[SX]:
    """What must be positive for ``q`` to name a position: the length of a quaternion."""
    return [ca.sumsqr(q[-4:]) - QUATERNION] if joint.has_quaternion else []


def position_rate(joint: Joint, q: SX, qd: SX) -> SX:
    """dq/dt (n_q, 1) of velocities ``qd`` (n_v, 1)."""
    if not joint.has_quaternion:
        return qd
    quaternion, omega, linear = q[-4:], qd[:3], qd[3:]
    v, s = quaternion[:3], quaternion[3]
    # dQ/dt = Q (omega, 0) / 2 and dp/dt = R linear: the twist is in the body frame.
    turning = 0.5 * ca.vertcat(s * omega + ca.cross(v, omega), -ca.dot(v, omega))
    if joint.n_v == 3:
        return turning
    return ca.vertcat(rotation_of_quaternion(quaternion) @ linear, turning)


def normalised(joint: Joint, q: SX) -> SX:
    """``q`` with its quaternion, if it has one, at length one."""
    if not joint.has_quaternion:
        return q
    return ca.vertcat(q[:-4], q[-4:] / ca.sqrt(ca.sumsqr(q[-4:])))
