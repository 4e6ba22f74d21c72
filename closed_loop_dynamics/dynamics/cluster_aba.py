"""Cluster ABA: forward dynamics in minimal coordinates by constraint embedding, O(n).

Jain's constraint embedding in the form of Kumar et al. 2022, Sec. IV, and Chignoli et al., C-ABA.
Within a cluster the bodies share the independent coordinates: with H the composite-inertia matrix
of the cluster's joints and P their forces on the parent body,

    D = G^T H G,   U = P G,   I^a = I^C - U D^-1 U^T,   p^a = f + U D^-1 u,   u = tau_y - G^T t

(the second pass of the 2022 paper must propagate I^a and p^a, not I^A and p^A).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..closure.small_linear import cholesky_solve
from ..engine.symbolic import ca
from ..model.clusters import Cluster
from ..spatial import SX, Spatial
from .joint_forces import joint_friction, joint_inertia
from .motion import Motion, base_acceleration


@dataclass
class _Embedded:
    """What the second pass keeps of a cluster for the third."""

    D_inverse_U: SX  # (m_c, 6): D^-1 U^T
    D_inverse_u: SX  # (m_c, 1)


def cluster_aba(
    motion: Motion, tau_y: SX, wrenches: dict[int, Spatial] | None = None
) -> tuple[SX, list[SX]]:
    """Independent accelerations (m, 1), and the smallest pivot of D of every cluster."""
    mech, tree = motion.mechanism, motion.mechanism.tree
    bodies = range(len(tree.bodies))
    g = _loop_bias(motion)
    v, c, zeta = _outward_velocities(motion, g)

    inertia: dict[int, Any] = {i: motion.inertia(i) for i in bodies}
    force: dict[int, Spatial] = {}
    for i in bodies:
        force[i] = v[i].cross_force(motion.inertia(i).apply(v[i]))
        if wrenches and i in wrenches:
            force[i] = force[i] - wrenches[i]

    # Inward: articulated inertias and bias forces, cluster by cluster.
    embedded: dict[int, _Embedded] = {}
    pivots: list[SX] = []
    for k in reversed(range(len(mech.clusters))):
        cluster = mech.clusters[k]
        if mech.floating and cluster.bodies == (0,):
            continue
        embedded[k], pivot = _embed(motion, cluster, tau_y, inertia, force, zeta, g)
        pivots.insert(0, pivot)

    # Outward: accelerations.
    ydd = ca.SX.zeros(mech.m)
    a: dict[int, Spatial] = {-1: base_acceleration(mech)}
    for k, cluster in enumerate(mech.clusters):
        if k not in embedded:
            ydd[:6], a[0], pivot = _free_flyer(motion, tau_y[:6], inertia[0], force[0], a[-1])
            pivots.insert(0, pivot)
            continue
        e = embedded[k]
        local = e.D_inverse_u - e.D_inverse_U @ a[cluster.parent].stacked
        for i, at in enumerate(_independent_slots(motion, cluster)):
            ydd[at] = local[i]
        _outward_accelerations(motion, cluster, ydd, a, c)
    return ca.densify(ydd), pivots


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


def _embed(
    motion: Motion,
    cluster: Cluster,
    tau_y: SX,
    inertia: dict[int, Any],
    force: dict[int, Spatial],
    zeta: dict[int, Spatial],
    g: dict[int, SX],
) -> tuple[_Embedded, SX]:
    """Eliminate the cluster's coordinates; adds I^a and p^a to the parent body in place."""
    tree = motion.mechanism.tree
    index = {b: i for i, b in enumerate(cluster.bodies)}
    composite = {b: inertia[b] for b in cluster.bodies}
    on_parent: list[tuple[Any, Spatial]] = []
    t = ca.SX.zeros(len(cluster.bodies))
    for b in reversed(cluster.bodies):
        X, parent = motion.X[b], tree.bodies[b].parent
        force[b] = force[b] + inertia[b].apply(zeta[b])
        if parent in index:
            composite[parent] = composite[parent] + X.inertia_to_parent(composite[b])
            force[parent] = force[parent] + X.force_to_parent(force[b])
        elif parent >= 0:
            on_parent.append((X.inertia_to_parent(composite[b]), X.force_to_parent(force[b])))
        own = joint_friction(motion, b) + joint_inertia(motion, b) * g[b]
        t[index[b]] = motion.S[b].dot(force[b]) + own

    H, P = _joint_space(motion, cluster, composite, index)
    G = _cluster_G(motion, cluster, index)
    U = P @ G
    D = G.T @ H @ G
    tau = ca.vertcat(*(tau_y[at] for at in _independent_slots(motion, cluster)))
    u = tau - G.T @ t
    solved, pivot = cholesky_solve(ca.densify(D), ca.densify(ca.horzcat(U.T, u)))
    D_inverse_U, D_inverse_u = solved[:, :6], solved[:, 6]

    if cluster.parent >= 0:
        whole = on_parent[0][0]
        for more, _ in on_parent[1:]:
            whole = whole + more
        articulated = whole.general().minus_outer(U, D_inverse_U)
        inertia[cluster.parent] = inertia[cluster.parent] + articulated
        for _, pushed in on_parent:
            force[cluster.parent] = force[cluster.parent] + pushed
        force[cluster.parent] = force[cluster.parent] + Spatial.of(U @ D_inverse_u)
    return _Embedded(D_inverse_U, D_inverse_u), pivot


def _joint_space(
    motion: Motion, cluster: Cluster, composite: dict[int, Any], index: dict[int, int]
) -> tuple[SX, SX]:
    """H (n, n) of the cluster's joints by composite inertias, and P (6, n) on the parent body."""
    tree = motion.mechanism.tree
    n = len(cluster.bodies)
    H, P = ca.SX(n, n), ca.SX(6, n)
    for b in cluster.bodies:
        j = index[b]
        f = composite[b].apply(motion.S[b])
        H[j, j] = motion.S[b].dot(f) + joint_inertia(motion, b)
        i = b
        while True:
            f = motion.X[i].force_to_parent(f)
            i = tree.bodies[i].parent
            if i not in index:
                break
            H[index[i], j] = H[j, index[i]] = motion.S[i].dot(f)
        P[:, j] = f.stacked
    return H, P


def _cluster_G(motion: Motion, cluster: Cluster, index: dict[int, int]) -> SX:
    """Block-diagonal G of the cluster's components."""
    mech = motion.mechanism
    m_c = sum(len(mech.components[c].independent) for c in cluster.components)
    G, column = ca.SX(len(cluster.bodies), m_c), 0
    for c in cluster.components:
        block = ca.sparsify(motion.loops[c].G)
        for i, b in enumerate(mech.components[c].joints):
            for k in range(block.shape[1]):
                if block.sparsity().has_nz(i, k):
                    G[index[b], column + k] = block[i, k]
        column += block.shape[1]
    return G


def _independent_slots(motion: Motion, cluster: Cluster) -> list[int]:
    mech = motion.mechanism
    return [mech.v_at[b] for c in cluster.components for b in mech.components[c].independent]


def _outward_accelerations(
    motion: Motion, cluster: Cluster, ydd: SX, a: dict[int, Spatial], c: dict[int, Spatial]
) -> None:
    mech, tree = motion.mechanism, motion.mechanism.tree
    qdd: dict[int, SX] = {}
    for k in cluster.components:
        local = motion.loops[k].G @ motion.local_velocities(k, ydd) + motion.loops[k].g
        for i, b in enumerate(mech.components[k].joints):
            qdd[b] = local[i]
    for b in cluster.bodies:
        a[b] = motion.X[b].motion_to_child(a[tree.bodies[b].parent])
        a[b] = a[b] + c[b] + motion.S[b] * qdd[b]


def _free_flyer(
    motion: Motion, tau: SX, inertia: Any, force: Spatial, a_root: Spatial
) -> tuple[SX, Spatial, SX]:
    """I a + p = tau for the base; its acceleration is a minus the fictitious one of the root."""
    full = inertia.general()
    matrix = ca.vertcat(ca.horzcat(full.A, full.B), ca.horzcat(full.B.T, full.C))
    solved, pivot = cholesky_solve(ca.densify(matrix), ca.densify(tau - force.stacked))
    a = Spatial.of(solved)
    ydd = a - motion.X[0].motion_to_child(a_root)
    return ydd.stacked, a, pivot
