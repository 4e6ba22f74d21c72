"""Straight-line solvers of small linear systems, for tracing (no pivoting, no branches).

Up to 3x3 by cofactors: the only thing that can go wrong is a vanishing determinant, and that is
returned. From 4x4 on by orthonormal elimination, which needs no pivoting to be stable. The caller
guards the determinant and the pivot.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ..engine.symbolic import ca
from .elimination import adjugate, solve_sparse

SX = Any
#: A pivot that is smaller than this share of its diagonal entry is a difference of roundings.
ROUNDING = 1e-12


def largest(values: Iterable[SX]) -> SX:
    """The largest of some values that are not negative; 0 when there are none."""
    return reduce(ca.fmax, values, ca.SX(0.0))


def solve_small(A: SX, B: SX) -> tuple[SX, SX]:
    """X of A X = B, and det(A)."""
    if A.shape[0] > 3:
        return solve_sparse(A, B)
    turned, det = adjugate(A)
    inverse = 1.0 / det
    # Of a constant A, a gear say, all but one product per entry is done here and now.
    return (turned * inverse) @ B if A.is_constant() else (turned @ B) * inverse, det


@dataclass(frozen=True)
class Cholesky:
    """A = L diag(d) L^T of a symmetric positive definite A; ``L`` below its diagonal of ones.

    Attributes:
        pivot: positive when A is positive definite beyond rounding.
    """

    L: list[list[SX]]
    d: list[SX]
    pivot: SX

    @staticmethod
    def of(A: SX) -> Cholesky:
        """Factorise; only the lower triangle is read."""
        n = A.shape[0]
        L = [[ca.SX(0.0)] * n for _ in range(n)]
        d: list[SX] = []
        for j in range(n):
            pivot = A[j, j]
            for k in range(j):
                pivot = pivot - L[j][k] * L[j][k] * d[k]
            d.append(pivot)
            inverse = 1.0 / pivot
            for i in range(j + 1, n):
                value = A[i, j]
                for k in range(j):
                    value = value - L[i][k] * L[j][k] * d[k]
                L[i][j] = value * inverse
        # What is left of A[j, j] after the others: of a singular A rounding alone, of either sign.
        left = [d[j] - ROUNDING * A[j, j] if j else d[j] for j in range(n)]
        return Cholesky(L, d, reduce(ca.fmin, left) if left else ca.SX(1.0))

    def forward(self, B: SX) -> SX:
        """Z of L Z = B, so that B^T A^-1 B = Z^T diag(d)^-1 Z."""
        columns = [self._forward(B[:, c]) for c in range(B.shape[1])]
        return ca.horzcat(*(ca.vertcat(*z) for z in columns))

    def _forward(self, b: SX) -> list[SX]:
        z = [b[i] for i in range(len(self.d))]
        for i in range(len(z)):
            for k in range(i):
                z[i] = z[i] - self.L[i][k] * z[k]
        return z

    def solve(self, B: SX) -> SX:
        """X of A X = B."""
        n, L, d = len(self.d), self.L, self.d
        if not n:
            return B
        columns = []
        for c in range(B.shape[1]):
            z = self._forward(B[:, c])
            z = [z[i] / d[i] for i in range(n)]
            for i in range(n - 1, -1, -1):
                for k in range(i + 1, n):
                    z[i] = z[i] - L[k][i] * z[k]
            columns.append(ca.vertcat(*z))
        return ca.horzcat(*columns)
