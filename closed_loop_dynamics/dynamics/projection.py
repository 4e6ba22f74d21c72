"""Projection: M_y = G^T M G with the tree's mass matrix from composite inertias.

The reference the papers compare with: simple, dense, cubic in m when it is solved. It also serves
``Robot.mass_matrix``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..engine.symbolic import ca
from ..spatial import SX
from .motion import Motion


def composite_inertias(motion: Motion, inertia: Mapping[int, Any]) -> dict[int, Any]:
    """Body -> its inertia with everything that hangs on it, joints locked."""
    bodies, composite = motion.mechanism.tree.bodies, dict(inertia)
    for i in reversed(range(len(bodies))):
        parent = bodies[i].parent
        if parent >= 0:
            composite[parent] = composite[parent] + motion.X[i].inertia_to_parent(composite[i])
    return composite


def tree_mass_matrix(motion: Motion) -> SX:
    """M (n, n) of the spanning tree in the order of qd (composite rigid body algorithm)."""
    mech, tree = motion.mechanism, motion.mechanism.tree
    composite = composite_inertias(motion, motion.grouped_inertia)
    M = ca.SX(np.zeros((mech.n, mech.n)))
    for j in range(len(tree.bodies)):
        for column, S in enumerate(motion.S[j].columns, mech.qd.at[j]):
            f = composite[j].apply(S)
            i = j
            while i >= 0:
                rows, force = mech.qd.rows[i], motion.S[i].dot(f)
                M[rows, column], M[column, rows] = force, force.T
                f = motion.X[i].force_to_parent(f)
                i = tree.bodies[i].parent
            M[column, column] += motion.joints[j].rotor_inertia
    return M


def loop_jacobian(motion: Motion) -> SX:
    """G (n, m) of the whole robot, rows in the order of qd, columns in the order of yd."""
    mech = motion.mechanism
    return motion.jacobian(range(len(mech.components)), mech.spanning, mech.independent)


def loop_bias(motion: Motion) -> SX:
    """g (n, 1) of the whole robot."""
    return motion.stacked(motion.bias)


def reduced_mass_matrix(motion: Motion) -> SX:
    """M_y (m, m)."""
    G = loop_jacobian(motion)
    return G.T @ tree_mass_matrix(motion) @ G
