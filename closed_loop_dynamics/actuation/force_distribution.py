"""Forces of redundant actuators: min sum w_k tau_k^2 with A tau = b and lower <= tau <= upper.

Every solution of A tau = b is tau_0 + N z, tau_0 the best without limits and N a basis of the null
space with N^T diag(w) N = 1, so what remains is: the shortest z with E z >= f. That least-distance
problem is one non-negative least-squares problem (Lawson and Hanson 1974, ch. 23), which an
active-set method solves in finitely many steps, always the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..dynamics.actuation_rank import rank_of
from ..quantities.least_distance import shortest

#: Distance to a limit or to b that counts as none, relative to it.
TOLERANCE = 1e-9
#: What a force may be off relative to the largest of its submechanism; counts at limits of zero.
ROUNDING = 1e-14
#: Of two weights; beyond it doubles cannot tell the best forces from others.
LARGEST_RATIO = 1e16


@dataclass(frozen=True, eq=False)
class Distribution:
    """Result of :func:`distribute`.

    Attributes:
        tau: (p,) the forces; None when the limits do not allow any.
        in_range: some forces, ignoring limits, give b.
    """

    tau: Array | None
    in_range: bool


def distribute(A: Array, b: Array, weights: Array, lower: Array, upper: Array) -> Distribution:
    """Solve the problem of the file's head for a dimensionless A (m, p)."""
    U, s, Vt = np.linalg.svd(A)
    rank = rank_of(A)
    any_tau = Vt[:rank].T @ ((U[:, :rank].T @ b) / s[:rank])
    left = float(np.max(np.abs(A @ any_tau - b), initial=0.0))
    if left > 1e-7 * max(float(np.max(np.abs(b), initial=0.0)), 1e-12):
        return Distribution(None, in_range=False)
    root = np.sqrt(weights)
    # The null space does not depend on weights: those of many decades cost no accuracy of A tau.
    Q, R = np.linalg.qr(root[:, None] * Vt[rank:].T)
    N = np.linalg.solve(R.T, Vt[rank:]).T
    tau_0 = any_tau - N @ (Q.T @ (root * any_tau))
    return Distribution(_within(N, tau_0, lower, upper), in_range=True)


def _within(N: Array, tau_0: Array, lower: Array, upper: Array) -> Array | None:
    """tau_0 + N z within the limits with the shortest z, or None."""

    def allowed(tau: Array) -> bool:
        """Within the limits up to rounding, each actuator by its own measure."""
        rounding = ROUNDING * float(np.max(np.abs(tau), initial=0.0))
        low = lower - TOLERANCE * np.abs(lower) - rounding
        high = upper + TOLERANCE * np.abs(upper) + rounding
        return bool(np.all((low <= tau) & (tau <= high)))

    if allowed(tau_0):
        return np.clip(tau_0, lower, upper)
    if not N.shape[1]:
        return None
    low, high = np.isfinite(lower), np.isfinite(upper)
    E = np.vstack([N[low], -N[high]])
    f = np.concatenate([(lower - tau_0)[low], (tau_0 - upper)[high]])
    for z in shortest(E, f):
        if allowed(tau_0 + N @ z):
            return np.clip(tau_0 + N @ z, lower, upper)
    return None


def nearest(A: Array, b: Array, lower: Array, upper: Array) -> Array:
    """Forces within the limits with the smallest |A tau - b|."""
    from scipy.optimize import lsq_linear

    tau = lower.copy()
    free = lower < upper
    if free.any():
        rest = b - A[:, ~free] @ tau[~free]
        bounds = (lower[free], upper[free])
        tau[free] = lsq_linear(A[:, free], rest, bounds, method="bvls").x
    return tau


def possible_fraction(A: Array, b: Array, lower: Array, upper: Array) -> float:
    """Largest s in [0, 1] with A tau = s b within the limits; 0 when there is none."""
    from scipy.optimize import linprog

    bounds = [*zip(lower, upper, strict=True), (0.0, 1.0)]
    cost, zero = -np.eye(len(bounds))[-1], np.zeros(len(b))
    found: Any = linprog(cost, A_eq=np.hstack([A, -b[:, None]]), b_eq=zero, bounds=bounds)
    return float(found.x[-1]) if found.status == 0 else 0.0
