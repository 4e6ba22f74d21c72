"""Sparse linear systems of limbs and platforms: solutions and determinants, also near singular."""

from __future__ import annotations

import numpy as np
import pytest

from closed_loop_dynamics.closure.elimination import solve_sparse
from closed_loop_dynamics.engine.instructions import instruction_list
from closed_loop_dynamics.engine.symbolic import ca

Array = np.ndarray


def limbs(count: int, rows: int, hinges: int, rng: np.random.Generator) -> Array:
    """Pattern of so many limbs on a platform, its rows and columns in any order."""
    own = np.kron(np.eye(count, dtype=bool), np.ones((rows, hinges), dtype=bool))
    shared = np.ones((count * rows, count * (rows - hinges)), dtype=bool)
    pattern = np.hstack([own, shared])
    return pattern[rng.permutation(len(pattern))][:, rng.permutation(len(pattern))]


def dense(n: int) -> Array:
    return np.ones((n, n), dtype=bool)


RNG = np.random.default_rng(4)
PATTERNS = {
    "four": dense(4),
    "seven": dense(7),
    "rods": limbs(6, 3, 2, RNG),
    "four rows a rod": limbs(3, 4, 2, RNG),
    "single hinges": limbs(4, 2, 1, RNG),
    "band": np.abs(np.subtract.outer(np.arange(9), np.arange(9))) <= 1,
    "blocks": np.kron(np.eye(3, dtype=bool), dense(2))[::-1],
}
every_pattern = pytest.mark.parametrize("pattern", list(PATTERNS.values()), ids=list(PATTERNS))


def solver(pattern: Array, count: int) -> ca.Function:
    """(A, B) -> (X, det); only the entries of the pattern are read."""
    A, B = ca.SX.sym("A", *pattern.shape), ca.SX.sym("B", len(pattern), count)
    return ca.Function("solve", [A, B], solve_sparse(A * ca.DM(pattern * 1.0), B))


@every_pattern
def test_solutions_and_determinants_are_those_of_numpy(pattern: Array) -> None:
    solve, rng = solver(pattern, 3), np.random.default_rng(1)
    signs = set()
    for _ in range(20):
        A, B = rng.normal(size=pattern.shape) * pattern, rng.normal(size=(len(pattern), 3))
        X, det = solve(A, B)
        scale = np.linalg.cond(A) * 1e-13
        assert np.max(np.abs(A @ np.array(X) - B)) <= scale * np.max(np.abs(np.array(X)))
        assert float(det) == pytest.approx(np.linalg.det(A), rel=scale)
        signs.add(np.sign(float(det)))
    assert signs == {-1.0, 1.0}


@every_pattern
def test_entries_that_happen_to_vanish_do_no_harm(pattern: Array) -> None:
    """What a fixed order of pivots would divide by is zero in one matrix or another."""
    solve, rng, regular = solver(pattern, 1), np.random.default_rng(2), 0
    for _ in range(200):
        A = rng.integers(-1, 2, pattern.shape) * pattern
        B = rng.normal(size=(len(pattern), 1))
        if np.linalg.matrix_rank(A) == len(A):
            regular += 1
            X, det = solve(A, B)
            np.testing.assert_allclose(A @ np.array(X), B, atol=1e-11)
            assert float(det) == pytest.approx(np.linalg.det(A), rel=1e-9)
    assert regular >= 5


@every_pattern
def test_a_near_singularity_is_as_near_as_it_is(pattern: Array) -> None:
    """Across a singularity the determinant changes its sign where that of the matrix does."""
    solve, rng = solver(pattern, 1), np.random.default_rng(3)
    A, D = (rng.normal(size=pattern.shape) * pattern for _ in range(2))
    roots = np.linalg.eigvals(-np.linalg.solve(D, A))
    real = roots[np.abs(roots.imag) < 1e-9].real
    if not len(real):
        pytest.skip("this pencil has no singular matrix")
    at, B = float(real[np.argmin(np.abs(real))]), rng.normal(size=(len(pattern), 1))
    for away in (1e-3, 1e-6, 1e-8):
        below, above = (solve(A + (at + s * away) * D, B) for s in (-1.0, 1.0))
        assert float(below[1]) * float(above[1]) < 0.0
        for M, (X, det) in zip(
            (A + (at - away) * D, A + (at + away) * D), (below, above), strict=True
        ):
            assert np.max(np.abs(M @ np.array(X) - B)) <= 1e-10 * np.max(np.abs(np.array(X)))
            assert float(det) == pytest.approx(np.linalg.det(M), rel=1e-13 * np.linalg.cond(M))


def test_zeros_by_structure_cost_nothing() -> None:
    """Six rods on a platform: an eighth of what 18 unknowns cost that all depend on each other."""
    sparse, full = (
        instruction_list(solver(pattern, 1)).count()
        for pattern in (limbs(6, 3, 2, np.random.default_rng(5)), dense(18))
    )
    assert sparse < full / 8


def test_a_matrix_that_is_singular_by_structure_has_no_determinant() -> None:
    pattern = dense(5)
    pattern[1:, :2] = False  # two columns of one row
    X, det = solver(pattern, 1)(np.ones((5, 5)), np.ones((5, 1)))
    assert float(det) == 0.0
    assert np.isnan(np.array(X)).all()
