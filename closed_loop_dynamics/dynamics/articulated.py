"""Articulated inertias, cluster by cluster: what forward dynamics owes to positions alone.

Within a cluster the bodies share the independent coordinates. With H the inertia matrix of the
cluster's joints (the parent held still, what hangs on the cluster free to move) and P their forces
on the parent body,

    D = G^T H G,   U = P G,   I^a = I^C - U D^-1 U^T

and I^a is added to the inertia of the parent body (Jain 2011; R. Kumar et al. 2022, Sec. IV;
Chignoli et al., C-ABA). Forward dynamics, force propagators and the inverse of the mass matrix all
start from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..closure.small_linear import ROUNDING, Cholesky
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..model.clusters import Cluster
from ..model.tree import FLOATING
from ..spatial import SX, Inertia, Spatial
from .motion import Motion, joint_numbers
from .outward import body_acceleration


@dataclass(frozen=True, eq=False)
class ArticulatedCluster:
    """One cluster of n_c joint velocities and m_c independent ones.

    Attributes:
        slots: where its coordinates are in yd.
        index: body -> its rows of G.
        G: (n_c, m_c); D: (m_c, m_c) and its factors; U: (6, m_c) in the frame of the parent body.
        D_inverse_U: (m_c, 6) D^-1 U^T.
        F: of a single joint that carries others, U in the frame of its body, where it costs less.
    """

    cluster: Cluster
    slots: list[int]
    index: dict[int, slice]
    G: SX
    U: SX
    D: SX
    factor: Cholesky
    D_inverse_U: SX
    F: Spatial | None


@dataclass(frozen=True, eq=False)
class Articulated:
    """The whole robot.

    Attributes:
        nodes: cluster -> its quantities.
    """

    motion: Motion
    nodes: dict[int, ArticulatedCluster]

    @property
    def pivots(self) -> list[SX]:
        """Of D of every cluster: positive where it is regular."""
        mech, nodes = self.motion.mechanism, self.nodes
        return [nodes[k].factor.pivot - _rounding(mech, nodes[k].cluster) for k in sorted(nodes)]


def articulate(motion: Motion) -> Articulated:
    """The inward pass over the inertias."""
    mech = motion.mechanism
    inertia: dict[int, Any] = dict(motion.grouped_inertia)
    nodes: dict[int, ArticulatedCluster] = {}
    for k in reversed(range(len(mech.clusters))):
        nodes[k] = _eliminate(motion, mech.clusters[k], inertia)
    return Articulated(motion, nodes)


def _eliminate(motion: Motion, cluster: Cluster, inertia: dict[int, Any]) -> ArticulatedCluster:
    """Free the cluster's coordinates; adds I^a to the parent body in place."""
    mech, tree = motion.mechanism, motion.mechanism.tree
    index = mech.velocities(cluster.bodies).rows
    composite = {b: inertia[b] for b in cluster.bodies}
    on_parent: list[Any] = []
    for b in reversed(cluster.bodies):
        X, parent = motion.X[b], tree.bodies[b].parent
        if parent in index:
            composite[parent] = composite[parent] + X.inertia_to_parent(composite[b])
        elif parent >= 0:
            on_parent.append(X.inertia_to_parent(composite[b]))

    H, P = _joint_space(motion, cluster, composite, index)
    independent = [b for c in cluster.components for b in mech.components[c].independent]
    G = motion.jacobian(cluster.components, cluster.bodies, independent)
    U = P @ G
    D = ca.densify(G.T @ H @ G)
    factor = Cholesky.of(D)
    if len(cluster.bodies) == 1 and mech.joint(cluster.bodies[0]).kind == FLOATING:
        # S = 1, so U^T = D X and D^-1 U^T is X: no 6x6 system with six right-hand sides.
        D_inverse_U = motion.X[cluster.bodies[0]].motion_matrix
    else:
        D_inverse_U = factor.solve(ca.densify(U.T))

    first = cluster.bodies[0]
    single = len(cluster.bodies) == 1 and G.shape == (1, 1)  # not held where it is
    # A rigid body, at the tips, is cheaper to carry to its parent as such.
    single = single and isinstance(composite[first], Inertia)
    F = composite[first].apply(motion.S[first].columns[0]) if single else None
    if cluster.parent >= 0:
        axis = _free_axis(motion, first) if single else None
        if axis is not None:
            articulated = motion.X[first].inertia_to_parent(composite[first].freed(axis))
        else:
            whole = on_parent[0]
            for more in on_parent[1:]:
                whole = whole + more
            articulated = whole.general().minus_outer(U, D_inverse_U)
        inertia[cluster.parent] = inertia[cluster.parent] + articulated
    slots = mech.yd.slots(independent)
    return ArticulatedCluster(cluster, slots, index, G, U, D, factor, D_inverse_U, F)


def _free_axis(motion: Motion, body: int) -> int | None:
    """Which coordinate of its body a joint moves, where it is one of the six and has no rotor."""
    S = motion.S[body].columns[0].stacked
    moved = [k for k in range(6) if not S[k].is_zero()]
    plain = len(moved) == 1 and S[moved[0]].is_one() and motion.joints[body].rotor_inertia.is_zero()
    return moved[0] if plain else None


def _rounding(mech: Mechanism, cluster: Cluster) -> float:
    """What of D may be rounding; nothing where the cluster's own bodies resist its joints.

    Where they do not, D is the inertia of what the cluster carries less what gives way: of a
    massless link between coaxial hinges a difference of roundings, of either sign. They are as
    large as what is carried, which counts here by its size alone.
    """
    reach: dict[int, float] = {}
    own = mass = inertia = 0.0
    for b in range(cluster.bodies[0], len(mech.tree.bodies)):
        body, joint = mech.tree.bodies[b], mech.joint(b)
        if b not in cluster.bodies and body.parent not in reach:
            continue
        step = float(np.linalg.norm(joint.placement[:3, 3]))
        reach[b] = reach[body.parent] + step if body.parent in reach else 0.0
        mass += body.mass
        inertia += float(np.trace(body.inertia)) + body.mass * reach[b] ** 2
        if b in cluster.bodies:
            turning, sliding = joint.S[:3], joint.S[3:]
            own += float(np.sum(turning * (body.inertia @ turning) + body.mass * sliding**2))
            own += joint_numbers(mech, b)[0]
    slides = any(np.any(mech.joint(b).S[3:]) for b in cluster.bodies)
    turns = any(np.any(mech.joint(b).S[:3]) for b in cluster.bodies)
    carried = ROUNDING * min(mass if slides else np.inf, inertia if turns else np.inf)
    return carried if own <= carried else 0.0


def _joint_space(
    motion: Motion, cluster: Cluster, composite: dict[int, Any], index: dict[int, slice]
) -> tuple[SX, SX]:
    """H (n, n) of the cluster's joints by composite inertias, and P (6, n) on the parent body."""
    n = index[cluster.bodies[-1]].stop
    H, P = ca.SX(n, n), ca.SX(6, n)
    for b in cluster.bodies:
        for j, S in enumerate(motion.S[b].columns, index[b].start):
            t, f = through_cluster(motion, index, b, composite[b].apply(S))
            for i, force in t.items():
                H[index[i], j], H[j, index[i]] = force, force.T
            H[j, j] = H[j, j] + motion.joints[b].rotor_inertia
            P[:, j] = f.stacked
    return H, P


def through_cluster(
    motion: Motion, inside: dict[int, slice], body: int, f: Spatial
) -> tuple[dict[int, SX], Spatial]:
    """A force on ``body`` handed inwards joint by joint: its parts along the joints of the cluster
    (body -> (n_v, 1)), and what arrives at the cluster's parent body when the joints are locked."""
    along: dict[int, SX] = {}
    while body in inside:
        along[body] = motion.S[body].dot(f)
        f = motion.X[body].force_to_parent(f)
        body = motion.mechanism.tree.bodies[body].parent
    return along, f


def accelerate(motion: Motion, node: ArticulatedCluster, ydd: SX, a: dict[int, Spatial]) -> None:
    """Adds the accelerations at rest of the cluster's bodies, from its ydd (m_c, 1), to ``a``."""
    qdd = node.G @ ydd
    for b in node.cluster.bodies:
        a_parent = a[motion.mechanism.tree.bodies[b].parent]
        a[b] = body_acceleration(motion, b, a_parent, Spatial.zero(), qdd[node.index[b]])
