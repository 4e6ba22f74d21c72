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

from dataclasses import dataclass

import numpy as np

from ..engine.symbolic import ca
from ..spatial import SX
from .articulated import Articulated, articulate
from .cluster_efpa import propagate, symmetric_half
from .motion import Motion


@dataclass(frozen=True, eq=False)
class _Innovations:
    """Blocks of W and of D^-1 W: (j, k) for cluster j on the way from cluster k to the root."""

    W: dict[tuple[int, int], SX]
    D_inverse_W: dict[tuple[int, int], SX]
    D: dict[int, SX]
    slots: dict[int, list[int]]


def inverse_mass_matrix(motion: Motion) -> tuple[SX, list[SX]]:
    """M_y^-1 (m, m), and the smallest pivot of D of every cluster."""
    m, articulated = motion.mechanism.m, articulate(motion)
    found = _innovations(articulated)
    outwards: dict[int, list[int]] = {}
    for j, k in found.W:
        outwards.setdefault(j, []).append(k)
    blocks: dict[tuple[int, int], SX] = {}
    for j, beyond in outwards.items():
        for i, k in enumerate(beyond):
            for other in beyond[: i + 1]:
                block = found.W[j, k].T @ found.D_inverse_W[j, other]
                blocks[k, other] = blocks[k, other] + block if (k, other) in blocks else block
    inverse = ca.SX(m, m)
    for (k, other), block in blocks.items():
        rows, columns = found.slots[k], found.slots[other]
        whole = symmetric_half(block) if k == other else block
        inverse[rows, columns] = whole
        inverse[columns, rows] = whole.T
    return inverse, articulated.pivots


def mass_matrix_factors(motion: Motion) -> tuple[SX, SX, list[SX]]:
    """W (m, m), D (m, m), and the smallest pivot of D of every cluster."""
    m, articulated = motion.mechanism.m, articulate(motion)
    found = _innovations(articulated)
    W, D = ca.SX(m, m), ca.SX(m, m)
    for (j, k), block in found.W.items():
        W[found.slots[j], found.slots[k]] = block
    for k, block in found.D.items():
        D[found.slots[k], found.slots[k]] = block
    return W, D, articulated.pivots


def _innovations(articulated: Articulated) -> _Innovations:
    motion, nodes = articulated.motion, articulated.nodes
    found = _Innovations({}, {}, {}, {})
    for k, node in sorted(nodes.items()):
        identity = ca.SX(np.eye(len(node.slots)))
        found.W[k, k], found.D_inverse_W[k, k] = identity, node.factor.solve(identity)
        found.D[k], found.slots[k] = node.D, node.slots
        chi, body = -node.D_inverse_U.T, node.cluster.parent
        while body >= 0:
            j = motion.mechanism.cluster_of[body]
            found.W[j, k], found.D_inverse_W[j, k], chi = propagate(motion, nodes[j], body, chi)
            body = nodes[j].cluster.parent
    return found
