"""u -> y for a closure that the user wrote: continuation along the straight line between two u.

Every step is a Newton iteration that must contract from its first correction on, so it stays in the
neighbourhood in which the solution is unique: no step jumps over a singularity of G_u, to another
solution. More actuators than degrees of freedom: Gauss-Newton, in the sense of least squares.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from ..errors import ActuationSingular, ClosureNotFound

#: y -> (u, G_u).
Transmission = Callable[[Array], tuple[Array, Array]]

#: Largest ratio of two corrections with the same G_u (Newton onto a double root has 1/4).
CONTRACTION = 0.2
NEWTON_STEPS = 20
#: Shortest part of the way from the start, and corrections that count as none (relative).
SHORTEST = 1e-9
CORRECTION, ROUND_OFF = 1e-12, 1e-14
#: u(y) = u to this, relative to the larger of u and 1 [rad or m].
TOLERANCE = 1e-9
#: A singular value of G_u below this counts as lost rank, as in ``dynamics/actuation_rank.py``.
SINGULAR = 1e-7


def invert(name: str, transmission: Transmission, u: Array, start: Array) -> Array:
    """y with u(y) = ``u``, reached from ``start`` without passing a singularity.

    Args:
        name: of the submechanism, for messages.

    Raises:
        ActuationSingular: G_u has no full rank at ``start``.
        ClosureNotFound: the way ends before ``u``.
    """
    y = start
    first, G_u = transmission(y)
    if not (np.all(np.isfinite(first)) and np.all(np.isfinite(G_u))):
        raise ClosureNotFound(
            f"submechanism '{name}': its function is not finite at {start}, where the search for "
            "actuator positions starts; give a guess= inside its domain",
            submechanism=name,
        )
    if _singular(G_u):
        raise ActuationSingular(
            f"submechanism '{name}': G_u has lost rank at {start}, so actuator positions do not "
            "determine the independent joints there; give another guess=, or choose other "
            "jointnames_active",
            submechanism=name,
            y=start.copy(),
        )
    done, part = 0.0, 1.0
    while done < 1.0:
        ahead = min(1.0, done + part)
        found = _newton(transmission, first + ahead * (u - first), y)
        if found is not None:
            y, done, part = found, ahead, 2.0 * part
        elif part > SHORTEST:
            part = 0.5 * min(part, 1.0 - done)
        else:
            break
    error = float(np.max(np.abs(transmission(y)[0] - u)))
    square = len(u) == len(y)
    if done < 1.0 or (square and not error <= TOLERANCE * max(1.0, float(np.max(np.abs(u))))):
        raise ClosureNotFound(
            f"submechanism '{name}': actuator positions {u} cannot be reached from {start} without "
            f"passing a singularity of G_u or leaving the domain of its function; the way ends "
            f"near {y}; give a guess= nearer to the answer",
            submechanism=name,
            residual=error,
            reason="singular",
        )
    return y


def _newton(transmission: Transmission, aim: Array, y: Array) -> Array | None:
    """y with u(y) = ``aim``, or None when it is not certain to be the one next to ``y``."""
    u, G_u = transmission(y)
    orientation = _orientation(G_u)
    for _ in range(NEWTON_STEPS):
        correction = _solve(G_u, aim - u)
        floor = CORRECTION * (1.0 + float(np.max(np.abs(y))))
        exact = ROUND_OFF * (1.0 + float(np.max(np.abs(aim))))
        size = float(np.max(np.abs(correction)))
        if size <= floor or float(np.max(np.abs(aim - u))) <= exact:
            return y
        y = y + correction
        u, new = transmission(y)
        if not (np.all(np.isfinite(u)) and np.all(np.isfinite(new))):
            return None
        left = float(np.max(np.abs(_solve(G_u, aim - u))))
        if left > max(CONTRACTION * size, floor):
            return None
        if _singular(new) or _orientation(new) != orientation:
            return None
        G_u = new
    return None


def _solve(G_u: Array, error: Array) -> Array:
    return np.asarray(np.linalg.lstsq(G_u, error, rcond=None)[0])


def _singular(G_u: Array) -> bool:
    return bool(np.linalg.svd(G_u, compute_uv=False)[-1] < SINGULAR)


def _orientation(G_u: Array) -> float:
    return float(np.sign(np.linalg.det(G_u))) if G_u.shape[0] == G_u.shape[1] else 1.0
