"""Has G_u lost rank? Judged without dimensions, and independently of the size of the ratios.

A determinant alone does not tell: it is the product of as many ratios as there are degrees of
freedom, so pulleys of a few millimetres make it tiny at a perfect condition.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..spatial import SX

#: A singular value of the dimensionless G_u below this counts as lost rank.
RANK_TOLERANCE = 1e-7


def natural_sizes(mech: Mechanism, c: int) -> tuple[Array, Array]:
    """Units of the actuators and of the independent joints of component ``c`` that suit its size.

    diag(1 / first) G_u diag(second) has no dimension, so its singular values tell how far a dead
    point is. Loops: the sizes of their joints (``closure/loop_system.py``). Constant ratios: what
    gives rows and columns about unit length.
    """
    component = mech.components[c]
    G_u = _constant_jacobian(mech, c)
    if G_u is not None:
        rows = _lengths(G_u, axis=1)
        return rows, 1.0 / _lengths(G_u / rows[:, None], axis=0)
    loops = mech.closures[c].loop_closure
    sizes = np.ones(len(component.joints)) if loops is None else loops.sizes
    active, independent = (
        sizes[[component.joints.index(b) for b in bodies]]
        for bodies in (component.active, component.independent)
    )
    return active, independent


def rank_of(G_u: Array) -> int:
    """Rank of a dimensionless G_u."""
    return int(np.sum(np.linalg.svd(G_u, compute_uv=False) > RANK_TOLERANCE))


def rank_margin(mech: Mechanism, c: int, G_u: SX, det: SX) -> SX:
    """Positive while G_u (p, m), p >= m, of component ``c`` has full rank.

    ``det`` is that of G_u or, with more actuators than degrees of freedom, of G_u^T G_u. |det| over
    the lengths of all rows but the shortest is at most the distance of any row from the span of the
    others (Hadamard): about the smallest singular value. Where actuators are redundant a row may
    vanish, so there the columns are taken.
    """
    constant, (p, m) = _constant_jacobian(mech, c), G_u.shape
    size_u, size_y = natural_sizes(mech, c)
    if constant is not None:
        scaled = constant / size_u[:, None] * size_y
        return ca.SX(1.0 if rank_of(scaled) == m else -1.0)
    if p > m:
        vectors, sizes = [G_u[:, j] for j in range(m)], size_y / np.max(size_u)
        squared, scale = det, 1.0
    else:
        vectors, sizes = [G_u[i, :] * size_y[None, :] for i in range(m)], 1.0 / size_u
        squared, scale = det**2, float(np.prod(size_y))
    largest = float(np.max(sizes))  # set apart, so that equal sizes cost no instructions
    product, but_shortest = ca.SX(1.0), ca.SX(0.0)
    for vector, size in zip(vectors, sizes / largest, strict=True):
        square = ca.sumsqr(vector * float(size))
        but_shortest = ca.fmax(but_shortest * square, product)
        product = product * square
        scale *= float(size)
    if p > m:  # G_u^T G_u rounds relative to its entries: of long columns that hides small angles
        but_shortest = ca.fmax(but_shortest, largest**2 * product)
    return squared - (RANK_TOLERANCE / (scale * largest)) ** 2 * but_shortest


def _constant_jacobian(mech: Mechanism, c: int) -> Array | None:
    """G_u of component ``c`` where it is the same everywhere."""
    component, G = mech.components[c], mech.closures[c].constant_jacobian
    return None if G is None else G[[component.joints.index(b) for b in component.active]]


def _lengths(G_u: Array, axis: int) -> Array:
    """Of rows or columns; 1 for those that are zero."""
    lengths = np.linalg.norm(G_u, axis=axis)
    return np.where(lengths > 0.0, lengths, 1.0)
