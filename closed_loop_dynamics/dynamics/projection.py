"""Projection: M_y = G^T M G with the tree's mass matrix from composite inertias.

The reference the papers compare with: simple, dense, cubic in m when it is solved. It also serves
``Robot.mass_matrix``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.symbolic import ca
from ..model.tree import FLOATING
from ..spatial import SX, Spatial
from .joint_forces import joint_inertia
from .motion import Motion


def tree_mass_matrix(motion: Motion) -> SX:
    """M (n, n) of the spanning tree in the order of qd (composite rigid body algorithm)."""
    mech, tree = motion.mechanism, motion.mechanism.tree
    composite: dict[int, Any] = {i: motion.inertia(i) for i in range(len(tree.bodies))}
    for i in reversed(range(len(tree.bodies))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            composite[parent] = composite[parent] + motion.X[i].inertia_to_parent(composite[i])
    M = ca.SX(np.zeros((mech.n, mech.n)))
    for j in range(len(tree.bodies)):
        for k, S in enumerate(joint_subspace(motion, j)):
            column = mech.qd_at[j] + k
            f = composite[j].apply(S)
            i = j
            while i >= 0:
                for r, S_i in enumerate(joint_subspace(motion, i)):
                    row = mech.qd_at[i] + r
                    M[row, column] = M[column, row] = S_i.dot(f)
                f = motion.X[i].force_to_parent(f)
                i = tree.bodies[i].parent
        M[mech.qd_at[j], mech.qd_at[j]] += joint_inertia(motion, j)
    return M


def joint_subspace(motion: Motion, body: int) -> list[Spatial]:
    """Columns of the joint's motion subspace: six of a free flyer, one of the others."""
    if motion.mechanism.tree.bodies[body].joint.kind == FLOATING:
        return [Spatial.of(ca.SX(np.eye(6)[:, k])) for k in range(6)]
    return [motion.S[body]]


def loop_jacobian(motion: Motion) -> SX:
    """G (n, m) of the whole robot, rows in the order of qd, columns in the order of yd."""
    mech = motion.mechanism
    G = ca.SX(mech.n, mech.m)
    for c, component in enumerate(mech.components):
        if mech.is_floating(c):
            for k in range(6):
                G[k, k] = 1.0
            continue
        block = ca.sparsify(motion.loops[c].G)
        for i, b in enumerate(component.joints):
            for k, y in enumerate(component.independent):
                if block.sparsity().has_nz(i, k):
                    G[mech.qd_at[b], mech.v_at[y]] = block[i, k]
    return G


def loop_bias(motion: Motion) -> SX:
    """g (n, 1) of the whole robot."""
    mech = motion.mechanism
    g = ca.SX(np.zeros(mech.n))
    for c, component in enumerate(mech.components):
        if not mech.is_floating(c):
            for i, b in enumerate(component.joints):
                g[mech.qd_at[b]] = motion.loops[c].g[i]
    return g


def reduced_mass_matrix(motion: Motion) -> SX:
    """M_y (m, m)."""
    G = loop_jacobian(motion)
    return G.T @ tree_mass_matrix(motion) @ G
