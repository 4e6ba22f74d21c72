"""Cluster RNEA: inverse dynamics of the closed-loop robot in one outward and one inward pass.

Chignoli et al., C-RNEA, and the modular RNEA of Kumar and Mueller 2019. A cluster's motion subspace
is S_C = X_intra diag(S_i) G; multiplying G in at the ends (qd = G yd, qdd = G ydd + g going out,
tau_y = G^T tau coming in) costs less than forming it, and is the same sum.
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..spatial import SX, Spatial
from .joint_forces import joint_friction
from .motion import Motion, base_acceleration
from .outward import accelerations, velocities


def tree_forces(
    motion: Motion,
    qdd: dict[int, SX] | None,
    wrenches: dict[int, Spatial] | None = None,
    gravity: bool = True,
) -> dict[int, SX]:
    """tau of every spanning-tree joint for accelerations ``qdd`` (None: zero).

    ``wrenches`` act on the bodies, in body frames.
    """
    mech, bodies = motion.mechanism, motion.mechanism.tree.bodies
    if qdd is None:
        qdd = {i: ca.SX.zeros(body.joint.n_v) for i, body in enumerate(bodies)}

    # Outward: velocities, accelerations, net forces of the bodies.
    v, c = velocities(motion)
    a = accelerations(motion, c, qdd, base_acceleration(mech) if gravity else Spatial.zero())
    f: dict[int, Spatial] = {}
    for i in range(len(bodies)):
        inertia = motion.inertia[i]
        f[i] = inertia.apply(a[i]) + v[i].cross_force(inertia.apply(v[i]))
        if wrenches and i in wrenches:
            f[i] = f[i] - wrenches[i]

    # Inward: joint forces, accumulated at the parents.
    tau: dict[int, SX] = {}
    for i in reversed(range(len(bodies))):
        own = joint_friction(motion, i) + motion.joints[i].rotor_inertia * qdd[i]
        tau[i] = motion.S[i].dot(f[i]) + own
        if bodies[i].parent >= 0:
            f[bodies[i].parent] = f[bodies[i].parent] + motion.X[i].force_to_parent(f[i])
    return tau


def cluster_rnea(
    motion: Motion, ydd: SX | None, wrenches: dict[int, Spatial] | None = None, gravity: bool = True
) -> SX:
    """tau_y (m, 1) [N or N m] of the motion with independent accelerations ``ydd``.

    ``ydd=None`` with velocities gives the bias C_y (g counts); without velocities, gravity.
    """
    qdd = motion.bias if ydd is None else motion.accelerations(ydd)
    return motion.reduce(tree_forces(motion, qdd, wrenches, gravity))
