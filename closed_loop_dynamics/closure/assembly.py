"""A closed configuration of a loop from any start, also far open: for files that cannot name one.

Descent and Newton's method on the dependent joints from many starts, with the independent ones
where they are and, for loops that stand at a dead point there, a little away from it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from .approach import Approach
from .loop_numbers import LoopNumbers
from .loop_system import LoopSystem
from .rank import rank_of

#: Where the independent joints are tried, from their start [rad, or loop lengths].
OFFSETS = (0.0, 0.3, -0.3, 0.8, -0.8)
STARTS = 16
#: Smallest singular value of K_d, relative to that of the best configuration that was found.
REGULAR = 0.1
#: The same, relative to the largest one, of a configuration that needs no comparison.
PLAIN = 0.01


def assembled(
    numbers: LoopNumbers,
    q0: Array,
    tolerance: float,
    is_turned: Callable[[LoopSystem, Array], object | None],
) -> Array | None:
    """The regular closed configuration (n,) next to ``q0``; None when none is found.

    Within the joint limits where one is; with the independent joints moved as little as need be;
    then the one nearest to ``q0``, and of two that mirror each other that with the larger first
    joint.

    Args:
        tolerance: largest scaled residual of a closed configuration.
        is_turned: whether a cut is closed but for half a turn.
    """
    system = numbers.system
    dependent = list(system.dependent)
    phi, K = numbers.scaled(q0)
    if not (np.all(np.isfinite(phi)) and np.all(np.isfinite(K))):
        return None
    at_once = np.linalg.svd(K[:, dependent], compute_uv=False)
    closed = np.max(np.abs(phi), initial=0.0) < tolerance and is_turned(system, q0) is None
    if closed and len(at_once) == len(dependent) and at_once[-1] > PLAIN * at_once[0]:
        return q0
    approach = Approach(numbers)
    found: list[tuple[int, Array]] = []
    for columns in (dependent, list(range(numbers.n))):  # all: where too few are dependent
        for step, start in [] if found else _starts(numbers, q0):
            q, error = numbers.close(approach.descend(start, columns), columns)
            if error < tolerance and is_turned(system, q) is None:
                found.append((step, _unwound(system, q, q0)))
    K_d = [numbers.scaled(q)[1][:, dependent] for _, q in found]
    rank = max(map(rank_of, K_d), default=0)
    values = [np.linalg.svd(K, compute_uv=False) if rank else np.ones(1) for K in K_d]
    best = max((s[rank - 1] for s in values), default=0.0)
    regular = [
        each
        for each, s in zip(found, values, strict=True)
        if s[rank - 1] >= min(REGULAR * best, PLAIN * s[0])
    ]

    def order(each: tuple[int, Array]) -> tuple[bool, int, float, list[float]]:
        step, q = each
        joints = [system.joint(i) for i in range(numbers.n)]
        outside = any(not j.lower <= x <= j.upper for j, x in zip(joints, q, strict=True))
        away = np.round((q - q0) / numbers.column_scale, 6)
        return outside, step, round(float(np.linalg.norm(away)), 6), [-x for x in away]

    return min(regular, key=order)[1] if regular else None


def _starts(numbers: LoopNumbers, q0: Array) -> list[tuple[int, Array]]:
    """(number of the offset, where Newton's method begins), the plain ones first."""
    rng = np.random.default_rng(11)
    system, result = numbers.system, []
    independent, dependent = list(system.independent), list(system.dependent)
    for step, offset in enumerate(OFFSETS):
        for k in range(STARTS):
            away = np.zeros(numbers.n)
            away[independent] = offset
            away[dependent] = rng.uniform(-1.0, 1.0, len(dependent)) * np.pi * k / STARTS
            result.append((step, q0 + away * numbers.column_scale))
    return result


def _unwound(system: LoopSystem, q: Array, q0: Array) -> Array:
    """``q`` without whole turns, of hinges that no gear counts."""
    if system.couplings:
        return q
    turns = np.where(system.column_is_length, 0.0, np.round((q - q0) / (2.0 * np.pi)))
    return np.asarray(q - 2.0 * np.pi * turns)
