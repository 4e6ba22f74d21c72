"""The linter behind ``Robot.report()``: what a careful colleague would say about the model files.

Nothing here changes the robot. Each finding has a severity, a short code for tools and a sentence
for people; each submechanism gets a summary of what was decided when it was loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..actuation.undriven import undriven_words
from ..arrays import Array
from ..closure.branch import Branch
from ..dynamics.catalogue import FORWARD_DYNAMICS
from ..errors import ClosedLoopError, SingularInertia
from ..mechanism import Mechanism
from ..model.tree import Joint
from ..programs import Programs
from ..quantities.coordinates import reference_independent
from .drive import Drive, dead_point_words, has_drive
from .report import Finding, Report, SubmechanismSummary
from .tips import tip_gaps
from .units import units_findings

#: A planar loop that is planar only to this is worth a sentence [m, rad].
NOTABLE_RESIDUAL = 1e-9
ROUNDED = 1e-3  # relative slack of the triangle inequality of moments of inertia
SLACK = 1e-6  # a limit is passed by more than this [rad or m]


def lint(programs: Programs) -> Report:
    """Look a loaded robot over."""
    mech = programs.mechanism
    summaries = [_summary(programs, c) for c in range(len(mech.components))]
    findings = [
        replace(finding, file=entry.file, place=entry.place)
        for c, s in enumerate(summaries)
        for entry in [mech.components[c].entry]
        for finding in _component_findings(programs, c, s)
    ]
    findings += [*_of_the_readers(mech), *units_findings(mech.tree, mech.entries)]
    findings += [*_inertias(mech), *_reduced_inertia(programs)]
    findings.sort(key=lambda f: ("error", "warning", "info").index(f.severity))
    return Report(mech.tree.name, mech.n, mech.m, mech.p, tuple(summaries), tuple(findings))


_EXPLICIT = {
    "serial": "no loop",
    "coupling": "linear",
    "function": "a function, of the user or the file",
    "idle": "nothing moves it",
}


def _summary(programs: Programs, c: int) -> SubmechanismSummary:
    mech = programs.mechanism
    component, closure = mech.components[c], mech.closures[c]
    names, independent, active = (
        [mech.joint_name(b) for b in bodies]
        for bodies in (component.joints, component.independent, component.active)
    )

    def summary(why: str, **facts: Any) -> SubmechanismSummary:
        return SubmechanismSummary(
            component.entry.name, closure.kind, why, names, independent, active, **facts
        )

    loops = mech.closures[c].loop_closure
    if loops is None:
        idle = names if closure.kind == "idle" else []
        rank, mobility = len(names) - len(independent) - len(idle), len(independent)
        why = _EXPLICIT[closure.kind]
        return summary(why, mobility=mobility, rank=rank, rows=rank, idle_joints=idle)
    plan, branch = loops.plan, programs.branches[c]
    low, high = branch.reachable_box(exact=True)
    why = programs.reasons[c]
    if closure.kind == "numerical":
        sizes = "+".join(str(len(rows)) for rows, _ in plan.blocks)
        why = f"Newton on {closure.n_x} unknowns in blocks {sizes}; {why}"
    return summary(
        why,
        mobility=len(names) - len(plan.idle) - plan.rank,
        rank=plan.rank,
        rows=len(loops.system.labels),
        redundant_rows=[loops.system.labels[r] for r in plan.dropped],
        idle_joints=loops.system.names(plan.idle),
        dropped_residual=plan.dropped_residual,
        residual=closure.residual,
        singular_value=plan.smallest_singular_value,
        reachable={
            name: (float(a), float(b)) for name, a, b in zip(branch.names, low, high, strict=True)
        },
        reach_is_exact=branch.reach_is_exact,
        legs=tuple(leg.name for leg in closure.legs),
    )


def _about(s: SubmechanismSummary, severity: str, code: str, message: str) -> Finding:
    return Finding(severity, code, s.name, f"{s.name}: {message}")


def _component_findings(programs: Programs, c: int, s: SubmechanismSummary) -> Iterator[Finding]:
    mech = programs.mechanism
    component, loops = mech.components[c], mech.closures[c].loop_closure
    if s.idle_joints:
        message = f"no loop moves {', '.join(s.idle_joints)}; frozen at the reference"
        yield _about(s, "warning", "idle-joint", message)
    if s.redundant_rows:
        message = f"over-constrained, dropped {'; '.join(s.redundant_rows)}"
        yield _about(s, "info", "redundant-rows", message)
    if s.dropped_residual > NOTABLE_RESIDUAL:
        message = f"dropped rows are violated by up to {s.dropped_residual:.2g} m or rad"
        yield _about(s, "warning", "dropped-residual", f"{message} (rounded dimensions?)")
    if s.residual > NOTABLE_RESIDUAL:
        message = (
            f"the closed form leaves up to {s.residual:.2g} m or rad (rounded dimensions?); "
            "`solver: numerical` closes the loop exactly"
        )
        yield _about(s, "info", "closed-form-residual", message)
    if loops is not None:
        chosen = component.entry.reference and not component.entry.assemble
        for note in loops.plan.notes:
            yield _about(s, "info" if chosen else "warning", "assembled", note)
        for severity, words in tip_gaps(mech.tree, component, loops.system.cuts):
            yield _about(s, severity, "gap", words)
        if programs.branches[c].table.many_valued:
            message = (
                "the way to a position decides on which configuration it ends (cuspidal "
                "mechanism); answers follow the path of the calls, use guess= to choose"
            )
            yield _about(s, "warning", "many-valued", message)
        if s.singular_value < 1e-2:
            value = f"(smallest singular value of K_d {s.singular_value:.1e})"
            message = f"the reference is close to a singularity {value}"
            yield _about(s, "warning", "near-singular-reference", message)
        yield from _limit_findings(mech, programs.branches[c], s)
        if has_drive(programs, c):
            for severity, words in dead_point_words(Drive(programs, c)):
                yield _about(s, severity, "drive-dead-point", words)
    freedom = mech.velocities(component.independent).size
    counts = f"{len(s.active)} actuators for {freedom} degrees of freedom"
    if c in mech.drivable and len(component.active) < len(component.independent):
        message = f"{counts}; at the reference nothing drives {undriven_words(programs, c)}"
        yield _about(s, "warning", "underactuated", message)
    if len(component.active) > len(component.independent):
        message = f"{counts}; forces of minimum norm are used"
        yield _about(s, "info", "redundant-actuation", message)


def _of_the_readers(mech: Mechanism) -> Iterator[Finding]:
    """What in the files is not used, or was read in one of several ways."""
    remarks = [("", remark) for remark in mech.tree.remarks]
    remarks += [(entry.name, remark) for entry in mech.entries for remark in entry.remarks]
    for name, remark in remarks:
        yield Finding.of(remark, name)


def _limit_findings(mech: Mechanism, branch: Branch, s: SubmechanismSummary) -> Iterator[Finding]:
    """Limits of independent joints past a toggle, and of dependent ones inside the range."""
    system = branch.closure.system
    joints = [mech.tree.bodies[b].joint for b in system.joints]
    for k, i in enumerate(system.independent):
        low, high = s.reachable[joints[i].name]
        margin = SLACK if len(system.independent) == 1 else 1.01 * float(branch.seeds.step[k])
        past = (branch.lower[k] < low - margin) or (branch.upper[k] > high + margin)
        if past and (np.isfinite(joints[i].lower) or np.isfinite(joints[i].upper)):
            words = f"limits of {joints[i].name} {_limits(joints[i])}"
            reach = f"[{low:.4g}, {high:.4g}]"
            if s.reach_is_exact:
                message = f"{words} reach past a singularity of the loop; reachable {reach}"
                yield _about(s, "warning", "limits-past-toggle", message)
            else:  # a box of nodes that all are reached: what it misses may be its coarse grid
                message = f"{words} are not reached everywhere; reachable at least {reach}, "
                message += "wherever the others are in theirs"
                yield _about(s, "info", "limits-past-toggle", message)
    solutions = np.array([branch.local_q(x) for x in branch.known()])
    for i in branch.closure.unknown:
        low, high = float(solutions[:, i].min()), float(solutions[:, i].max())
        if low < joints[i].lower - SLACK or high > joints[i].upper + SLACK:
            message = (
                f"over its range the loop moves {joints[i].name} through [{low:.4g}, {high:.4g}], "
                f"its limits are {_limits(joints[i])}"
            )
            yield _about(s, "info", "limits-contradict-loop", message)


def _limits(joint: Joint) -> str:
    return f"[{joint.lower:.4g}, {joint.upper:.4g}]"


def _reduced_inertia(programs: Programs) -> Iterator[Finding]:
    """The reduced inertia must be positive definite where it matters: at the reference."""
    mech = programs.mechanism
    y = reference_independent(mech, programs.branches)
    try:
        programs.run(FORWARD_DYNAMICS.plain, None, y, np.zeros(mech.m), np.zeros(mech.p))
    except SingularInertia as error:
        yield Finding("error", "singular-inertia", "", str(error))
    except ClosedLoopError as error:
        yield Finding("error", "reference", "", str(error))


def _inertias(mech: Mechanism) -> Iterator[Finding]:
    """What a rigid body cannot have: per link the principal moments; per body massless leaves."""
    for link, (mass, _, inertia) in mech.tree.link_inertias.items():
        problem = _inertia_problem(mass, inertia)
        if problem:
            yield Finding("warning", "inertia", "", f"link '{link}': {problem}")
    parents = {body.parent for body in mech.tree.bodies}
    for i, body in enumerate(mech.tree.bodies):
        massless = body.mass == 0.0 and not np.any(body.inertia)
        if massless and i not in parents:
            message = (
                f"link '{body.link}' at the end of a chain has neither mass nor inertia; fine only "
                "when its loop or gear gives it inertia"
            )
            yield Finding("info", "massless-leaf", "", message)


def _inertia_problem(mass: float, inertia: Array) -> str:
    values = np.linalg.eigvalsh(inertia)
    scale = max(float(np.max(np.abs(values))), 1e-300)
    if mass == 0.0 and not np.any(inertia):
        return ""
    if values[0] < -1e-9 * scale:
        return f"the rotational inertia has a negative principal moment ({values[0]:.3g})"
    if values[2] > (values[0] + values[1]) * (1.0 + ROUNDED):
        return (
            "the principal moments violate the triangle inequality "
            f"({values[0]:.3g} + {values[1]:.3g} < {values[2]:.3g})"
        )
    if mass > 0.0 and values[0] <= 0.0:
        return "mass without rotational inertia about every axis"
    return ""
