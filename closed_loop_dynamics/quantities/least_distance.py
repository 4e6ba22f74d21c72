"""Least squares with inequalities: the shortest z with E z >= f, and damped steps within limits.

The first is one non-negative least-squares problem (Lawson and Hanson 1974, ch. 23), the second
becomes it when the QR factors of the damped system measure the distance to the free step.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrays import Array

#: Lawson and Hanson's residual is 1 / (1 + |z|^2) where a solution exists, else 0.
_NO_SOLUTION = 1e-10
#: By how much a step may miss a limit.
_ROUNDING = 1e-12


def shortest(E: Array, f: Array) -> Iterator[Array]:
    """Candidates for the shortest z with E z >= f, some f > 0: the most accurate first."""
    from scipy.optimize import nnls

    lengths = np.linalg.norm(E, axis=1)
    if np.any((lengths == 0.0) & (f > 0.0)):
        return
    E, f, lengths = E[lengths > 0.0], f[lengths > 0.0], lengths[lengths > 0.0]
    E, f = E / lengths[:, None], f / lengths
    scale = float(np.max(f))  # z is at least this long
    system = np.vstack([E.T, f / scale]) / np.hypot(1.0, f / scale)
    target = np.zeros(len(system))
    target[-1] = 1.0
    u, _ = nnls(system, target)
    r = system @ u - target
    if -r[-1] > _NO_SOLUTION:
        active = u > 0.0
        exact_on_limits = np.linalg.lstsq(E[active], f[active], rcond=None)[0]
        yield np.asarray(exact_on_limits)
        yield -scale * r[:-1] / r[-1]


def limited_step(J: Array, e: Array, damping: float, E: Array, f: Array) -> Array | None:
    """dz that minimises |J dz - e|^2 + damping |dz|^2 with E dz >= f, or None when there is none.

    Args:
        damping: positive.
        E, f: (k, n) and (k,).
    """
    n = J.shape[1]
    Q, R = np.linalg.qr(np.vstack([J, np.sqrt(damping) * np.eye(n)]))
    free = np.linalg.solve(R, Q[: len(e)].T @ e)
    short = f - E @ free
    if np.all(short <= _ROUNDING):
        return np.asarray(free)
    # The cost of another step is |R (dz - free)|^2.
    back = np.linalg.solve(R.T, E.T).T
    for z in shortest(back, short):
        dz = free + np.linalg.solve(R, z)
        if np.all(E @ dz >= f - _ROUNDING - 1e-9 * np.abs(short)):
            return np.asarray(dz)
    return None
