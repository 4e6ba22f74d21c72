"""Analytical closure: the same loops, solved in closed form leg by leg.

Positions come from :mod:`.legs`, one per irreducible block; G and g from the same linear equations
as in the numerical closure, so both kinds agree by construction. The assembly mode, and where the
closed form keeps to it, is decided in :mod:`.closed_form`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca, tracing
from ..spatial import SX
from .closure import Closure, Linearised
from .leg import Leg
from .legs import legs_of
from .loop_system import LoopSystem
from .numerical import SINGULAR, NumericalClosure

#: Sign of every two-way choice, leg by leg.
Signs = tuple[tuple[float, ...], ...]

#: Published dimensions are rounded; a closed form may leave this much in any row [m, rad].
TOLERANCE = 1e-5
#: A limit itself still belongs to the domain.
ON_THE_EDGE = 1e-9


@dataclass(frozen=True)
class LegChoice:
    """Decisions about one block (JSON-serialisable).

    Attributes:
        modes: sign of every two-way choice; they name the assembly mode.
        centres: middle of the range of each unknown angle, where it is cut open (0 if unused).
        windings: turns of each unknown angle per turn of the one independent joint; the range is
            that of what remains.
    """

    modes: list[float]
    centres: list[float]
    windings: list[int]


@dataclass(frozen=True)
class AnalyticalChoice:
    """Decisions about one closure.

    Attributes:
        legs: per block; residual: what the closed form leaves at most [m, rad].
        domain: (low, high) per independent joint: where the closed form is proved to stay on the
            branch of the reference.
        share: of the known configurations of the branch that the domain holds.
    """

    legs: list[LegChoice]
    residual: float
    domain: list[tuple[float, float]]
    share: float = 1.0

    @staticmethod
    def of(data: dict[str, Any]) -> AnalyticalChoice:
        """From JSON."""
        domain = [(float(low), float(high)) for low, high in data["domain"]]
        return AnalyticalChoice(
            [LegChoice(**leg) for leg in data["legs"]], data["residual"], domain, data["share"]
        )


class AnalyticalClosure(Closure):
    """A closure without unknowns: q is an expression in y."""

    kind = "analytical"

    def __init__(self, numerical: NumericalClosure, choice: AnalyticalChoice) -> None:
        self._numerical = numerical
        self.system, self.plan = numerical.system, numerical.plan
        self.choice = choice
        self.legs = legs_of(self.system, self.plan)
        self.residual = max(numerical.residual, choice.residual)
        # Residual, one guard per block, and the domain.
        bounds = [bound for interval in choice.domain for bound in interval]
        self.n_checks = 1 + len(self.plan.blocks) + sum(map(math.isfinite, bounds))

    @property
    def loop_closure(self) -> NumericalClosure:
        """The same loops, solved by Newton."""
        return self._numerical

    def assemble(self, y: SX, x: SX) -> SX:
        """Local q, block after block."""
        q = {i: ca.SX(float(v)) for i, v in enumerate(self.plan.q_ref)}
        for k, i in enumerate(self.system.independent):
            q[i] = y[k]
        return self._through_legs(q, self.choice.legs)

    def _through_legs(self, q: dict[int, SX], choices: list[LegChoice]) -> SX:
        for leg, choice in zip(self.legs, choices, strict=True):
            q.update(zip(leg.columns, solve_leg(self.system, leg, q, choice), strict=True))
        return ca.vertcat(*(q[i] for i in range(len(q))))

    def linearise(self, q: SX, yd: SX | None, tolerance: float) -> Linearised:
        """G, g and checks: the residual, and the signs that a Newton loop would have watched."""
        at = self._numerical.linearise(q, yd, TOLERANCE)
        signs = np.sign(self.plan.determinants)
        guards = [s * g - SINGULAR for s, g in zip(signs, at.guards, strict=True)]
        domain = []
        for i, (low, high) in zip(self.system.independent, self.choice.domain, strict=True):
            domain += [q[i] - (low - ON_THE_EDGE)] if math.isfinite(low) else []
            domain += [(high + ON_THE_EDGE) - q[i]] if math.isfinite(high) else []
        empty = ca.SX(0, at.slope.shape[1])
        checks = [*at.checks, *guards, *domain]
        return Linearised(at.G, at.g, empty, at.residual, checks, at.guards)

    def rates(self, q: SX, G: SX, yd: SX, ydd: SX) -> tuple[SX, SX]:
        """Of the loops, whatever solves them."""
        return self._numerical.rates(q, G, yd, ydd)

    def curvature(self, q: SX, G: SX, forces: SX) -> SX:
        """Of the loops, whatever solves them."""
        return self._numerical.curvature(q, G, forces)

    # -- assembly modes -------------------------------------------------------------------------

    @property
    def signs(self) -> Signs:
        """Of the current assembly mode."""
        return tuple(tuple(leg.modes) for leg in self.choice.legs)

    @property
    def mode_name(self) -> str:
        """The words for the signs of its legs."""
        return self._name_of(self.signs)

    def assembly_modes(self, q: Array) -> list[tuple[str, Array]]:
        """Those of all combinations of signs that close the loops, the current one first.

        Traced once, with the signs as input; every combination is a column of one evaluation.
        """
        counts = [len(leg.mode_words) for leg in self.legs]
        columns = np.array(list(itertools.product((1.0, -1.0), repeat=sum(counts)))).T
        with tracing():
            sign = ca.SX.sym("sign", sum(counts))
            signs = _by_leg([sign[k] for k in range(sum(counts))], counts)
            choices = [
                replace(choice, modes=list(modes))
                for choice, modes in zip(self.choice.legs, signs, strict=True)
            ]
            known = {i: ca.SX(float(v)) for i, v in enumerate(q)}
            vector = self._through_legs(known, choices)
            phi = self.system.phi(vector)[self.plan.rows]
            mode = ca.Function("mode", [sign], [ca.densify(vector), ca.densify(phi)])
            found, left = (np.asarray(part) for part in mode(columns))
        closed = np.all(np.isfinite(found), axis=0) & ~np.any(np.abs(left) > TOLERANCE, axis=0)
        ways = [(_by_leg(columns[:, k].tolist(), counts), k) for k in np.flatnonzero(closed)]
        ways.sort(key=lambda way: way[0] != self.signs)
        return [(self._name_of(signs), found[:, k]) for signs, k in ways]

    def _name_of(self, signs: Signs) -> str:
        words = []
        for number, (leg, modes) in enumerate(zip(self.legs, signs, strict=True), start=1):
            prefix = f"leg{number}." if len(self.legs) > 1 else ""
            for (plus, minus), sign in zip(leg.mode_words, modes, strict=True):
                words.append(prefix + (plus if sign > 0 else minus))
        return " ".join(words)


def solve_leg(system: LoopSystem, leg: Leg, q: dict[int, SX], choice: LegChoice) -> list[SX]:
    """Unknown positions of one leg, angles cut open opposite to the middle of their range."""
    values = leg.solve(q, tuple(choice.modes))
    result = []
    for value, centre, winding in zip(values, choice.centres, choice.windings, strict=True):
        if centre or winding:
            middle = centre + (winding * q[system.independent[0]] if winding else 0.0)
            value = middle + ca.atan2(ca.sin(value - middle), ca.cos(value - middle))
        result.append(value)
    return result


def _by_leg(signs: list[Any], counts: list[int]) -> tuple[tuple[Any, ...], ...]:
    """A flat list of signs, cut into legs."""
    ends = list(itertools.accumulate(counts, initial=0))
    return tuple(tuple(signs[a:b]) for a, b in itertools.pairwise(ends))
