"""Small matrices: solutions, what they cost, and what is not positive definite."""

from __future__ import annotations

import numpy as np
import pytest

from closed_loop_dynamics.closure.small_linear import Cholesky, solve_small
from closed_loop_dynamics.engine.instructions import instruction_list
from closed_loop_dynamics.engine.symbolic import ca


def factor(A: np.ndarray) -> tuple[np.ndarray, float]:
    """A^-1, and the pivot."""
    symbol = ca.SX.sym("A", *A.shape)
    found = Cholesky.of(symbol)
    inverse, pivot = ca.Function("f", [symbol], [found.solve(ca.SX.eye(len(A))), found.pivot])(A)
    return np.array(inverse), float(pivot)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_positive_definite_matrices_are_solved(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        B = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-4, 4, n)[:, None]
        A = B @ B.T
        inverse, pivot = factor(A)
        scale = 1.0 / np.sqrt(np.diag(A))
        scaled = A * np.outer(scale, scale)
        if np.linalg.cond(scaled) < 1e6:
            assert pivot > 0.0
            of_scaled = inverse / np.outer(scale, scale)
            np.testing.assert_allclose(scaled @ of_scaled, np.eye(n), atol=1e-8)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_singular_matrices_are_seen_whichever_way_rounding_goes(n: int) -> None:
    rng, seen = np.random.default_rng(n), 0
    while seen < 50:
        B = rng.normal(size=(n, n - 1))
        B /= np.linalg.norm(B, axis=1)[:, None]
        if np.linalg.cond(B[:-1]) < 30.0:  # all but the last row are far from singular
            sizes = 10.0 ** rng.uniform(-3, 3, n)[:, None]
            assert factor(sizes * B @ B.T * sizes.T)[1] <= 0.0
            seen += 1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_gears_are_inverted_when_traced_not_when_called(n: int) -> None:
    A, b = np.random.default_rng(n).normal(size=(n, n)), ca.SX.sym("b", n)
    f = ca.Function("f", [b], [solve_small(ca.SX(A), b)[0]])
    np.testing.assert_allclose(A @ np.array(f(np.arange(n) + 1.0)).ravel(), np.arange(n) + 1.0)
    assert instruction_list(f).count("mul") == n * n
    assert instruction_list(f).count("div") == 0
