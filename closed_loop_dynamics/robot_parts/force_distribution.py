"""Forces of redundant actuators: min sum w_k tau_k^2 with A tau = b and lower <= tau <= upper.

With x = sqrt(w) tau, every solution of A tau = b is x_0 + N z, x_0 of minimum norm and N a basis of
the null space, so what remains is: the shortest z with E z >= f. That least-distance problem is one
non-negative least-squares problem (Lawson and Hanson 1974, ch. 23), which an active-set method
solves in finitely many steps, always the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics.actuation_rank import rank_of
from ..model.tree import Array

#: Distance to a limit or to b that counts as none, relative to the forces at hand.
TOLERANCE = 1e-9
#: Lawson and Hanson's residual is 1 / (1 + |z|^2) where a solution exists, else 0.
_NO_SOLUTION = 1e-10


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
    root = np.sqrt(weights)
    U, s, Vt = np.linalg.svd(A / root)
    rank = rank_of(A)
    x_0 = Vt[:rank].T @ ((U[:, :rank].T @ b) / s[:rank])
    left = float(np.max(np.abs((A / root) @ x_0 - b), initial=0.0))
    if left > 1e-7 * max(float(np.max(np.abs(b), initial=0.0)), 1e-12):
        return Distribution(None, in_range=False)
    N = Vt[rank:].T
    z = _shortest(N, x_0, lower * root, upper * root)
    return Distribution(None if z is None else (x_0 + N @ z) / root, in_range=True)


def _shortest(N: Array, x_0: Array, lower: Array, upper: Array) -> Array | None:
    """The shortest z with lower <= x_0 + N z <= upper, or None."""
    low, high = np.isfinite(lower), np.isfinite(upper)
    E = np.vstack([N[low], -N[high]])
    f = np.concatenate([(lower - x_0)[low], (x_0 - upper)[high]])
    bounds = np.concatenate([lower[low], upper[high]])
    scale = max(float(np.max(np.abs(np.concatenate([bounds, x_0])), initial=0.0)), 1e-12)
    if np.all(f <= TOLERANCE * scale):
        return np.zeros(N.shape[1])
    if not N.shape[1]:
        return None
    from scipy.optimize import nnls

    target = np.zeros(N.shape[1] + 1)
    target[-1] = 1.0
    system = np.vstack([E.T, f / scale])
    u, _ = nnls(system, target)
    r = system @ u - target
    if -r[-1] > _NO_SOLUTION:
        active = u > 0.0
        for z in (
            np.linalg.lstsq(E[active], f[active], rcond=None)[0],  # exact on the active limits
            -scale * r[:-1] / r[-1],
        ):
            if np.all(E @ z >= f - TOLERANCE * scale):
                return np.asarray(z)
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

    p = A.shape[1]
    bounds = [*zip(lower, upper, strict=True), (0.0, 1.0)]
    cost = np.zeros(p + 1)
    cost[-1] = -1.0
    found: Any = linprog(
        cost, A_eq=np.hstack([A, -b[:, None]]), b_eq=np.zeros(len(b)), bounds=bounds
    )
    return float(found.x[-1]) if found.status == 0 else 0.0
