"""What is decided about a loop cluster once, at load: reference, rows, idle joints, blocks.

The analysis looks at K on assembled configurations around the reference (some defects of real files
show only there), decides what to keep, and explains what it found. The result is plain data, so
that it can be cached beside the compiled code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Array
from ..engine.symbolic import tracing
from ..model.submechanism import Submechanism
from .loop_numbers import LoopNumbers
from .loop_system import LoopSystem
from .odd_axes import odd_axes
from .rank import (
    RANK_TOLERANCE,
    Blocks,
    best_columns,
    determinants,
    independent_rows,
    null_space,
    rank_of,
    smallest_ratio,
    solving_order,
)
from .reference import CLOSED, check_orientation, find_reference

IDLE_TOLERANCE = 1e-6
SAMPLES = 8
#: How far from the reference rows must still be redundant [rad, or loop lengths], and how well.
FAR, VIOLATED = 0.2, 1e-3
#: How far the rows that are kept must be regular, if others are [rad, or loop lengths].
FURTHER = 1.0


@dataclass(frozen=True)
class Plan:
    """Decisions of the load-time analysis (JSON-serialisable).

    Attributes:
        q_ref: reference configuration, local order; closed to rounding.
        rows: kept rows of phi; dropped: the others, redundant.
        dropped_residual: largest |phi| seen in a dropped row on assembled configurations.
        idle: local positions of joints that the loops do not move.
        blocks: [rows, columns] of the irreducible blocks of K_d, in solving order; rows count
            within ``rows``, columns within the unknowns.
        determinants: of the blocks at the reference.
        length: characteristic length of the loop [m].
        rank: generic rank of K.
        reference_residual: max|phi| at the reference.
        smallest_singular_value: of the scaled K_d at the reference.
    """

    q_ref: list[float]
    rows: list[int]
    dropped: list[int]
    dropped_residual: float
    idle: list[int]
    blocks: Blocks
    determinants: list[float]
    length: float
    rank: int
    reference_residual: float
    smallest_singular_value: float
    notes: list[str] = field(default_factory=list)


@tracing()
def make_plan(system: LoopSystem, entry: Submechanism) -> Plan:
    """Analyse a loop cluster; raises SubmechanismError with the reason when it cannot be used."""
    numbers = LoopNumbers(system)
    q_ref, notes = find_reference(numbers, entry)
    check_orientation(numbers, entry, q_ref)
    samples = assembled_samples(numbers, q_ref)
    K_all = [numbers.scaled(q)[1] for q in samples]
    if max(map(rank_of, K_all)) > numbers.n - len(system.independent):
        # Overconstrained mechanisms have other motion modes near by: stay on the reference's.
        samples = assembled_samples(numbers, q_ref, along=K_all[0])
        K_all = [numbers.scaled(q)[1] for q in samples]
    idle = [
        i for i in system.dependent if all(np.linalg.norm(K[:, i]) < IDLE_TOLERANCE for K in K_all)
    ]
    unknown = [i for i in system.dependent if i not in idle]
    rank = max(rank_of(K) for K in K_all)
    rank_d = max(rank_of(K[:, unknown]) for K in K_all)
    _check_mobility(system, entry, rank, rank_d, len(unknown))
    K_ref = numbers.scaled(q_ref)[1]
    sigma = np.linalg.svd(K_ref[:, unknown], compute_uv=False)
    if rank_of(K_ref[:, unknown]) < len(unknown):
        raise entry.error(
            f"submechanism '{system.name}' is singular at its reference configuration "
            f"(smallest singular value of K_d {sigma[-1]:.1e})",
            "add `reference: {joint: position, ...}` with a regular configuration of the "
            "wanted branch",
        )
    rows = independent_rows(K_all, K_ref, unknown)
    if len(rows) < len(numbers.row_scale):
        rows = _lasting_rows(numbers, q_ref, rows, unknown)
    dropped = [r for r in range(len(numbers.row_scale)) if r not in rows]
    _check_dropped(numbers, entry, q_ref, rows, unknown)
    left = [float(np.max(np.abs(numbers.phi(q)[dropped]), initial=0.0)) for q in samples]
    blocks = solving_order(numbers.pattern[np.ix_(rows, unknown)])
    phi_ref = numbers.phi(q_ref)
    return Plan(
        q_ref=[float(v) for v in q_ref],
        rows=rows,
        dropped=dropped,
        dropped_residual=max(left, default=0.0),
        idle=idle,
        blocks=blocks,
        determinants=determinants(numbers.jacobian(q_ref)[np.ix_(rows, unknown)], blocks),
        length=numbers.length,
        rank=rank,
        reference_residual=float(np.max(np.abs(phi_ref[rows]), initial=0.0)),
        smallest_singular_value=float(sigma[-1]),
        notes=notes,
    )


@tracing()
def repartition(system: LoopSystem, plan: Plan) -> Plan | None:
    """The plan for other independent joints of the same loops; None when they are singular.

    With the actuators as independent joints the closure becomes the forward kinematics u -> y.
    """
    numbers = LoopNumbers(system)
    q_ref = np.array(plan.q_ref)
    unknown = [i for i in system.dependent if i not in plan.idle]
    K = numbers.scaled(q_ref)[1]
    sigma = np.linalg.svd(K[np.ix_(plan.rows, unknown)], compute_uv=False)
    if sigma[-1] < RANK_TOLERANCE * sigma[0]:
        return None
    blocks = solving_order(numbers.pattern[np.ix_(plan.rows, unknown)])
    return replace(
        plan,
        blocks=blocks,
        determinants=determinants(numbers.jacobian(q_ref)[np.ix_(plan.rows, unknown)], blocks),
        smallest_singular_value=float(sigma[-1]),
    )


def choose_independent(
    system: LoopSystem, entry: Submechanism, preferred: Sequence[int] = ()
) -> tuple[int, ...]:
    """Local positions of joints that determine the others of a loop system.

    Rank-revealing: a pivoted QR of K at the reference takes the best conditioned columns as
    dependent, those of ``preferred`` joints last. ``system.independent`` is left aside.
    """
    with tracing():
        numbers = LoopNumbers(replace(system, independent=()))
        q_ref, _ = find_reference(numbers, entry)
        K = numbers.scaled(q_ref)[1]
    weight = np.ones(numbers.n)
    weight[list(preferred)] = 1e-3
    dependent = best_columns(K * weight)[: rank_of(K)]
    return tuple(i for i in range(numbers.n) if i not in dependent)


def assembled_samples(
    numbers: LoopNumbers, q_ref: Array, along: Array | None = None
) -> list[Array]:
    """Configurations on phi = 0 around the reference, the reference itself first.

    Starts go off in all directions, or, with the scaled K at the reference in ``along``, only in
    those that it allows.
    """
    rng = np.random.default_rng(7)
    directions = np.eye(numbers.n) if along is None else null_space(along)
    samples = [q_ref]
    everything = list(range(numbers.n))
    for trial in range(4 * SAMPLES):
        if len(samples) > SAMPLES:
            break
        spread = 0.05 + 0.3 * (trial % SAMPLES) / SAMPLES
        direction = directions @ rng.normal(size=directions.shape[1])
        start = q_ref + direction * spread * numbers.column_scale
        q, error = numbers.close(start, everything)
        if error < CLOSED:
            samples.append(q)
    return samples


def _lasting_rows(
    numbers: LoopNumbers, q_ref: Array, rows: list[int], unknown: list[int]
) -> list[int]:
    """``rows``, or others where these alone become singular and all together do not.

    Which of a loop's redundant rows are kept makes no difference next to the reference, but each
    set has singularities of its own further away: its determinant changes its sign there.
    """
    count, every = numbers.n - len(unknown), list(range(len(numbers.row_scale)))
    far = [numbers.scaled(q_ref)[1][:, unknown]]
    for way in (*np.eye(count), *-np.eye(count)):
        for q in _followed(numbers, q_ref, every, unknown, way * FURTHER, 10):
            phi, K = numbers.scaled(q)
            if np.max(np.abs(phi)) > CLOSED or rank_of(K[:, unknown]) < len(unknown):
                break
            far.append(K[:, unknown])

    def lasts(chosen: list[int]) -> float:
        sign = np.linalg.slogdet(far[0][chosen])[0]
        kept = all(np.linalg.slogdet(K[chosen])[0] == sign for K in far)
        return min(smallest_ratio(K, chosen) for K in far) if kept else 0.0

    if lasts(rows):
        return rows
    others = [sorted(best_columns(K.T)[: len(unknown)]) for K in far]
    dropped = [r for r in every if r not in rows]
    others += [sorted({*rows, new} - {old}) for new in dropped for old in rows]
    best = max(others, key=lasts)
    return best if lasts(best) else rows


def _followed(
    numbers: LoopNumbers,
    q_ref: Array,
    rows: list[int],
    unknown: list[int],
    way: Array,
    steps: int,
) -> Iterator[Array]:
    """Where the unknown joints are by Newton on ``rows`` when the others go a ``way``, in steps."""
    others = [i for i in range(numbers.n) if i not in unknown]
    q = q_ref.copy()
    for _ in range(steps):
        q[others] += way * numbers.column_scale[others] / steps
        for _ in range(10):
            phi, K = numbers.scaled(q)
            step = np.linalg.lstsq(K[np.ix_(rows, unknown)], -phi[rows], rcond=None)[0]
            q[unknown] += np.clip(step, -0.3, 0.3) * numbers.column_scale[unknown]
            if np.max(np.abs(step), initial=0.0) < CLOSED:
                break
        yield q.copy()


def _check_dropped(
    numbers: LoopNumbers, entry: Submechanism, q_ref: Array, rows: list[int], unknown: list[int]
) -> None:
    """Rows that depend on others at the reference only, as where a loop is stretched, count.

    Without them the loop would move where it is locked: it is followed by the others, in steps.
    """
    dropped = [r for r in range(len(numbers.row_scale)) if r not in rows]
    rng = np.random.default_rng(3)
    for _ in range(SAMPLES if dropped else 0):
        way = rng.uniform(-1.0, 1.0, numbers.n - len(unknown)) * FAR
        *_, q = _followed(numbers, q_ref, rows, unknown, way, 4)
        phi = np.abs(numbers.scaled(q)[0])
        if np.max(phi[rows]) < CLOSED and np.max(phi[dropped]) > VIOLATED:
            worst = numbers.system.labels[dropped[int(np.argmax(phi[dropped]))]]
            raise entry.error(
                f"submechanism '{numbers.system.name}' is locked at its reference configuration: "
                f"{worst} depends on other constraints there, but not next to it",
                "add `reference: {joint: position, ...}` where the loops are not stretched, or "
                "free that axis",
            )


def _check_mobility(
    system: LoopSystem, entry: Submechanism, rank: int, rank_d: int, unknown: int
) -> None:
    """K of all joints and K_d of so many unknown ones must have the right ranks."""
    m = len(system.independent)
    n_moving = m + unknown
    mobility = n_moving - rank
    names = ", ".join(system.names(system.independent))
    if mobility == m and rank_d == unknown:
        return
    if mobility != m:
        much, cure = (
            ("few", "add the missing loop") if mobility > m else ("many", "free constraint axes")
        )
        problem = (
            f"too {much} independent joints: the loops leave {mobility} degrees of freedom "
            f"({n_moving} joints, {rank} independent constraints), but {m} are listed ({names})"
        )
        remedy = f"list {mobility} joints under jointnames_independent, or {cure}"
        if odd := odd_axes(system):
            problem, remedy = f"{problem}: {'; '.join(odd)}", "turn that axis, or free it"
        elif not mobility:
            remedy = f"{cure}: nothing of this loop can move"
    else:
        problem = (
            f"the independent joints {names} do not determine the others: K_d has rank {rank_d}, "
            f"{unknown} are needed"
        )
        remedy = "choose other joints for jointnames_independent"
    problem = f"submechanism '{system.name}': {problem}"
    raise entry.error(problem, remedy, key="jointnames_independent")
