"""Joint limits for a module, found by walking: the loop stays closed and regular all over the box.

The walk starts at y = 0 and covers a grid; every step is a Newton correction with the oracle, and
every grid point must keep the dependent columns of K and the actuator Jacobian well away from
singular. On a simply connected box that is a proof (up to the grid) of one continuous branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tools.oracles.assembly import NotAssembled, close, loop_jacobian
from tools.oracles.files import Array
from tools.oracles.oracle import Oracle

from .site import Module

GRID_STEPS = {1: 0.08, 2: 0.2}  # of the reach, for so many independent joints
KEEP_REGULAR = 0.25  # smallest singular values over their values at y = 0
SHRINK = 0.8
SMALLEST = 0.25  # of the reach: smaller boxes are refused


@dataclass(frozen=True)
class Ranges:
    """Independent box and the positions that the other joints took over it."""

    lower: dict[str, float]
    upper: dict[str, float]


class _Regularity:
    """Smallest singular values of K_d and G_u, in units of their size at y = 0."""

    def __init__(self, oracle: Oracle, module: Module, q: Array) -> None:
        self.oracle, self.module = oracle, module
        self.dependent = oracle.columns(n for n in oracle.names if n not in module.independent)
        self.active = oracle.columns(module.active)
        K_d, G_u = self._matrices(q)
        self.columns = np.linalg.norm(K_d, axis=0)
        self.rows = np.linalg.norm(G_u, axis=1)
        self.good = bool(np.all(self.columns > 1e-2) and np.all(self.rows > 1e-2))
        if self.good:
            self.reference = self._smallest(K_d, G_u)
            self.good = bool(self.reference.min() > 0.1)

    def _matrices(self, q: Array) -> tuple[Array, Array]:
        K = self.oracle.K(q)
        G = loop_jacobian(self.oracle, q, self.module.independent, K=K)
        return K[:, self.dependent], G[self.active]

    def _smallest(self, K_d: Array, G_u: Array) -> Array:
        scaled = (K_d / self.columns, G_u / self.rows[:, None])
        return np.array([_smallest_singular_value(matrix) for matrix in scaled])

    def holds(self, q: Array) -> bool:
        """True while both matrices are as regular as asked."""
        return bool(np.all(self._smallest(*self._matrices(q)) > KEEP_REGULAR * self.reference))


def _smallest_singular_value(matrix: Array) -> float:
    return float(np.linalg.svd(matrix, compute_uv=False)[-1]) if matrix.size else np.inf


def find_ranges(oracle: Oracle, module: Module, rng: np.random.Generator) -> Ranges | None:
    """Shrink a random box until the module is closed and regular all over it (None: hopeless)."""
    names = module.independent
    reach = np.array([module.reach[name] for name in names])
    lower, upper = (reach * rng.uniform(0.7, 1.0, len(names)) for _ in range(2))
    if set(names) == set(oracle.names):
        return _ranges(oracle, names, np.zeros((1, oracle.nq)), -lower, upper)
    q = close(oracle, names, oracle.neutral())
    regularity = _Regularity(oracle, module, q)
    if not regularity.good:
        return None
    while np.all(np.minimum(lower, upper) > SMALLEST * reach):
        try:
            visited = np.array(list(_walk(oracle, names, q, -lower, upper, reach, regularity)))
        except NotAssembled:
            lower, upper = SHRINK * lower, SHRINK * upper
            continue
        return _ranges(oracle, names, visited, -lower, upper)
    return None


def _ranges(oracle: Oracle, names: list[str], visited: Array, lower: Array, upper: Array) -> Ranges:
    """The box, and for dependent joints what was visited with some air around it."""
    low, high = visited.min(axis=0), visited.max(axis=0)
    air = 0.2 * (high - low) + 0.05
    ranges = Ranges(
        dict(zip(oracle.names, map(float, low - air), strict=True)),
        dict(zip(oracle.names, map(float, high + air), strict=True)),
    )
    ranges.lower.update(zip(names, map(float, lower), strict=True))
    ranges.upper.update(zip(names, map(float, upper), strict=True))
    return ranges


def _walk(
    oracle: Oracle,
    names: list[str],
    q: Array,
    lower: Array,
    upper: Array,
    reach: Array,
    regularity: _Regularity,
) -> Iterator[Array]:
    """Configurations over the grid, the first coordinate outermost; NotAssembled when stuck."""
    if not len(lower):
        yield q
        return
    name, rest = names[len(names) - len(lower)], slice(1, None)
    yield from _walk(oracle, names, q, lower[rest], upper[rest], reach[rest], regularity)
    for end in (lower[0], upper[0]):
        count = int(np.ceil(abs(end) / (GRID_STEPS[len(names)] * reach[0])))
        here = q
        for _ in range(count):
            here = _step(oracle, names, here, name, end / count, regularity)
            yield from _walk(oracle, names, here, lower[rest], upper[rest], reach[rest], regularity)


def _step(
    oracle: Oracle, names: list[str], q: Array, name: str, step: float, regularity: _Regularity
) -> Array:
    """One step of one independent joint: predict with G, correct, insist on continuity."""
    slope = loop_jacobian(oracle, q, names)[:, names.index(name)]
    predicted = q + step * slope
    corrected = close(oracle, names, predicted, tolerance=1e-11, iterations=6)
    jump = np.max(np.abs(corrected - predicted))
    if jump > 0.3 * np.max(np.abs(step * slope)) or not regularity.holds(corrected):
        raise NotAssembled(f"{name} stops at {q[oracle.q_columns([name])]}")
    return corrected
