"""Assemble a closed-loop robot with the oracle: positions, G and g from the constraint rows alone.

Independent of the package and of its method: least squares on the rows of the oracle, continuation
from all-zero (or any other assembled configuration) in small steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .files import Array
from .oracle import Oracle


class NotAssembled(Exception):
    """Newton's method did not close the loops."""


def close(
    oracle: Oracle,
    independent: Sequence[str],
    guess: Array,
    frozen: Sequence[str] = (),
    tolerance: float = 1e-13,
    iterations: int = 12,
) -> Array:
    """(nq,) Newton on phi(q) = 0, moving only the joints neither independent nor ``frozen``.

    Iterates until the residual is below ``tolerance`` or stops falling below 1e-10.
    """
    q = guess.copy()
    moving = _dependent(oracle, independent, frozen)
    entries = oracle.q_columns(moving)
    columns = oracle.columns(moving)
    best = np.inf
    for _ in range(iterations):
        residual = oracle.phi(q)
        size = float(np.max(np.abs(residual), initial=0.0))
        if size < tolerance or (size < 1e-10 and size >= 0.5 * best):
            return q
        best = min(best, size)
        step = np.linalg.lstsq(oracle.K(q)[:, columns], residual, rcond=1e-9)[0]
        q[entries] -= step
    raise NotAssembled(f"residual {best:.2e} after {iterations} iterations")


def assemble(
    oracle: Oracle,
    y: Mapping[str, float],
    start: Array | None = None,
    frozen: Sequence[str] = (),
    step: float = 0.05,
) -> Array:
    """(nq,) configuration with the independent joints at ``y``, on the branch of ``start``.

    Args:
        y: independent joint -> position.
        start: assembled configuration; default: neutral, closed first.
        step: largest change of an independent joint between two corrections [rad or m].
    """
    names = tuple(y)
    q = close(oracle, names, oracle.neutral() if start is None else start, frozen)
    entries = oracle.q_columns(names)
    columns = oracle.columns(names)
    travel = np.array(list(y.values()), dtype=float) - q[entries]
    count = max(1, int(np.ceil(np.max(np.abs(travel), initial=0.0) / step)))
    for _ in range(count):
        slope = loop_jacobian(oracle, q, names, frozen)[:, oracle.base_dof :]
        change = np.zeros(oracle.nv)
        change += slope @ (travel / count)
        change[columns] = travel / count
        q = close(oracle, names, oracle.integrate(q, change), frozen)
    q[entries] = list(y.values())
    return close(oracle, names, q, frozen)


def loop_jacobian(
    oracle: Oracle,
    q: Array,
    independent: Sequence[str],
    frozen: Sequence[str] = (),
    K: Array | None = None,
) -> Array:
    """(nv, base_dof + m) G with qd = G [base velocity; yd]; ``K`` when it is known already."""
    given = [*range(oracle.base_dof), *oracle.columns(independent)]
    moving = oracle.columns(_dependent(oracle, independent, frozen))
    K = oracle.K(q) if K is None else K
    G = np.zeros((oracle.nv, len(given)))
    G[given, range(len(given))] = 1.0
    G[moving] = -np.linalg.lstsq(K[:, moving], K[:, given], rcond=1e-9)[0]
    return G


def loop_bias(
    oracle: Oracle, q: Array, qd: Array, independent: Sequence[str], frozen: Sequence[str] = ()
) -> Array:
    """(nv,) g with qdd = G [base acceleration; ydd] + g."""
    moving = oracle.columns(_dependent(oracle, independent, frozen))
    g = np.zeros(oracle.nv)
    g[moving] = np.linalg.lstsq(oracle.K(q)[:, moving], oracle.k(q, qd), rcond=1e-9)[0]
    return g


def _dependent(oracle: Oracle, independent: Sequence[str], frozen: Sequence[str]) -> list[str]:
    given = {*independent, *frozen}
    return [name for name in oracle.names if name not in given]
