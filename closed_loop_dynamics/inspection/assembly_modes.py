"""The ways in which the loops of a submechanism close at given independent positions.

A closed form knows all of them: one sign per two-way choice of each leg.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..closure.analytical import AnalyticalClosure, LegChoice, solve_leg
from ..engine.symbolic import ca, tracing
from ..mechanism import Closure

#: Sign of every two-way choice, leg by leg.
Signs = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class AssemblyMode:
    """One way in which the loops close at given independent positions.

    Attributes:
        name: stable words, one per two-way choice of each leg, such as "elbow_up".
        positions: joint -> position.
        current: it is the mode the robot is on.
    """

    name: str
    positions: dict[str, float]
    current: bool


def current_mode_name(closure: Closure) -> str:
    """Name of the mode that the loops stay on."""
    if not isinstance(closure, AnalyticalClosure):
        return "current"
    return _mode_name(closure, _signs(closure))


def all_modes(closure: Closure, names: Sequence[str], current: Array) -> list[AssemblyMode]:
    """All modes at the local configuration ``current``, the one it is on first.

    A numerical closure knows only that one. ``names`` are those of the joints.
    """
    if not isinstance(closure, AnalyticalClosure):
        positions = dict(zip(names, map(float, current), strict=True))
        return [AssemblyMode("current", positions, True)]
    found, here = [], _signs(closure)
    for signs, q in _assembled(closure, current):
        positions = dict(zip(names, map(float, q), strict=True))
        found.append(AssemblyMode(_mode_name(closure, signs), positions, signs == here))
    return sorted(found, key=lambda mode: not mode.current)


def _signs(closure: AnalyticalClosure) -> Signs:
    return tuple(tuple(leg.modes) for leg in closure.choice.legs)


def _assembled(closure: AnalyticalClosure, current: Array) -> Iterator[tuple[Signs, Array]]:
    """All signs on which the loops close, with the local q there.

    Traced once, with the signs as input; every combination is a column of one evaluation.
    """
    counts = [leg.modes for leg in closure.legs]
    columns = np.array(list(itertools.product((1.0, -1.0), repeat=sum(counts)))).T
    with tracing():
        sign = ca.SX.sym("sign", sum(counts))
        q = {i: ca.SX(float(v)) for i, v in enumerate(current)}
        modes = _by_leg([sign[k] for k in range(sum(counts))], counts)
        for leg, choice, here in zip(closure.legs, closure.choice.legs, modes, strict=True):
            trial = LegChoice(list(here), choice.centres, choice.windings)
            values = solve_leg(closure.system, leg, q, trial)
            for i, value in zip(leg.columns, values, strict=True):
                q[i] = value
        vector = ca.vertcat(*(q[i] for i in range(len(current))))
        phi = closure.system.phi(vector)[closure.plan.rows]
        mode = ca.Function("mode", [sign], [ca.densify(vector), ca.densify(phi)])
        found, left = (np.asarray(part) for part in mode(columns))
    closed = np.all(np.isfinite(found), axis=0) & ~np.any(np.abs(left) > closure.tolerance, axis=0)
    for k in np.flatnonzero(closed):
        yield _by_leg(columns[:, k].tolist(), counts), found[:, k]


def _by_leg(signs: list[Any], counts: list[int]) -> tuple[tuple[Any, ...], ...]:
    """A flat list of signs, cut into legs."""
    ends = list(itertools.accumulate(counts, initial=0))
    return tuple(tuple(signs[a:b]) for a, b in itertools.pairwise(ends))


def _mode_name(closure: AnalyticalClosure, signs: Signs) -> str:
    words = []
    for number, (leg, modes) in enumerate(zip(closure.legs, signs, strict=True), start=1):
        prefix = f"leg{number}." if len(closure.legs) > 1 else ""
        for (plus, minus), sign in zip(leg.mode_words, modes, strict=True):
            words.append(prefix + (plus if sign > 0 else minus))
    return " ".join(words)
