"""Cluster ABA: forward dynamics in minimal coordinates by constraint embedding, O(n).

Jain's constraint embedding in the form of Kumar et al. 2022, Sec. IV, and Chignoli et al., C-ABA.
With the articulated quantities U, D of ``articulated.py``, and t the joint forces that the bias
forces need in the locked cluster,

    p^a = f + U D^-1 u,   u = tau_y - G^T t

(the second pass of the 2022 paper must propagate I^a and p^a, not I^A and p^A).
"""

from __future__ import annotations

from ..closure.small_linear import Cholesky
from ..engine.symbolic import ca
from ..spatial import SX, Spatial
from .articulated import Articulated, ArticulatedCluster, accelerate, articulate
from .joint_forces import joint_friction, joint_inertia
from .motion import Motion, base_acceleration


def cluster_aba(
    motion: Motion, tau_y: SX, wrenches: dict[int, Spatial] | None = None
) -> tuple[SX, list[SX]]:
    """Independent accelerations (m, 1), and the smallest pivot of D of every cluster."""
    mech, tree = motion.mechanism, motion.mechanism.tree
    g = _loop_bias(motion)
    v, c, zeta = _outward_velocities(motion, g)
    articulated = articulate(motion)

    force: dict[int, Spatial] = {}
    for i in range(len(tree.bodies)):
        force[i] = v[i].cross_force(motion.inertia(i).apply(v[i]))
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
    if articulated.base is not None:
        ydd[:6], a[0] = _free_flyer(motion, articulated.base[1], tau_y[:6], force[0], a[-1])
    for k in sorted(articulated.nodes):
        node = articulated.nodes[k]
        local = D_inverse_u[k] - node.D_inverse_U @ a[node.cluster.parent].stacked
        for i, at in enumerate(node.slots):
            ydd[at] = local[i]
        accelerate(motion, node, local, a, g, c)
    return ca.densify(ydd), articulated.pivots


def _outward_velocities(
    motion: Motion, g: dict[int, SX]
) -> tuple[dict[int, Spatial], dict[int, Spatial], dict[int, Spatial]]:
    """Velocities v, velocity-product accelerations c, and the bias zeta inside each cluster."""
    mech, tree = motion.mechanism, motion.mechanism.tree
    v: dict[int, Spatial] = {-1: Spatial.zero()}
    c: dict[int, Spatial] = {}
    zeta: dict[int, Spatial] = {}
    cluster_of = {b: k for k, cluster in enumerate(mech.clusters) for b in cluster.bodies}
    for i, body in enumerate(tree.bodies):
        X, S = motion.X[i], motion.S[i]
        v[i] = X.motion_to_child(v[body.parent])
        if mech.floating and i == 0:
            v[i] = v[i] + Spatial.of(motion.qd[i])
            c[i] = zeta[i] = Spatial.zero()
            continue
        vJ = S * motion.qd[i]
        v[i] = v[i] + vJ
        c[i] = v[i].cross_motion(vJ)
        zeta[i] = c[i] + S * g[i]
        if body.parent >= 0 and cluster_of[body.parent] == cluster_of[i]:
            zeta[i] = zeta[i] + X.motion_to_child(zeta[body.parent])
    return v, c, zeta


def _loop_bias(motion: Motion) -> dict[int, SX]:
    result: dict[int, SX] = {}
    for k, component in enumerate(motion.mechanism.components):
        if not motion.mechanism.is_floating(k):
            for i, b in enumerate(component.joints):
                result[b] = motion.loops[k].g[i]
    return result


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
    t = ca.SX.zeros(len(index))
    for b in reversed(node.cluster.bodies):
        X, parent = motion.X[b], tree.bodies[b].parent
        force[b] = force[b] + articulated.inertia[b].apply(zeta[b])
        if parent in index:
            force[parent] = force[parent] + X.force_to_parent(force[b])
        elif parent >= 0:
            on_parent.append(X.force_to_parent(force[b]))
        own = joint_friction(motion, b) + joint_inertia(motion, b) * g[b]
        t[index[b]] = motion.S[b].dot(force[b]) + own

    tau = ca.vertcat(*(tau_y[at] for at in node.slots))
    D_inverse_u = node.factor.solve(ca.densify(tau - node.G.T @ t))
    if parent_body >= 0:
        for pushed in on_parent:
            force[parent_body] = force[parent_body] + pushed
        force[parent_body] = force[parent_body] + Spatial.of(node.U @ D_inverse_u)
    return D_inverse_u


def _free_flyer(
    motion: Motion, inertia: Cholesky, tau: SX, force: Spatial, a_root: Spatial
) -> tuple[SX, Spatial]:
    """I a + p = tau for the base; its acceleration is a minus the fictitious one of the root."""
    a = Spatial.of(inertia.solve(ca.densify(tau - force.stacked)))
    ydd = a - motion.X[0].motion_to_child(a_root)
    return ydd.stacked, a
