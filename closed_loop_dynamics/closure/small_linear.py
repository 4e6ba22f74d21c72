"""Straight-line solvers of small linear systems, for tracing (no pivoting, no branches).

Up to 3x3 by cofactors: the only thing that can go wrong is a vanishing determinant, and that is
returned. From 4x4 on by Householder reflections, which need no pivoting to be stable. The caller
guards the determinant and the pivot.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ..engine.symbolic import ca

SX = Any
#: A pivot that is smaller than this share of its diagonal entry is a difference of roundings.
ROUNDING = 1e-12


def largest(values: Iterable[SX]) -> SX:
    """The largest of some values that are not negative; 0 when there are none."""
    return reduce(ca.fmax, values, ca.SX(0.0))


def solve_small(A: SX, B: SX) -> tuple[SX, SX]:
    """X of A X = B, and det(A)."""
    n = A.shape[0]
    if n == 1:
        return B / A[0, 0], A[0, 0]
    if n == 2:
        det = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
        top = A[1, 1] * B[0, :] - A[0, 1] * B[1, :]
        bottom = A[0, 0] * B[1, :] - A[1, 0] * B[0, :]
        inverse = 1.0 / det
        return ca.vertcat(top, bottom) * inverse, det
    if n == 3:
        return _solve3(A, B)
    return _solve_householder(A, B)


def _solve3(A: SX, B: SX) -> tuple[SX, SX]:
    a, b, c = A[0, :].T, A[1, :].T, A[2, :].T
    bc, ca_, ab = ca.cross(b, c), ca.cross(c, a), ca.cross(a, b)
    det = ca.dot(a, bc)
    adjugate = ca.horzcat(bc, ca_, ab)
    inverse = 1.0 / det
    return (adjugate @ B) * inverse, det


def _solve_householder(A: SX, B: SX) -> tuple[SX, SX]:
    n, r = A.shape[0], B.shape[1]
    M = ca.densify(ca.horzcat(A, B))
    det = ca.SX(1.0)
    for k in range(n - 1):
        below = [i for i in range(k + 1, n) if not M[i, k].is_zero()]
        if not below:
            det = det * M[k, k]
            continue
        rows = [k, *below]
        norm = ca.sqrt(sum((M[i, k] * M[i, k] for i in rows), ca.SX(0.0)))
        alpha = -ca.copysign(norm, M[k, k])
        v = {i: M[i, k] for i in below}
        v[k] = M[k, k] - alpha
        beta = 1.0 / (alpha * v[k])  # = -2 / (v.v)
        for j in range(k + 1, n + r):
            projection = sum((v[i] * M[i, j] for i in rows), ca.SX(0.0)) * beta
            for i in rows:
                M[i, j] = M[i, j] + v[i] * projection
        M[k, k] = alpha
        for i in below:
            M[i, k] = 0.0
        det = -det * alpha
    det = det * M[n - 1, n - 1]
    X = ca.SX(n, r)
    for j in range(r):
        for i in range(n - 1, -1, -1):
            value = M[i, n + j]
            for k in range(i + 1, n):
                value = value - M[i, k] * X[k, j]
            X[i, j] = value / M[i, i]
    return ca.densify(X), det


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
