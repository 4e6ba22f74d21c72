"""Which assembly mode a closed form is on, and where it is proved to stay there.

The mode is the one of the reference configuration: of all sign combinations of a leg, the one that
reproduces the known solutions (the branch's table), to the stated tolerance, is kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca, tracing
from ..errors import ClosureNotFound
from .analytical import (
    ON_THE_EDGE,
    TOLERANCE,
    AnalyticalChoice,
    AnalyticalClosure,
    LegChoice,
    solve_leg,
)
from .block import NotClosedForm
from .branch import Branch
from .continuation import Solution
from .leg import Leg
from .legs import legs_of
from .loop_system import LoopSystem
from .seed_table import LEAST_MARGIN

#: An angle of a closed form is known up to whole turns: its range must be clearly less than one.
LARGEST_RANGE = 2 * np.pi - 0.2
#: Beyond the joint limits: shares of the margin to try where there is no room for all of it.
SHARES = (1.0, 0.5, 0.25, 0.0625, 0.015625)


@tracing()
def choose(branch: Branch) -> AnalyticalChoice:
    """Find the assembly mode of the branch, and prove the closed form on all known solutions.

    Raises:
        NotClosedForm: with what does not fit.
    """
    numerical = branch.closure
    system = numerical.system
    if not branch.table.filled:
        raise NotClosedForm(
            "several solutions share the signs of the branch"
            if branch.table.many_valued
            else "too many independent joints to prove it on a grid"
        )
    legs = legs_of(system, numerical.plan)
    known = _configurations(branch, branch.known())
    choices = [_match(system, leg, known, numerical.plan.length) for leg in legs]
    everywhere = [(-np.inf, np.inf)] * len(system.independent)
    trial = AnalyticalClosure(numerical, AnalyticalChoice(choices, 0.0, everywhere))
    evaluate = _evaluation(trial)
    left = _left_over(evaluate, known)
    if not left < TOLERANCE:
        raise NotClosedForm(
            f"the closed form leaves {left:.2g} m or rad, more than the tolerance {TOLERANCE:g}"
        )
    domain = _beyond_limits(branch, evaluate, _domain(branch, trial))
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
    if branch.turns_freely():
        return [(-math.inf, math.inf)]
    if np.all(branch.table.reached) or (
        len(branch.lower) > 1 and not _lives_elsewhere(branch, closure)
    ):
        low, high = branch.lower, branch.upper
    else:
        low, high = branch.reachable_box(exact=True)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def _beyond_limits(
    branch: Branch, evaluate: Any, domain: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """The domain, widened where it ends at joint limits and not at a singularity.

    A single joint is followed as far as the closed form goes with it. Of several joints the
    outermost nodes must all lead on, and the closed form with them; where they do not, less is
    tried.
    """
    low, high = (np.array(side) for side in zip(*domain, strict=True))
    ends = [np.where(low == branch.lower, branch.margin[0], 0.0)]
    ends += [np.where(high == branch.upper, branch.margin[1], 0.0)]
    if not np.any(ends):
        return domain
    if len(low) == 1:
        for margin, side, sign in zip(ends, (low, high), (-1.0, 1.0), strict=True):
            side += sign * _followed(branch, evaluate, side.copy(), sign * margin)
    elif np.all(branch.table.reached):
        least = [share * np.minimum(ends, LEAST_MARGIN) for share in SHARES]
        for below, above in (ends, *least):
            found = branch.beyond(below, above)
            if found and _left_over(evaluate, _configurations(branch, found)) < TOLERANCE:
                low, high = low - below, high + above
                break
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def _followed(branch: Branch, evaluate: Any, end: Array, way: Array) -> float:
    """How far the closed form keeps to the branch from ``end`` on, at most the whole way."""
    gone, step = 0.0, SHARES[-2]
    while gone < 1.0 and step > SHARES[-1] ** 2:
        part = min(1.0, gone + step)
        if _fits(branch, evaluate, end + part * way):
            gone = part
        else:
            step /= 4.0
    return gone * float(abs(way[0]))


def _fits(branch: Branch, evaluate: Any, p: Array) -> bool:
    """The branch goes to ``p``, and the closed form with it."""
    try:
        found = [branch.solution(p)]
    except ClosureNotFound:
        return False
    return _left_over(evaluate, _configurations(branch, found)) < TOLERANCE


def _configurations(branch: Branch, solutions: Sequence[Solution]) -> Array:
    return np.array([branch.local_q(s) for s in solutions])


def _lives_elsewhere(branch: Branch, closure: AnalyticalClosure) -> bool:
    """The checks of the closed form hold somewhere that continuation did not come near."""
    points, near = branch.table.finer_grid()
    y = ca.SX.sym("y", points.shape[1])
    q = closure.assemble(y, ca.SX(0, 1))
    checks = closure.linearise(q, None, TOLERANCE).checks[: 1 + len(closure.plan.blocks)]
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
    sign = ca.SX.sym("sign", len(leg.mode_words))
    trial = LegChoice([sign[k] for k in range(len(leg.mode_words))], centres, windings)
    at = {i: q[i] for i in range(len(system.joints))}
    f = ca.Function("leg", [q, sign], [ca.vertcat(*solve_leg(system, leg, at, trial))])
    best: tuple[float, list[float]] = (np.inf, [])
    for modes in itertools.product((1.0, -1.0), repeat=len(leg.mode_words)):
        found = np.asarray(f.map(len(known))(known.T, ca.DM(modes))).T
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


def _evaluation(closure: AnalyticalClosure) -> Any:
    """Function q -> kept rows of phi and q, both of the closed form at the independent joints of q.

    Traced once: limits are approached in many small steps.
    """
    q = ca.SX.sym("q", len(closure.system.joints))
    found = closure.assemble(q[list(closure.system.independent)], ca.SX(0, 1))
    phi = closure.system.phi(found)[closure.plan.rows]
    return ca.Function("phi", [q], [ca.densify(phi), found])


def _left_over(evaluate: Any, known: Array) -> float:
    """Largest |phi| of the kept rows over the known solutions (the plan reports the others)."""
    phi, q_found = evaluate.map(len(known))(known.T)
    if float(np.max(np.abs(np.asarray(q_found).T - known))) > 1e-2:
        return float("inf")
    return float(np.max(np.abs(np.asarray(phi))))
