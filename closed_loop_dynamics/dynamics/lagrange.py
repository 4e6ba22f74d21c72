"""Lagrange multipliers: the spanning tree's equations with explicit constraint forces.

    [ M  K^T ] [  qdd    ]   [ tau - C                      ]
    [ K   0  ] [ -lambda ] = [ k - 2/T K qd - 1/T^2 phi     ]

(Kumar et al. 2022, Eq. 1, with Baumgarte's stabilisation, time constant T.) The second reference
the papers compare with; solved densely in NumPy.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca
from ..mechanism import Mechanism
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
    rows = constraint_rows(mech)
    phi, K, k = ca.SX(np.zeros(rows)), ca.SX(np.zeros((rows, mech.n))), ca.SX(np.zeros(rows))
    at = 0
    for c, component in enumerate(mech.components):
        slots = mech.qd.slots(component.joints)
        loops = mech.closures[c].loop_closure
        if loops is not None:
            n = len(component.joints)
            q, qd = ca.SX.sym("q", n), ca.SX.sym("qd", n)
            f = loops.system.phi(q)[list(loops.plan.rows)]
            bias = -ca.jtimes(ca.jtimes(f, q, qd), q, qd)
            function = ca.Function("loop", [q, qd], [f, ca.densify(ca.jacobian(f, q)), bias])
            q_now = ca.vertcat(*(motion.q[b] for b in component.joints))
            qd_now = ca.vertcat(*(motion.qd[b] for b in component.joints))
            f_now, K_now, k_now = function(q_now, qd_now)
            stop = at + f.shape[0]
            phi[at:stop], K[at:stop, slots], k[at:stop] = f_now, K_now, k_now
            at = stop
            for i in loops.plan.idle:
                K[at, slots[i]] = 1.0
                at += 1
        else:
            at = _explicit_rows(motion, c, slots, K, k, at)
    return phi, K, k


def _explicit_rows(motion: Motion, c: int, slots: list[int], K: SX, k: SX, at: int) -> int:
    """q_d - gamma_d(y) = 0 of an explicit closure: [1, -G_d] qdd = g_d; phi is zero."""
    component, loop = motion.mechanism.components[c], motion.loops[c]
    places = motion.mechanism.qd.slots(component.independent)
    independent = [slots.index(place) for place in places]
    for i in range(len(slots)):
        if i in independent:
            continue
        K[at, slots[i]] = 1.0
        for column, j in enumerate(independent):
            K[at, slots[j]] = -loop.G[i, column]
        k[at] = loop.g[i]
        at += 1
    return at


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
