"""Cluster ABA: forward dynamics in minimal coordinates by constraint embedding, O(n).

Jain's constraint embedding in the form of Kumar et al. 2022, Sec. IV, and Chignoli et al., C-ABA.
With the articulated quantities U, D of ``articulated.py``, and t the joint forces that the bias
forces need in the locked cluster,

    p^a = f + U D^-1 u,   u = tau_y - G^T t

(the second pass of the 2022 paper must propagate I^a and p^a, not I^A and p^A).
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..spatial import SX, Spatial
from .articulated import Articulated, ArticulatedCluster, accelerate, articulate
from .joint_forces import joint_friction
from .motion import Motion, base_acceleration
from .outward import velocities


def cluster_aba(
    motion: Motion, tau_y: SX, wrenches: dict[int, Spatial] | None = None
) -> tuple[SX, list[SX]]:
    """Independent accelerations (m, 1), and the pivot check of D of every cluster."""
    mech, tree = motion.mechanism, motion.mechanism.tree
    v, c = velocities(motion)
    g = motion.bias
    zeta = _cluster_bias(motion, g, c)
    articulated = articulate(motion)

    force: dict[int, Spatial] = {}
    for i in range(len(tree.bodies)):
        force[i] = v[i].cross_force(motion.inertia[i].apply(v[i]))
        if wrenches and i in wrenches:
            force[i] = force[i] - wrenches[i]

    # Inward: bias forces, cluster by cluster.
    D_inverse_u: dict[int, SX] = {}
    for k in sorted(articulated.nodes, reverse=True):
        node = articulated.nodes[k]
        D_inverse_u[k] = _bias(articulated, node, tau_y, force, zeta, g)

    # Outward: accelerations.
    ydd = ca.SX.zeros(mech.m)
    a: dict[int, Spatial] = {-1: base_acceleration(mech)}
    for k in sorted(articulated.nodes):
        node = articulated.nodes[k]
        local = D_inverse_u[k] - node.D_inverse_U @ a[node.cluster.parent].stacked
        ydd[node.slots] = local
        accelerate(motion, node, local, a, (g, c))
    return ca.densify(ydd), articulated.pivots


def _cluster_bias(motion: Motion, g: dict[int, SX], c: dict[int, Spatial]) -> dict[int, Spatial]:
    """zeta: accelerations of the bodies while the cluster's ydd and its parent body's are zero."""
    mech = motion.mechanism
    zeta: dict[int, Spatial] = {}
    for i, body in enumerate(mech.tree.bodies):
        zeta[i] = c[i] + motion.S[i] @ g[i]
        if body.parent >= 0 and mech.cluster_of[body.parent] == mech.cluster_of[i]:
            zeta[i] = zeta[i] + motion.X[i].motion_to_child(zeta[body.parent])
    return zeta


def _bias(
    articulated: Articulated,
    node: ArticulatedCluster,
    tau_y: SX,
    force: dict[int, Spatial],
    zeta: dict[int, Spatial],
    g: dict[int, SX],
) -> SX:
    """D^-1 u of a cluster; adds p^a to the parent body in place."""
    motion, index, parent_body = articulated.motion, node.index, node.cluster.parent
    tree = motion.mechanism.tree
    on_parent: list[Spatial] = []
    t = ca.SX.zeros(node.G.shape[0])
    for b in reversed(node.cluster.bodies):
        X, parent = motion.X[b], tree.bodies[b].parent
        force[b] = force[b] + articulated.inertia[b].apply(zeta[b])
        if parent in index:
            force[parent] = force[parent] + X.force_to_parent(force[b])
        elif parent >= 0:
            on_parent.append(X.force_to_parent(force[b]))
        own = joint_friction(motion, b) + motion.joints[b].rotor_inertia * g[b]
        t[index[b]] = motion.S[b].dot(force[b]) + own

    D_inverse_u = node.factor.solve(ca.densify(tau_y[node.slots] - node.G.T @ t))
    if parent_body >= 0:
        for pushed in on_parent:
            force[parent_body] = force[parent_body] + pushed
        force[parent_body] = force[parent_body] + Spatial.of(node.U @ D_inverse_u)
    return D_inverse_u
