"""A closed configuration of a loop from any start, also far open: for files that cannot name one.

Descent and Newton's method on the dependent joints from many starts, with the independent ones
where they are and, for loops that stand at a dead point there, a little away from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from .approach import Approach
from .loop_numbers import LoopNumbers
from .loop_system import LoopSystem
from .rank import rank_of

#: Where the independent joints are tried, from their start [rad, or loop lengths].
OFFSETS = (0.0, 0.3, -0.3, 0.8, -0.8)
STARTS = 16
#: Closed configurations around one that show the rank of K there.
NEIGHBOURS = 3
#: Smallest singular value of K_d, relative to that of the best configuration that was found.
REGULAR = 0.1
#: The same, relative to the largest one, of a configuration that needs no comparison.
PLAIN = 0.01


@dataclass(frozen=True, eq=False)
class Assembly:
    """A regular closed configuration.

    Attributes:
        q: (n,) joint positions, local order.
        step: number of the offset of the independent joints with which it was found; without any
            two assemblies differ in dependent joints only.
        distance: from the start [rad, or loop lengths].
        outside: joints beyond their limits.
    """

    q: Array
    step: int
    distance: float
    outside: tuple[str, ...]

    @staticmethod
    def of(numbers: LoopNumbers, q0: Array, q: Array, step: int) -> Assembly:
        """``q`` (n,) as seen from ``q0``, without whole turns."""
        system = numbers.system
        q = _unwound(system, q, q0)
        joints = [system.joint(i) for i in range(numbers.n)]
        outside = [j.name for j, x in zip(joints, q, strict=True) if not j.lower <= x <= j.upper]
        away = np.round((q - q0) / numbers.column_scale, 6)  # the same for mirror images
        return Assembly(q, step, round(float(np.linalg.norm(away)), 6), tuple(outside))


def assembled(
    numbers: LoopNumbers,
    q0: Array,
    tolerance: float,
    is_turned: Callable[[LoopSystem, Array], object | None],
) -> Array | None:
    """``q0`` (n,) if it is closed and regular, else the first of :func:`assemblies`, or None."""
    system = numbers.system
    dependent = list(system.dependent)
    phi, K = numbers.scaled(q0)
    if not (np.all(np.isfinite(phi)) and np.all(np.isfinite(K))):
        return None
    at_once = np.linalg.svd(K[:, dependent], compute_uv=False)
    closed = np.max(np.abs(phi), initial=0.0) < tolerance and is_turned(system, q0) is None
    if closed and len(at_once) == len(dependent) and np.all(at_once > PLAIN * at_once[:1]):
        return q0
    found = assemblies(numbers, q0, tolerance, is_turned, first=True)
    return found[0].q if found else None


def assemblies(
    numbers: LoopNumbers,
    q0: Array,
    tolerance: float,
    is_turned: Callable[[LoopSystem, Array], object | None],
    starts: int = STARTS,
    first: bool = False,
) -> list[Assembly]:
    """Distinct regular closed configurations around ``q0`` (n,), the best first; empty: none found.

    Within the joint limits where one is; with the independent joints moved as little as need be;
    then the one nearest to ``q0``, and of two that mirror each other that with the larger first
    joint.

    Args:
        tolerance: largest scaled residual of a closed configuration.
        is_turned: whether a cut is closed but for half a turn.
        starts: of the dependent joints, for each offset of the independent ones.
        first: only the first one of the list must be right: no offset is tried that cannot give it.
    """
    system = numbers.system
    dependent = list(system.dependent)
    approach = Approach(numbers)
    found: list[tuple[int, Array]] = []
    for columns in (dependent, list(range(numbers.n))):  # all: where too few are dependent
        for k, (step, start) in enumerate([] if found else _starts(numbers, q0, starts)):
            if first and k % starts == 0 and any(_leads(numbers, q0, q) for _, q in found):
                break
            q, error = numbers.close(approach.descend(start, columns), columns)
            if error < tolerance and is_turned(system, q) is None:
                found.append((step, q))
    K_d = [numbers.scaled(q)[1][:, dependent] for _, q in found]
    rank = max(map(rank_of, K_d), default=0)
    values = [np.linalg.svd(K, compute_uv=False) if rank else np.ones(1) for K in K_d]
    best = max((s[rank - 1] for s in values), default=0.0)
    distinct: dict[tuple[object, ...], Assembly] = {}
    for (step, q), s in zip(found, values, strict=True):
        if s[rank - 1] >= min(REGULAR * best, PLAIN * s[0]):
            one = Assembly.of(numbers, q0, q, step)
            away = np.round((one.q - q0) / numbers.column_scale, 6)
            distinct.setdefault((bool(one.outside), step, one.distance, *(-away)), one)
    return [distinct[order] for order in sorted(distinct)]


def _leads(numbers: LoopNumbers, q0: Array, q: Array) -> bool:
    """Whether ``q`` comes before all that other offsets lead to: within the limits, and regular.

    Its K_d has the rank that it has around it, and has it plainly: at a dead point, as of a
    stretched linkage, it has less.
    """
    if Assembly.of(numbers, q0, q, 0).outside:
        return False
    dependent, everything = list(numbers.system.dependent), list(range(numbers.n))
    rng, around = np.random.default_rng(5), []
    for _ in range(NEIGHBOURS):
        away = rng.uniform(-0.1, 0.1, numbers.n) * numbers.column_scale
        around.append(numbers.scaled(numbers.close(q + away, everything)[0])[1][:, dependent])
    values = np.linalg.svd(numbers.scaled(q)[1][:, dependent], compute_uv=False)
    rank = max(map(rank_of, around))
    return bool(rank and values[rank - 1] >= PLAIN * values[0])


def least_gap(numbers: LoopNumbers, q0: Array) -> Array:
    """Joint positions (n,) of the smallest residual that descent from many starts leaves."""
    everything, approach = list(range(numbers.n)), Approach(numbers)
    ends = [approach.descend(start, everything) for _, start in _starts(numbers, q0)[:STARTS]]
    return min(ends, key=lambda q: float(np.linalg.norm(numbers.scaled(q)[0])))


def stuck_loop(system: LoopSystem, q0: Array, tolerance: float) -> tuple[LoopSystem, Array] | None:
    """The cut of fewest joints that no start closes even with all others open, and its least gap.

    Only that cut is in the system that is returned; of ``q`` (n,) its joints matter.
    """
    ways = [[system.local[b] for b in cut.bodies if b in system.local] for cut in system.cuts]
    for way, cut in sorted(zip(ways, system.cuts, strict=True), key=lambda each: len(each[0])):
        alone = replace(system, independent=(), cuts=(cut,), couplings=())
        numbers = LoopNumbers(alone)
        approach = Approach(numbers)
        starts = (start for _, start in _starts(numbers, q0)[:STARTS])
        ends = [numbers.close(approach.descend(start, way), way) for start in starts]
        q, error = min(ends, key=lambda end: end[1])
        if error >= tolerance:
            return alone, q
    return None


def _starts(numbers: LoopNumbers, q0: Array, starts: int = STARTS) -> list[tuple[int, Array]]:
    """(number of the offset, where Newton's method begins), the plain ones first."""
    rng = np.random.default_rng(11)
    system, result = numbers.system, []
    independent, dependent = list(system.independent), list(system.dependent)
    for step, offset in enumerate(OFFSETS):
        for k in range(starts):
            away = np.zeros(numbers.n)
            away[independent] = offset
            away[dependent] = rng.uniform(-1.0, 1.0, len(dependent)) * np.pi * k / starts
            result.append((step, q0 + away * numbers.column_scale))
    return result


def _unwound(system: LoopSystem, q: Array, q0: Array) -> Array:
    """``q`` without whole turns, of hinges that no gear counts."""
    if system.couplings:
        return q
    turns = np.where(system.column_is_length, 0.0, np.round((q - q0) / (2.0 * np.pi)))
    return np.asarray(q - 2.0 * np.pi * turns)
