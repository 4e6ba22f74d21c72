"""Cluster ABA: forward dynamics in minimal coordinates by constraint embedding, O(n).

Jain's constraint embedding in the form of Kumar et al. 2022, Sec. IV, and Chignoli et al., C-ABA.
What velocities, gravity and wrenches need comes from cluster RNEA, which knows no 6x6 inertia. The
rest accelerates the robot: with the articulated quantities U, D of ``articulated.py``, and t the
joint forces that forces f on the bodies need in the locked cluster,

    p^a = f + U D^-1 u,   u = tau_y - C_y - G^T t

(the second pass of the 2022 paper must propagate I^a and p^a, not I^A and p^A).
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..spatial import SX, Spatial
from .articulated import ArticulatedCluster, accelerate, articulate
from .cluster_rnea import cluster_rnea
from .motion import Motion


def cluster_aba(
    motion: Motion, tau_y: SX, wrenches: dict[int, Spatial] | None = None
) -> tuple[SX, list[SX]]:
    """Independent accelerations (m, 1), and the pivot check of D of every cluster."""
    mech, articulated = motion.mechanism, articulate(motion)
    left = tau_y - cluster_rnea(motion, None, wrenches)

    # Inward: what each cluster would do by itself, and what that does to its parent body.
    force: dict[int, Spatial] = {}
    D_inverse_u: dict[int, SX] = {}
    for k in sorted(articulated.nodes, reverse=True):
        D_inverse_u[k] = _alone(motion, articulated.nodes[k], left, force)

    # Outward: what the clusters carry along.
    ydd = ca.SX.zeros(mech.m)
    a: dict[int, Spatial] = {-1: Spatial.zero()}
    for k in sorted(articulated.nodes):
        node = articulated.nodes[k]
        a_parent = a[node.cluster.parent]
        if node.F is None:
            local = D_inverse_u[k] - node.D_inverse_U @ a_parent.stacked
        else:
            carried = motion.X[node.cluster.bodies[0]].motion_to_child(a_parent)
            local = D_inverse_u[k] - node.F.dot(carried) / node.D
        ydd[node.slots] = local
        accelerate(motion, node, local, a)
    return ca.densify(ydd), articulated.pivots


def _alone(motion: Motion, node: ArticulatedCluster, left: SX, force: dict[int, Spatial]) -> SX:
    """D^-1 u of a cluster; adds its forces on the parent body to ``force`` in place."""
    index, bodies = node.index, motion.mechanism.tree.bodies
    t = ca.SX.zeros(node.G.shape[0])
    on_parent: list[Spatial] = []
    parent, first = node.cluster.parent, node.cluster.bodies[0]
    if node.F is not None:
        f = force.get(first, Spatial.zero())
        D_inverse_u = (left[node.slots] - motion.S[first].dot(f)) / node.D
        pushed = motion.X[first].force_to_parent(f + node.F * D_inverse_u)
        force[parent] = force.get(parent, Spatial.zero()) + pushed
        return D_inverse_u
    for b in reversed(node.cluster.bodies):
        if b not in force:
            continue
        t[index[b]] = motion.S[b].dot(force[b])
        pushed, inner = motion.X[b].force_to_parent(force[b]), bodies[b].parent
        if inner in index:
            force[inner] = force.get(inner, Spatial.zero()) + pushed
        else:
            on_parent.append(pushed)
    D_inverse_u = node.factor.solve(ca.densify(left[node.slots] - node.G.T @ t))
    own = Spatial.of(node.U @ D_inverse_u)
    force[parent] = sum(on_parent, start=force.get(parent, Spatial.zero()) + own)
    return D_inverse_u
