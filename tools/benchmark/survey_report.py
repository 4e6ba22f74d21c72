"""The survey of the shipped robots as tables and as JSON: ratios first, then times, then checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .mujoco_side import MJ_FORWARD
from .pinocchio_side import LOOP_ABA
from .references import METHODS, NATIVE
from .report import heading, table
from .survey import (
    BATCH_FORWARD,
    BATCH_INVERSE,
    COLD_INVERSE,
    FORWARD,
    INVERSE,
    LARGE_IN_NUMPY,
    MJ_HARD,
    OSIM,
    OURS,
    QUANTITIES,
    STATE,
    Survey,
)

#: Below a quantity's heading: what the columns do, where that is not the same as ours.
REMARKS = {
    STATE: "Pinocchio gets the completed q, qd, qdd, and adds the poses of all bodies.",
    INVERSE: "Projection multiplies G and Gᵀ with all their entries (their zeros folded away it "
    "would be ours); Lagrange solves for actuator and constraint forces, loop by loop. `rnea` is "
    "of the open tree with completed states: it neither closes loops nor maps forces to the "
    "actuators. *from C* is what `export_c` writes, compiled with -O2 for any machine of the kind "
    "and called from C.",
    FORWARD: "`aba` is of the open tree: it does less. `constraintDynamics` and `lcaba` hold the "
    "loops by 3-D contacts; `mj_forward` holds loops and couplings by equalities, which are soft. "
    f"† in NumPy, not one native program (trees of more than {NATIVE} joints).",
    OSIM: "`computeDelassusMatrix` is of the open tree: it does less. † as above.",
    COLD_INVERSE: "Every call after a sweep of 8 MB of memory, as between two cycles of a "
    "controller: code and data come from far away.",
    BATCH_INVERSE: "`rneaInParallel` is of the open tree, on one thread as all the others.",
    BATCH_FORWARD: "`abaInParallel` is of the open tree; `mujoco.rollout` is `mj_forward` and an "
    "integration step. † as above.",
}
INTRODUCTION = (
    "Every cell is the time of that method over ours (last column): above 1, ours is faster. "
    "Ours has closed forms wherever there are any; *hybrid* solves the first mechanism with loops "
    "numerically, *numerical* all of them. One thread, called from Python, same states (a "
    "trajectory at 1 kHz), measured in turns; loops start warm. Projection and Lagrange are bare "
    "programs, ours are methods that first look at their options (some 0.2 µs)."
)
#: Why the other cells of robots x quantities x methods are empty or have no column.
EMPTY_CELLS = (
    "Empty cells. *hybrid* needs two mechanisms with loops, and *numerical* one that has a closed "
    "form: without it ours is the same. `constraintDynamics` and `lcaba` need loops that points "
    "can close: a cut with one locked rotation (a universal joint) has no contact in Pinocchio and "
    "no equality in MuJoCo, and couplings alone are no loops to Pinocchio. What has no column does "
    "not exist: projection and Lagrange start from our completed state; Pinocchio's inverse "
    "dynamics knows no loops, MuJoCo's gives the constraint forces of a consistent motion as "
    "zero; Pinocchio's constrained dynamics has no batches, MuJoCo no inverse OSIM."
)


def survey_lines(surveys: Sequence[Survey], markdown: bool) -> list[str]:
    """All tables of the survey."""
    if not surveys:
        return []
    lines = [heading("Shipped robots: ratios", 2, markdown), "", INTRODUCTION]
    for quantity, methods in QUANTITIES.items():
        lines += ["", heading(quantity, 3, markdown), ""]
        if quantity in REMARKS:
            lines += [REMARKS[quantity], ""]
        lines += table(_ratios(surveys, quantity, methods[1:]), markdown)
    lines += ["", EMPTY_CELLS, "", heading("Robots and notes", 3, markdown), ""]
    lines += table(_robots(surveys), markdown)
    lines += ["", heading("Shipped robots: times [µs]", 2, markdown)]
    for quantity, methods in QUANTITIES.items():
        lines += ["", heading(quantity, 3, markdown), ""]
        lines += table(_times(surveys, quantity, methods), markdown)
    lines += ["", heading("Shipped robots: checks before timing", 2, markdown), ""]
    lines += [
        "Largest relative error of everything that must agree (tolerance 1e-6: Pinocchio's rnea "
        "and constraintDynamics, projection, Lagrange, all solvers, batch and single), and the "
        "deviations of what is soft or iterative. MuJoCo's equalities are soft; extrapolated to "
        "hard ones they must agree to 1e-3.",
        "",
        *table(_checks(surveys), markdown),
        "",
    ]
    return lines


def survey_json(surveys: Sequence[Survey]) -> dict[str, Any]:
    """Everything, times in seconds per evaluation."""
    return {
        survey.name: {
            "size": survey.size,
            "notes": survey.notes,
            "in_numpy": survey.in_numpy,
            "seconds": {
                quantity: {m: survey.times.get((quantity, m)) for m in methods}
                for quantity, methods in QUANTITIES.items()
            },
            "checks": [check.data() for check in survey.checks],
        }
        for survey in surveys
    }


def _ratios(
    surveys: Sequence[Survey], quantity: str, methods: Sequence[str]
) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("robot", *methods, "ours [µs]")]
    for survey in surveys:
        cells = [_ratio(survey, quantity, method) for method in methods]
        rows.append((survey.name, *cells, _microseconds(survey, quantity, OURS)))
    return rows


def _ratio(survey: Survey, quantity: str, method: str) -> str:
    ratio = survey.ratio(quantity, method)
    slow = survey.in_numpy and quantity in LARGE_IN_NUMPY and method in METHODS
    mark = "†" if slow else ""
    return "" if ratio is None else f"{ratio:.2f}{mark}" if ratio < 10 else f"{ratio:.0f}{mark}"


def _times(
    surveys: Sequence[Survey], quantity: str, methods: Sequence[str]
) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("robot", *methods)]
    for survey in surveys:
        cells = (_microseconds(survey, quantity, method) for method in methods)
        rows.append((survey.name, *cells))
    return rows


def _microseconds(survey: Survey, quantity: str, method: str) -> str:
    seconds = survey.times.get((quantity, method))
    return "" if seconds is None else f"{1e6 * seconds:.3g}"


def _robots(surveys: Sequence[Survey]) -> list[tuple[str, ...]]:
    heading = ("robot", "n / m / p / mechanisms with loops", "notes")
    return [heading, *((s.name, s.size, "; ".join(s.notes)) for s in surveys)]


def _checks(surveys: Sequence[Survey]) -> list[tuple[str, ...]]:
    loose = {name: f"error of Pinocchio's {name}" for name in LOOP_ABA}
    loose |= {name: name for name in (MJ_HARD, f"{MJ_FORWARD} (soft)")}
    rows: list[tuple[str, ...]] = [("robot", "checks", "largest error", *loose, "")]
    for survey in surveys:
        errors = {check.name: check.error for check in survey.checks}
        strict = [check for check in survey.checks if check.name not in loose.values()]
        worst = max(check.error for check in strict)
        cells = [f"{errors[name]:.1e}" if name in errors else "" for name in loose.values()]
        wrong = [check.name for check in survey.checks if not check.ok]
        verdict = f"WRONG: {', '.join(wrong)}" if wrong else "ok"
        rows.append((survey.name, str(len(strict)), f"{worst:.1e}", *cells, verdict))
    return rows
