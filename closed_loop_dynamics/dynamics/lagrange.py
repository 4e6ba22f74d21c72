"""Lagrange multipliers: the spanning tree's equations with explicit constraint forces.

    [ M  K^T ] [  qdd    ]   [ tau - C                      ]
    [ K   0  ] [ -lambda ] = [ k - 2/T K qd - 1/T^2 phi     ]

(Kumar et al. 2022, Eq. 1, with Baumgarte's stabilisation, time constant T.) The second reference
the papers compare with; solved densely in NumPy.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..closure.numerical import NumericalClosure
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..model.clusters import Component
from ..spatial import SX
from .motion import Motion


def constraint_rows(mech: Mechanism) -> int:
    """Rows of K: kept loop rows, couplings, and one per idle joint."""
    count = 0
    for c, component in enumerate(mech.components):
        loops = mech.closures[c].loop_closure
        if loops is not None:
            count += len(loops.plan.rows) + len(loops.plan.idle)
        else:
            independent = mech.yd.slots(component.independent)
            count += len(mech.qd.slots(component.joints)) - len(independent)
    return count


def trace_constraints(motion: Motion) -> tuple[SX, SX, SX]:
    """phi (rows, 1), K (rows, n) and k (rows, 1) of the whole robot."""
    mech = motion.mechanism
    phi, K, k = ca.SX(0, 1), ca.SX(0, mech.n), ca.SX(0, 1)
    for c, component in enumerate(mech.components):
        loops = mech.closures[c].loop_closure
        rows = _explicit_rows(motion, c) if loops is None else _loop_rows(motion, component, loops)
        K_c = ca.SX(rows[1].shape[0], mech.n)
        K_c[:, mech.qd.slots(component.joints)] = rows[1]
        phi, K, k = ca.vertcat(phi, rows[0]), ca.vertcat(K, K_c), ca.vertcat(k, rows[2])
    return phi, ca.densify(K), k


def _loop_rows(motion: Motion, component: Component, loops: NumericalClosure) -> tuple[SX, SX, SX]:
    """The kept rows of the loops, and qdd = 0 of every idle joint."""
    n = len(component.joints)
    q = ca.vertcat(*(motion.q[b] for b in component.joints))
    qd = ca.vertcat(*(motion.qd[b] for b in component.joints))
    at, kept = loops.system.motion(q, qd), list(loops.plan.rows)
    phi, K, k = at.value[kept], at.jacobian[kept, :], -at.bias[kept]
    idle = ca.SX(np.eye(n)[list(loops.plan.idle)])
    rest = ca.SX.zeros(idle.shape[0])
    return ca.vertcat(phi, rest), ca.vertcat(K, idle), ca.vertcat(k, rest)


def _explicit_rows(motion: Motion, c: int) -> tuple[SX, SX, SX]:
    """q_d - gamma_d(y) = 0 of an explicit closure: [1, -G_d] qdd = g_d; phi is zero."""
    component, loop = motion.mechanism.components[c], motion.loops[c]
    own = motion.mechanism.velocities(component.joints)
    independent = own.slots(component.independent)
    dependent = [i for i in range(own.size) if i not in independent]
    K = ca.SX(np.eye(own.size)[dependent])
    K[:, independent] = -loop.G[dependent, :]
    return ca.SX.zeros(len(dependent)), K, loop.g[dependent, :]


def solve_lagrange(
    M: Array, C: Array, phi: Array, K: Array, k: Array, tau: Array, qd: Array, time: float
) -> Array:
    """qdd (n,) of the KKT system; ``time`` is Baumgarte's time constant, 0 for none."""
    rows, n = K.shape
    right = k.copy()
    if time > 0.0:
        right = right - (2.0 / time) * (K @ qd) - phi / time**2
    left = np.zeros((n + rows, n + rows))
    left[:n, :n], left[:n, n:], left[n:, :n] = M, K.T, K
    return np.asarray(np.linalg.solve(left, np.concatenate([tau - C, right]))[:n])
