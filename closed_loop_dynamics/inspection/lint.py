"""The linter behind ``Robot.report()``: what a careful colleague would say about the model files.

Nothing here changes the robot. Each finding has a severity, a short code for tools and a sentence
for people; each submechanism gets a summary of what was decided when it was loaded.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..actuation.undriven import undriven_words
from ..closure.branch import Branch
from ..dynamics.catalogue import FORWARD_DYNAMICS
from ..errors import ClosedLoopError, SingularInertia
from ..mechanism import Mechanism
from ..model.tree import Joint
from ..programs import Programs
from ..quantities.coordinates import reference_independent
from .findings import Finding
from .inertia import inertia_findings
from .report import Report, SubmechanismSummary

#: A planar loop that is planar only to this is worth a sentence [m, rad].
NOTABLE_RESIDUAL = 1e-9


def lint(programs: Programs) -> Report:
    """Look a loaded robot over."""
    mech = programs.mechanism
    findings: list[Finding] = []
    summaries = []
    for c in range(len(mech.components)):
        summaries.append(_summary(programs, c))
        findings += _component_findings(programs, c, summaries[-1])
    findings += inertia_findings(mech)
    findings += _reduced_inertia(programs)
    order = {"error": 0, "warning": 1, "info": 2}
    findings.sort(key=lambda f: order[f.severity])
    return Report(mech.tree.name, mech.n, mech.m, mech.p, tuple(summaries), tuple(findings))


_EXPLICIT = {
    "serial": "no loop",
    "coupling": "linear",
    "function": "given by the user",
    "idle": "nothing moves it",
}


def _summary(programs: Programs, c: int) -> SubmechanismSummary:
    mech = programs.mechanism
    component, closure = mech.components[c], mech.closures[c]
    names = [mech.joint_name(b) for b in component.joints]
    independent = [mech.joint_name(b) for b in component.independent]
    active = [mech.joint_name(b) for b in component.active]
    loops = mech.loop_closure(c)
    if loops is None:
        why = _EXPLICIT[closure.kind]
        idle = names if closure.kind == "idle" else []
        rank = len(names) - len(independent) - len(idle)
        return SubmechanismSummary(
            component.entry.name,
            closure.kind,
            why,
            names,
            independent,
            active,
            len(independent),
            rank,
            rank,
            idle_joints=idle,
        )
    plan, branch = loops.plan, programs.branches[c]
    low, high = branch.reachable_box(exact=True)
    why = programs.reasons[c]
    if closure.kind == "numerical":
        sizes = "+".join(str(len(rows)) for rows, _ in plan.blocks)
        why = f"Newton on {closure.n_x} unknowns in blocks {sizes}; {why}"
    return SubmechanismSummary(
        component.entry.name,
        closure.kind,
        why,
        names,
        independent,
        active,
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
        legs=tuple(leg.name for leg in closure.legs),
    )


def _component_findings(programs: Programs, c: int, s: SubmechanismSummary) -> Iterator[Finding]:
    mech = programs.mechanism
    component, loops = mech.components[c], mech.loop_closure(c)
    if s.idle_joints:
        yield Finding(
            "warning",
            "idle-joint",
            s.name,
            f"{s.name}: no loop moves {', '.join(s.idle_joints)}; frozen at the reference",
        )
    if s.redundant_rows:
        yield Finding(
            "info",
            "redundant-rows",
            s.name,
            f"{s.name}: over-constrained, dropped {'; '.join(s.redundant_rows)}",
        )
    if s.dropped_residual > NOTABLE_RESIDUAL:
        yield Finding(
            "warning",
            "dropped-residual",
            s.name,
            f"{s.name}: dropped rows are violated by up to {s.dropped_residual:.2g} m or rad "
            "(rounded dimensions?)",
        )
    if s.residual > NOTABLE_RESIDUAL:
        yield Finding(
            "info",
            "closed-form-residual",
            s.name,
            f"{s.name}: the closed form leaves up to {s.residual:.2g} m or rad (rounded "
            "dimensions?); `solver: numerical` closes the loop exactly",
        )
    if loops is not None:
        for note in loops.plan.notes:
            yield Finding("info", "assembled", s.name, f"{s.name}: {note}")
        if programs.branches[c].table.many_valued:
            yield Finding(
                "warning",
                "many-valued",
                s.name,
                f"{s.name}: the way to a position decides on which configuration it ends (cuspidal "
                "mechanism); answers follow the path of the calls, use guess= to choose",
            )
        if s.singular_value < 1e-2:
            yield Finding(
                "warning",
                "near-singular-reference",
                s.name,
                f"{s.name}: the reference is close to a singularity (smallest singular value of "
                f"K_d {s.singular_value:.1e})",
            )
        yield from _limit_findings(mech, programs.branches[c], s)
    if not mech.is_floating(c) and len(component.active) < len(component.independent):
        yield Finding(
            "warning",
            "underactuated",
            s.name,
            f"{s.name}: {len(s.active)} actuators for {len(s.independent)} degrees of freedom; "
            f"at the reference nothing drives {undriven_words(programs, c)}",
        )
    if len(component.active) > len(component.independent):
        yield Finding(
            "info",
            "redundant-actuation",
            s.name,
            f"{s.name}: {len(s.active)} actuators for {len(s.independent)} degrees of freedom; "
            "forces of minimum norm are used",
        )


def _limit_findings(mech: Mechanism, branch: Branch, s: SubmechanismSummary) -> Iterator[Finding]:
    """Limits of independent joints past a toggle, and of dependent ones inside the range."""
    system = branch.closure.system
    joints = [mech.tree.bodies[b].joint for b in system.joints]
    for k, i in enumerate(system.independent):
        low, high = s.reachable[joints[i].name]
        margin = 1e-6 if len(system.independent) == 1 else 1.01 * float(branch.seeds.step[k])
        past = (branch.lower[k] < low - margin) or (branch.upper[k] > high + margin)
        if past and (np.isfinite(joints[i].lower) or np.isfinite(joints[i].upper)):
            yield Finding(
                "warning",
                "limits-past-toggle",
                s.name,
                f"{s.name}: limits of {joints[i].name} [{joints[i].lower:.4g}, "
                f"{joints[i].upper:.4g}] reach past a singularity of the loop; reachable "
                f"[{low:.4g}, {high:.4g}]",
            )
    solutions = np.array([branch.local_q(x) for x in branch.known()])
    for i in branch.closure.unknown:
        low, high = float(solutions[:, i].min()), float(solutions[:, i].max())
        if _outside(joints[i], low, high):
            yield Finding(
                "info",
                "limits-contradict-loop",
                s.name,
                f"{s.name}: over its range the loop moves {joints[i].name} through "
                f"[{low:.4g}, {high:.4g}], its limits are [{joints[i].lower:.4g}, "
                f"{joints[i].upper:.4g}]",
            )


def _outside(joint: Joint, low: float, high: float) -> bool:
    slack = 1e-6
    return low < joint.lower - slack or high > joint.upper + slack


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
