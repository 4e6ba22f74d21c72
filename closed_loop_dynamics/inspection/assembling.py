"""All ways to assemble the loops of one submechanism, from any start, also far open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..closure.assembly import Assembly, assemblies
from ..closure.closure import Closure
from ..closure.gaps import gap_words
from ..closure.loop_numbers import LoopNumbers
from ..closure.numerical import NumericalClosure
from ..closure.rank import determinants
from ..closure.reference import CLOSED, turned_cut
from ..engine.symbolic import tracing
from ..errors import InvalidInput, did_you_mean

STARTS = 64
#: Two configurations are one [rad, or loop lengths].
SAME = 1e-5


@dataclass(frozen=True)
class Way:
    """One way to assemble loops.

    Attributes:
        name: its assembly mode: words of the legs of a closed form, else "current" or the signs of
            the blocks of K_d relative to the reference.
        positions: joint -> position [rad or m].
        distance: from the start, all joints together [rad, or loop lengths].
        outside: joints beyond their limits.
    """

    name: str
    positions: dict[str, float]
    distance: float
    outside: tuple[str, ...]


@dataclass(frozen=True)
class Ways:
    """All that were found, within the limits and nearest first, and the gaps at the start.

    With the independent joints at their start, or moved as little as need be, alike for all.
    """

    gaps: str
    found: tuple[Way, ...]


@tracing()
def ways_to_assemble(closure: Closure, start: Mapping[str, float]) -> Ways:
    """From ``start``, joint -> position; joints that it does not name start at zero."""
    loops = closure.loop_closure
    assert loops is not None
    system, idle = loops.system, tuple(loops.plan.idle)
    names = system.names(range(len(system.joints)))
    for name in start:
        if name not in names:
            raise InvalidInput(f"no joint '{name}' in '{system.name}'; {did_you_mean(name, names)}")
    q0 = np.array([start.get(name, 0.0) for name in names])
    # What no loop moves stays where it is, as the independent joints do.
    numbers = LoopNumbers(replace(system, independent=(*system.independent, *idle)))
    found = assemblies(numbers, q0, CLOSED, turned_cut, STARTS)
    for q in [q for one in found[:1] for _, q in closure.assembly_modes(one.q)]:
        found.append(Assembly.of(numbers, q0, q, found[0].step))
    alike = [one for one in found if one.step == found[0].step]
    alike.sort(key=lambda one: (bool(one.outside), one.distance))
    found = []
    for one in alike:
        if not any(_same(numbers, one.q, other.q) for other in found):
            found.append(one)
    ways: list[Way] = []
    fixed = list(system.independent)
    for one in found:
        name = _name(closure, loops, numbers, one.q)
        elsewhere = bool(np.max(np.abs(one.q - found[0].q)[fixed], initial=0.0) > SAME)
        if elsewhere and name in [way.name for way in ways]:
            continue  # the loops had to be closed by all joints: one of each mode is enough
        positions = dict(zip(names, map(float, one.q), strict=True))
        ways.append(Way(name, positions, one.distance, one.outside))
    return Ways(gap_words(system, q0), tuple(ways))


def _same(numbers: LoopNumbers, a: Array, b: Array) -> bool:
    """Whether two configurations are one, but for whole turns."""
    away = np.where(numbers.system.column_is_length, a - b, np.sin(0.5 * (a - b)))
    return bool(np.max(np.abs(away / numbers.column_scale), initial=0.0) < SAME)


def _name(closure: Closure, loops: NumericalClosure, numbers: LoopNumbers, q: Array) -> str:
    for name, known in closure.assembly_modes(q) if closure is not loops else ():
        if _same(numbers, known, q):
            return name
    K_d, plan = loops.numeric_K_d(q), loops.plan
    now = determinants(K_d, plan.blocks)
    signs = ["+" if a * b > 0.0 else "-" for a, b in zip(now, plan.determinants, strict=True)]
    return "".join(signs) if "-" in signs else "current"
