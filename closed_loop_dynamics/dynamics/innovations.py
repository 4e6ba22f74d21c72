"""The mass matrix in factors, and its inverse, from articulated bodies: M_y is never formed.

R. Kumar et al. 2022, Sec. IV-B (after Rodriguez and Kreutz-Delgado 1992), Eqs. 24 and 27:

    M_y^-1 = W^T D^-1 W,     W = [1 - kappa psi X]^T

D holds the articulated inertias of the clusters in blocks. Row j of ``W tau_y`` is what is left for
cluster j of the forces further outwards when all joints there are free (the innovation): the force
-U_k D_k^-1 tau_k on the parent body of cluster k, handed inwards by the force propagators of
``cluster_efpa.py``. W is the identity plus blocks (j, k) for clusters j inwards of k, so that
det M_y = det D. With d the depth of the cluster tree: W costs O(m d), the inverse O(m^2 d).
"""

from __future__ import annotations

import numpy as np

from ..engine.symbolic import ca
from ..spatial import SX, symmetric_half
from .articulated import Articulated, articulate
from .cluster_efpa import propagate
from .motion import Motion

#: (j, k), cluster j on the way from cluster k to the root -> block.
Blocks = dict[tuple[int, int], SX]


def inverse_mass_matrix(motion: Motion) -> tuple[SX, list[SX]]:
    """M_y^-1 (m, m), and the pivot check of D of every cluster."""
    m, articulated = motion.mechanism.m, articulate(motion)
    W, D_inverse_W = _innovations(articulated)
    outwards: dict[int, list[int]] = {}
    for j, k in W:
        outwards.setdefault(j, []).append(k)
    blocks: Blocks = {}
    for j, beyond in outwards.items():
        for i, k in enumerate(beyond):
            for other in beyond[: i + 1]:
                block = W[j, k].T @ D_inverse_W[j, other]
                blocks[k, other] = blocks[k, other] + block if (k, other) in blocks else block
    inverse = ca.SX(m, m)
    for (k, other), block in blocks.items():
        rows, columns = articulated.nodes[k].slots, articulated.nodes[other].slots
        whole = symmetric_half(block) if k == other else block
        inverse[rows, columns] = whole
        inverse[columns, rows] = whole.T
    return inverse, articulated.pivots


def apply_inverse(articulated: Articulated, right: SX) -> SX:
    """M_y^-1 times some columns (m, k), by the factors: first W, then D^-1, then W^T."""
    nodes = articulated.nodes
    W = _innovations(articulated)[0]
    left: dict[int, SX] = {}
    for (j, k), block in W.items():
        share = block @ right[nodes[k].slots, :]
        left[j] = left[j] + share if j in left else share
    left = {j: nodes[j].factor.solve(ca.densify(rows)) for j, rows in left.items()}
    result = ca.SX(*right.shape)
    for (j, k), block in W.items():
        result[nodes[k].slots, :] = result[nodes[k].slots, :] + block.T @ left[j]
    return result


def mass_matrix_factors(motion: Motion) -> tuple[SX, SX, list[SX]]:
    """W (m, m), D (m, m), and the pivot check of D of every cluster."""
    m, articulated = motion.mechanism.m, articulate(motion)
    nodes = articulated.nodes
    W, D = ca.SX(m, m), ca.SX(m, m)
    for (j, k), block in _innovations(articulated)[0].items():
        W[nodes[j].slots, nodes[k].slots] = block
    for node in nodes.values():
        D[node.slots, node.slots] = node.D
    return W, D, articulated.pivots


def _innovations(articulated: Articulated) -> tuple[Blocks, Blocks]:
    """Blocks of W and of D^-1 W."""
    motion, nodes = articulated.motion, articulated.nodes
    W: Blocks = {}
    D_inverse_W: Blocks = {}
    for k, node in sorted(nodes.items()):
        if not node.slots:  # held
            continue
        identity = ca.SX(np.eye(len(node.slots)))
        W[k, k], D_inverse_W[k, k] = identity, node.factor.solve(identity)
        chi, body = -node.D_inverse_U.T, node.cluster.parent
        while body >= 0:
            j = motion.mechanism.cluster_of[body]
            B, D_inverse_B, chi = propagate(motion, nodes[j], body, chi)
            if nodes[j].slots:
                W[j, k], D_inverse_W[j, k] = B, D_inverse_B
            body = nodes[j].cluster.parent
    return W, D_inverse_W
