"""Analytical closure: the same loops, solved in closed form leg by leg.

Positions come from :mod:`.legs`, one per irreducible block; G and g from the same linear equations
as in the numerical closure, so both kinds agree by construction. The assembly mode is the one of
the reference configuration: of all sign combinations of a leg, the one that reproduces the known
solutions (the branch's table), to the stated tolerance, is kept.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca, tracing
from ..spatial import SX
from .branch import Branch
from .legs import Leg, NotClosedForm, recognise
from .numerical import SINGULAR, Linearised, LoopSystem, NumericalClosure
from .plan import Plan

#: Published dimensions are rounded; a closed form may leave this much in any row [m, rad].
DEFAULT_TOLERANCE = 1e-5
#: An angle of a closed form is known up to whole turns: its range must be clearly less than one.
LARGEST_RANGE = 2 * np.pi - 0.2
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

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @staticmethod
    def of(data: dict[str, Any]) -> AnalyticalChoice:
        """From JSON."""
        domain = [(float(low), float(high)) for low, high in data["domain"]]
        return AnalyticalChoice(
            [LegChoice(**leg) for leg in data["legs"]], data["residual"], domain, data["share"]
        )


class AnalyticalClosure:
    """A closure without unknowns: q is an expression in y."""

    kind = "analytical"
    n_x = 0

    def __init__(
        self, numerical: NumericalClosure, choice: AnalyticalChoice, tolerance: float
    ) -> None:
        self.numerical = numerical
        self.choice = choice
        self.tolerance = tolerance
        self.legs = _legs(numerical.system, numerical.plan)

    @property
    def system(self) -> LoopSystem:
        """The loops."""
        return self.numerical.system

    @property
    def plan(self) -> Plan:
        """Load-time decisions shared with the numerical closure."""
        return self.numerical.plan

    @property
    def n_checks(self) -> int:
        """Residual, one guard per block, and the domain."""
        bounds = [bound for interval in self.choice.domain for bound in interval]
        return 1 + len(self.plan.blocks) + sum(map(math.isfinite, bounds))

    def assemble(self, y: SX, x: SX) -> SX:
        """Local q, block after block."""
        q = {i: ca.SX(float(v)) for i, v in enumerate(self.plan.q_ref)}
        for k, i in enumerate(self.system.independent):
            q[i] = y[k]
        for leg, choice in zip(self.legs, self.choice.legs, strict=True):
            for i, value in zip(leg.columns, solve_leg(self.system, leg, q, choice), strict=True):
                q[i] = value
        return ca.vertcat(*(q[i] for i in range(len(self.plan.q_ref))))

    def linearise(self, q: SX, qd_of: Any, tolerance: float) -> Linearised:
        """G, g and checks: the residual, and the signs that a Newton loop would have watched."""
        at = self.numerical.linearise(q, qd_of, self.tolerance)
        signs = np.sign(self.plan.determinants)
        guards = [s * g - SINGULAR for s, g in zip(signs, at.guards, strict=True)]
        domain = []
        for i, (low, high) in zip(self.system.independent, self.choice.domain, strict=True):
            domain += [q[i] - (low - ON_THE_EDGE)] if math.isfinite(low) else []
            domain += [(high + ON_THE_EDGE) - q[i]] if math.isfinite(high) else []
        empty = ca.SX(0, at.slope.shape[1])
        checks = [*at.checks, *guards, *domain]
        return Linearised(at.G, at.g, empty, at.residual, checks, at.guards)


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


@dataclass(frozen=True, eq=False)
class LinearRow(Leg):
    """A coupling row of a loop system: its joint is a linear function of known ones.

    The angle comes with its full turns: a rotor behind a gear may turn many times.
    """

    row: int = 0
    counts_turns: ClassVar[bool] = True

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        """The joint of the row."""
        zero = {**q, self.columns[0]: ca.SX(0.0)}
        one = {**q, self.columns[0]: ca.SX(1.0)}
        everything = range(len(self.system.joints))
        at_zero = self.system.phi(ca.vertcat(*(zero[i] for i in everything)))[self.row]
        at_one = self.system.phi(ca.vertcat(*(one[i] for i in everything)))[self.row]
        return [-at_zero / (at_one - at_zero)]


@dataclass(frozen=True)
class _Block:
    """Rows and unknown joints to be solved together; cut -1 for a coupling."""

    cut: int
    rows: list[int]
    joints: list[int]


def _legs(system: LoopSystem, plan: Plan) -> list[Leg]:
    """The legs in solving order; NotClosedForm when a block belongs to none.

    With axes along the base's a leg may fall into smaller blocks that no leg covers by themselves;
    then all blocks of that cut are tried together.
    """
    blocks = [_block(system, plan, rows, columns) for rows, columns in plan.blocks]
    whole: dict[int, Leg] = {}
    single: dict[int, Leg] = {}
    for i, block in enumerate(blocks):
        try:
            single[i] = _leg(system, plan, block)
        except NotClosedForm:
            mates = [b for b in blocks if b.cut == block.cut]
            if len(mates) == 1:
                raise
            rows = [r for b in mates for r in b.rows]
            joints = [j for b in mates for j in b.joints]
            whole[block.cut] = _leg(system, plan, _Block(block.cut, rows, joints))
    legs = []
    for i, block in enumerate(blocks):
        if block.cut not in whole:
            legs.append(single[i])
        elif all(b.cut != block.cut for b in blocks[i + 1 :]):
            legs.append(whole[block.cut])
    return legs


def _block(system: LoopSystem, plan: Plan, rows: list[int], columns: list[int]) -> _Block:
    unknown = [i for i in system.dependent if i not in plan.idle]
    owner = [c for c, cut in enumerate(system.cuts) for _ in cut.labels]
    here = [plan.rows[r] for r in rows]
    joints = [unknown[c] for c in columns]
    cuts = {owner[r] if r < len(owner) else -1 for r in here}
    if len(cuts) != 1 or (cuts == {-1} and len(here) != 1):
        names = ", ".join(system.names(joints))
        raise NotClosedForm(f"joints {names} are tied by several loops at once")
    return _Block(cuts.pop(), here, joints)


def _leg(system: LoopSystem, plan: Plan, block: _Block) -> Leg:
    if block.cut < 0:
        cut: Any = None
        (joint,) = block.joints
        return LinearRow(system, cut, cut, cut, False, (joint,), 0, block.rows[0])
    lengths = int(np.sum(system.row_is_length[block.rows]))
    fixed = {i: plan.q_ref[i] for i in plan.idle}
    rows = (lengths, len(block.rows) - lengths)
    return recognise(system, system.cuts[block.cut], block.joints, rows, fixed)


def choose(branch: Branch, tolerance: float = DEFAULT_TOLERANCE) -> AnalyticalChoice:
    """Find the assembly mode of the branch, and prove the closed form on all known solutions.

    Raises:
        NotClosedForm: with what does not fit.
    """
    with tracing():
        return _choose(branch, tolerance)


def _choose(branch: Branch, tolerance: float) -> AnalyticalChoice:
    numerical = branch.closure
    system = numerical.system
    if not branch.seeds.has_table:
        raise NotClosedForm(
            "several solutions share the signs of the branch"
            if branch.many_valued
            else "too many independent joints to prove it on a grid"
        )
    legs = _legs(system, numerical.plan)
    known = np.array([branch.local_q(s) for s in branch.known()])
    choices = []
    for leg in legs:
        choices.append(_match(system, leg, known, numerical.plan.length))
    everywhere = [(-np.inf, np.inf)] * len(system.independent)
    trial = AnalyticalClosure(numerical, AnalyticalChoice(choices, 0.0, everywhere), tolerance)
    left = _left_over(trial, known)
    if not left < tolerance:
        raise NotClosedForm(
            f"the closed form leaves {left:.2g} m or rad, more than the tolerance {tolerance:g}"
        )
    domain = _domain(branch, trial)
    low, high = np.array(domain).T
    p = known[:, list(system.independent)]
    inside = np.all((p >= low - ON_THE_EDGE) & (p <= high + ON_THE_EDGE), axis=1)
    return AnalyticalChoice(choices, left, domain, float(np.mean(inside)))


def _domain(branch: Branch, closure: AnalyticalClosure) -> list[tuple[float, float]]:
    """Where the checks of the closed form alone keep to the branch.

    Beyond a singularity a closed form may come back to life on the same signs. Where continuation
    reaches the whole grid over the joint limits, the limits are the domain; else what it reaches
    from the reference, unless on a finer grid the closed form is dead away from the nodes that were
    reached. That shows nothing of a single joint whose loop closes between two nodes only.
    """
    _, reached = branch.grid()
    if branch.turns_freely():
        return [(-math.inf, math.inf)]
    if np.all(reached) or (len(branch.lower) > 1 and not _lives_elsewhere(branch, closure)):
        low, high = branch.lower, branch.upper
    else:
        low, high = branch.reachable_box(exact=True)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def _lives_elsewhere(branch: Branch, closure: AnalyticalClosure) -> bool:
    """The checks of the closed form hold somewhere that continuation did not come near."""
    points, near = branch.finer_grid()
    y = ca.SX.sym("y", points.shape[1])
    q = closure.assemble(y, ca.SX(0, 1))
    checks = closure.linearise(q, None, closure.tolerance).checks[: 1 + len(closure.plan.blocks)]
    f = ca.Function("checks", [y], [ca.vertcat(*checks)])
    away = points[~near]
    return bool(np.any(np.all(np.asarray(f.map(len(away))(away.T)) > 0.0, axis=0)))


def _match(system: LoopSystem, leg: Leg, known: Array, length: float) -> LegChoice:
    """The signs that reproduce the known solutions of one leg, given all other joints."""
    columns = list(leg.columns)
    lengths = system.column_is_length[columns]
    centres, windings = [], []
    for i, is_length in zip(columns, lengths, strict=True):
        turns = not is_length and not leg.counts_turns
        winding, low, high = _range(system, known, i) if turns else (0, 0.0, 0.0)
        inside = not winding and low > -np.pi + 0.1 and high < np.pi - 0.1
        centres.append(0.0 if inside else 0.5 * (low + high))
        windings.append(winding)
    q = ca.SX.sym("q", len(system.joints))
    at = {i: q[i] for i in range(len(system.joints))}
    best: tuple[float, list[float]] = (np.inf, [])
    for modes in itertools.product((1.0, -1.0), repeat=leg.modes):
        trial = LegChoice(list(modes), centres, windings)
        f = ca.Function("leg", [q], [ca.vertcat(*solve_leg(system, leg, at, trial))])
        found = np.asarray(f.map(len(known))(known.T)).T
        away = np.abs(found - known[:, columns]) / np.where(lengths, length, 1.0)
        worst = float(np.max(away)) if np.all(np.isfinite(away)) else np.inf
        if worst < best[0]:
            best = (worst, list(modes))
    if best[0] > 1e-3:
        names = ", ".join(system.names(columns))
        raise NotClosedForm(
            f"no assembly mode of the closed form of {names} follows the branch of the reference"
        )
    return LegChoice(best[1], centres, windings)


def _range(system: LoopSystem, known: Array, i: int) -> tuple[int, float, float]:
    """How often joint ``i`` turns with the independent joint, and the range of the rest."""
    angles = known[:, i]
    if np.ptp(angles) <= LARGEST_RANGE:
        return 0, float(angles.min()), float(angles.max())
    independent = list(system.independent)
    if len(independent) == 1 and not system.column_is_length[independent[0]]:
        p = known[:, independent[0]]
        first, last = int(np.argmin(p)), int(np.argmax(p))
        winding = round(float((angles[last] - angles[first]) / (p[last] - p[first])))
        rest = angles - winding * p
        if winding and np.ptp(rest) <= LARGEST_RANGE:
            return winding, float(rest.min()), float(rest.max())
    raise NotClosedForm(f"joint '{system.names([i])[0]}' turns all the way round")


def _left_over(closure: AnalyticalClosure, known: Array) -> float:
    """Largest |phi| of the kept rows over the known solutions (the plan reports the others)."""
    y = ca.SX.sym("y", len(closure.system.independent))
    q = closure.assemble(y, ca.SX(0, 1))
    f = ca.Function("phi", [y], [ca.densify(closure.system.phi(q)[closure.plan.rows]), q])
    phi, q_found = f.map(len(known))(known[:, list(closure.system.independent)].T)
    if float(np.max(np.abs(np.asarray(q_found).T - known))) > 1e-2:
        return float("inf")
    return float(np.max(np.abs(np.asarray(phi))))
