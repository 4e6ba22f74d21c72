"""Limits of the actuators as limits of the independent joints, submechanism by submechanism.

Speeds: -ud_max <= G_u yd <= ud_max. Forces: tau_y = G_u^T tau_u with tau_u in a box is a zonotope;
its facets are parallel to m - 1 of its generators, the rows of G_u. Positions: u(y) is linearised
at the present y (first order), except where one joint moves a loop: there the reachable interval
is followed exactly.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..arrays import Array
from ..dynamics.actuation_rank import rank_of

HalfSpaces = tuple[Array, Array]
#: What a product of unit vectors may differ from zero.
ROUNDING = 1e-12


def bounded(A: Array, lower: Array, upper: Array) -> HalfSpaces:
    """lower <= A x <= upper, without the rows that limit nothing."""
    rows, sides = np.vstack([A, -A]), np.concatenate([upper, -lower])
    kept = np.isfinite(sides) & np.any(rows != 0.0, axis=1)
    return rows[kept], sides[kept]


def zonotope(G_u: Array, lower: Array, upper: Array) -> HalfSpaces:
    """Half-spaces of {G_u^T tau: lower <= tau <= upper} for a dimensionless G_u (p, m)."""
    m = G_u.shape[1]
    rank = rank_of(G_u)
    Vt = np.linalg.svd(G_u)[2] if len(G_u) else np.eye(m)
    normals = [n for sign in (1.0, -1.0) for n in sign * Vt[rank:]]  # nothing drives these
    generators = G_u @ Vt[:rank].T
    for chosen in itertools.combinations(range(len(G_u)), max(rank - 1, 0)):
        if not rank:
            break
        n = _normal(generators[list(chosen)], rank)
        if n is not None:
            normals += [n @ Vt[:rank], -n @ Vt[:rank]]
    A = np.array(normals).reshape(-1, m)
    along = A @ G_u.T
    along[np.abs(along) < ROUNDING * np.max(np.abs(G_u), initial=0.0)] = 0.0
    with np.errstate(invalid="ignore"):  # 0 * inf: a facet along an unlimited actuator
        most = np.fmax(along * lower, along * upper)
    b = np.where(along == 0.0, 0.0, most).sum(axis=1)
    A, b = A[np.isfinite(b)], b[np.isfinite(b)]
    _, first = np.unique(np.round(A, 12), axis=0, return_index=True)  # parallel facets coincide
    return A[first], b[first]


def _normal(generators: Array, dimension: int) -> Array | None:
    """The direction normal to ``dimension - 1`` generators, None when they are dependent."""
    if dimension == 1:
        return np.ones(1)
    scaled = generators / np.maximum(np.linalg.norm(generators, axis=1, keepdims=True), 1e-300)
    _, s, Vt = np.linalg.svd(scaled)
    return None if s[-1] < ROUNDING else np.asarray(Vt[-1])


def stacked(blocks: list[tuple[list[int], HalfSpaces]], m: int) -> HalfSpaces:
    """The product of sets: (columns, half-spaces in these columns) -> half-spaces of all m."""
    rows, sides = [np.zeros((0, m))], [np.zeros(0)]
    for columns, (A, b) in blocks:
        wide = np.zeros((len(A), m))
        wide[:, columns] = A
        rows.append(wide)
        sides.append(b)
    return np.vstack(rows), np.concatenate(sides)


def both(one: HalfSpaces, other: HalfSpaces) -> HalfSpaces:
    """The intersection of two sets."""
    return np.vstack([one[0], other[0]]), np.concatenate([one[1], other[1]])
