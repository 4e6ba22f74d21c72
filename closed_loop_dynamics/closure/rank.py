"""Which rows of K to keep, and in which blocks to solve for the unknowns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..engine.symbolic import ca

#: Relative size below which a singular value of the scaled K counts as zero. Published dimensions
#: are rounded to a micrometre or so; a planar loop is planar only to that.
RANK_TOLERANCE = 1e-4


#: [rows, columns] of diagonal blocks.
Blocks = list[list[list[int]]]


def best_columns(A: Array) -> list[int]:
    """All columns, those that a pivoted QR takes first first."""
    from scipy.linalg import qr

    return [int(i) for i in qr(A, pivoting=True, mode="economic")[2]]


def null_space(K: Array) -> Array:
    """Columns that span the directions with K v = 0."""
    return np.linalg.svd(K)[2][rank_of(K) :].T


def rank_of(K: Array) -> int:
    """Of a scaled K."""
    if K.size == 0:
        return 0
    values = np.linalg.svd(K, compute_uv=False)
    return int(np.sum(values > RANK_TOLERANCE * max(values[0], 1e-300)))


def independent_rows(K_all: list[Array], K_ref: Array, unknown: list[int]) -> list[int]:
    """A full-rank set of rows that is well conditioned on all assembled samples."""
    best: tuple[float, list[int]] = (-1.0, [])
    for K in [K_ref, *K_all[1:]]:
        rows = sorted(best_columns(K[:, unknown].T)[: len(unknown)])
        worst = min(smallest_ratio(Kj[:, unknown], rows) for Kj in K_all)
        if worst > best[0] * 1.5:
            best = (worst, rows)
    return best[1]


def smallest_ratio(K_d: Array, rows: list[int]) -> float:
    """Smallest singular value with the chosen rows relative to that with all rows."""
    if not rows:
        return 1.0
    whole = np.linalg.svd(K_d, compute_uv=False)[-1]
    chosen = np.linalg.svd(K_d[rows], compute_uv=False)[-1]
    return float(chosen / max(whole, 1e-300))


def determinants(K_d: Array, blocks: Blocks) -> list[float]:
    """Of the blocks; their signs name an assembly mode."""
    return [float(np.linalg.det(K_d[np.ix_(rows, columns)])) for rows, columns in blocks]


def solving_order(dense: NDArray[np.bool_]) -> Blocks:
    """Irreducible diagonal blocks in solving order (Dulmage-Mendelsohn) of a pattern of K_d."""
    if not dense.size:
        return []
    pattern = ca.sparsify(ca.DM(dense.astype(float))).sparsity()
    count, row_order, column_order, row_start, column_start, _, _ = pattern.btf()
    blocks = []
    for b in range(count):
        block_rows = sorted(row_order[row_start[b] : row_start[b + 1]])
        columns = sorted(column_order[column_start[b] : column_start[b + 1]])
        blocks.append([[int(r) for r in block_rows], [int(c) for c in columns]])
    ordered: Blocks = []
    while blocks:
        ready = next(
            blk
            for blk in blocks
            if not any(dense[np.ix_(blk[0], o[1])].any() for o in blocks if o is not blk)
        )
        ordered.append(ready)
        blocks.remove(ready)
    return ordered
