"""Cluster RNEA: inverse dynamics of the closed-loop robot in one outward and one inward pass.

Chignoli et al., C-RNEA, and the modular RNEA of Kumar and Mueller 2019. A cluster's motion subspace
is S_C = X_intra diag(S_i) G; multiplying G in at the ends (qd = G yd, qdd = G ydd + g going out,
tau_y = G^T tau coming in) costs less than forming it, and is the same sum.
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..model.tree import FLOATING
from ..spatial import SX, Spatial
from .joint_forces import joint_friction, joint_inertia
from .motion import Motion, base_acceleration


def tree_forces(
    motion: Motion,
    qdd: dict[int, SX] | None,
    wrenches: dict[int, Spatial] | None = None,
    gravity: bool = True,
) -> dict[int, SX]:
    """tau of every spanning-tree joint for accelerations ``qdd`` (None: at rest).

    ``wrenches`` act on the bodies, in body frames.
    """
    mech, tree = motion.mechanism, motion.mechanism.tree
    root = base_acceleration(mech) if gravity else Spatial.zero()
    v: dict[int, Spatial] = {-1: Spatial.zero()}
    a: dict[int, Spatial] = {-1: root}
    f: dict[int, Spatial] = {}
    tau: dict[int, SX] = {}

    # Outward: velocities, accelerations, net forces of the bodies.
    for i, body in enumerate(tree.bodies):
        X, S = motion.X[i], motion.S[i]
        v[i] = X.motion_to_child(v[body.parent])
        a[i] = X.motion_to_child(a[body.parent])
        if body.joint.kind == FLOATING:
            if motion.yd is not None:
                v[i] = v[i] + Spatial.of(motion.qd[i])
            if qdd is not None:
                a[i] = a[i] + Spatial.of(qdd[i])
        else:
            if motion.yd is not None:
                vJ = S * motion.qd[i]
                v[i] = v[i] + vJ
                a[i] = a[i] + v[i].cross_motion(vJ)
            if qdd is not None:
                a[i] = a[i] + S * qdd[i]
        inertia = motion.inertia(i)
        f[i] = inertia.apply(a[i])
        if motion.yd is not None:
            f[i] = f[i] + v[i].cross_force(inertia.apply(v[i]))
        if wrenches and i in wrenches:
            f[i] = f[i] - wrenches[i]

    # Inward: joint forces, accumulated at the parents.
    for i in reversed(range(len(tree.bodies))):
        body = tree.bodies[i]
        if body.joint.kind == FLOATING:
            tau[i] = f[i].stacked
        else:
            tau[i] = motion.S[i].dot(f[i]) + joint_friction(motion, i)
            if qdd is not None:
                tau[i] = tau[i] + joint_inertia(motion, i) * qdd[i]
        if body.parent >= 0:
            f[body.parent] = f[body.parent] + motion.X[i].force_to_parent(f[i])
    return tau


def cluster_rnea(
    motion: Motion,
    ydd: SX | None,
    wrenches: dict[int, Spatial] | None = None,
    gravity: bool = True,
) -> SX:
    """tau_y (m, 1) [N or N m] of the motion with independent accelerations ``ydd``.

    ``ydd=None`` with velocities gives the bias C_y (g counts); without velocities, gravity.
    """
    if ydd is None and motion.yd is not None:
        ydd = ca.SX.zeros(motion.mechanism.m)
    qdd = None if ydd is None else motion.accelerations(ydd)
    return motion.reduce(tree_forces(motion, qdd, wrenches, gravity))
