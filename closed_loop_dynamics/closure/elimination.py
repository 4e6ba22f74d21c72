"""Sparse linear systems as straight-line code: columns that few rows know go first.

In the Jacobian of a mechanism with several limbs most entries are zero: the hinges of a rod appear
in the rows of its own cut and nowhere else. A stage takes such columns C out of all rows R that
they appear in: an orthonormal complement of A[R, C] leaves |R| - |C| rows for the other columns,
and what the columns are follows from the others at the end. There are no pivots to choose and none
to guard: a stage is as regular as A itself, wherever A may move, and det(A) is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.symbolic import ca

SX = Any
#: Of a block (r, c): its left inverse as (matrix (c, r), factor), its share of the determinant, and
#: what makes the r - c rows that are left of some columns (r, k).
Stage = tuple[SX, SX, SX, Callable[[SX], SX]]


def solve_sparse(A: SX, B: SX) -> tuple[SX, SX]:
    """X of A X = B, and det(A); entries of A that are zero by structure cost nothing."""
    n = A.shape[0]
    if ca.sprank(ca.sparsify(A)) < n:
        return ca.SX.nan(*B.shape), ca.SX(0.0)
    M = ca.densify(ca.horzcat(A, B))
    rows, columns, right = list(range(n)), list(range(n)), list(range(n, M.shape[1]))
    row_order: list[int] = []
    column_order: list[int] = []
    det, stages = ca.SX(1.0), []
    while rows:
        R, C = _cheapest(M, rows, columns)
        columns = [j for j in columns if j not in C]
        inverse, scale, factor, complement = _stage(M[R, C])
        stages.append((C, columns, M[R, columns], M[R, right], inverse, scale))
        if len(R) > len(C):
            M[R[len(C) :], columns + right] = complement(M[R, columns + right])
        rows = [i for i in rows if i not in R[: len(C)]]
        row_order, column_order, det = row_order + R[: len(C)], column_order + C, det * factor
    X = ca.SX(*B.shape)
    for C, others, coefficients, values, inverse, scale in reversed(stages):
        X[C, :] = scale * (inverse @ (values - coefficients @ X[others, :]))
    return ca.densify(X), -det if _is_odd(row_order) != _is_odd(column_order) else det


def adjugate(A: SX) -> tuple[SX, SX]:
    """Of a matrix up to 3x3, and its determinant."""
    if A.shape[0] == 1:
        return ca.SX(1.0), A
    if A.shape[0] == 2:
        swapped = ca.vertcat(ca.horzcat(A[1, 1], -A[0, 1]), ca.horzcat(-A[1, 0], A[0, 0]))
        return swapped, A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    a, b, c = A[0, :].T, A[1, :].T, A[2, :].T
    bc = ca.cross(b, c)
    return ca.horzcat(bc, ca.cross(c, a), ca.cross(a, b)), ca.dot(a, bc)


def _cheapest(M: SX, rows: list[int], columns: list[int]) -> tuple[list[int], list[int]]:
    """(R, C) of the next stage: the one that leaves the fewest entries behind, per column."""
    where = {j: [i for i in rows if not M[i, j].is_zero()] for j in columns}
    choices = []
    for j, R in where.items():
        inside = [k for k in columns if set(where[k]) <= set(R)]
        whole = len(inside) == len(R) <= 3 or (len(R), len(inside)) == (3, 2)
        C = inside if whole else [j]
        touched = sum(not set(places).isdisjoint(R) for places in where.values())
        choices.append(((len(R) - len(C)) * (touched - len(C)) / len(C), R, C))
    _, R, C = min(choices)
    return R, C


def _stage(block: SX) -> Stage:
    r, c = block.shape
    if r == c:
        inverse, det = adjugate(block)
        return inverse, 1.0 / det, det, lambda rest: rest
    if c == 2:
        a, b = block[:, 0], block[:, 1]
        normal = ca.cross(a, b)
        length = ca.norm_2(normal)
        unit = normal * (1.0 / length)
        inverse = ca.vertcat(ca.cross(b, unit).T, ca.cross(unit, a).T)
        return inverse, 1.0 / length, length, lambda rest: unit.T @ rest
    length = ca.norm_2(block)
    unit = block * (1.0 / length)
    if r == 2:
        normal = ca.vertcat(-unit[1], unit[0])
        return unit.T, 1.0 / length, length, lambda rest: normal.T @ rest
    # A Householder reflection, of determinant -1, turns the column into (-alpha, 0, 0, ...).
    alpha = ca.copysign(length, block[0])
    v = ca.vertcat(block[0] + alpha, block[1:])
    beta = 1.0 / (alpha * v[0])  # = 2 / (v.v)
    return unit.T, 1.0 / length, alpha, lambda rest: rest[1:, :] - v[1:] @ (beta * (v.T @ rest))


def _is_odd(order: Sequence[int]) -> bool:
    """A permutation changes the sign of a determinant."""
    return bool(sum(a > b for k, a in enumerate(order) for b in order[k + 1 :]) % 2)
