"""The linter behind ``Robot.report()``: what a careful colleague would say about the model files.

Nothing here changes the robot. Each finding has a severity, a short code for tools and a sentence
for people; each submechanism gets a summary of what was decided when it was loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..actuation.undriven import reference_independent, undriven_words
from ..closure.branch import Branch
from ..errors import ClosedLoopError, SingularInertia
from ..model.tree import Joint
from .findings import Finding
from .inertia import inertia_findings

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..robot import Robot

#: A planar loop that is planar only to this is worth a sentence [m, rad].
NOTABLE_RESIDUAL = 1e-9


@dataclass(frozen=True)
class SubmechanismSummary:
    """What was decided about one entry (or one independent part of it).

    Attributes:
        solver: "serial", "coupling", "numerical" or "idle", with a reason in ``why``.
        joints, independent, active: names; degrees of freedom are ``len(independent)``.
        mobility: joints that move minus rank of K.
        rank: of K at several assembled configurations; rows: constraint rows of the file.
        redundant_rows, idle_joints: what was dropped and frozen.
        dropped_residual: largest |phi| left in a dropped row [m, rad].
        residual: max|phi| at the reference, or over the branch for a closed form [m, rad].
        singular_value: the smallest one of the scaled K_d at the reference.
        reachable: joint -> interval that the loop allows inside the joint limits.
    """

    name: str
    solver: str
    why: str
    joints: list[str]
    independent: list[str]
    active: list[str]
    mobility: int
    rank: int = 0
    rows: int = 0
    redundant_rows: list[str] = field(default_factory=list)
    idle_joints: list[str] = field(default_factory=list)
    dropped_residual: float = 0.0
    residual: float = 0.0
    singular_value: float = 1.0
    reachable: dict[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """All findings and summaries of a robot; print it, or take :meth:`as_dict` for JSON."""

    robot: str
    n: int
    m: int
    p: int
    submechanisms: tuple[SubmechanismSummary, ...]
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """No finding of severity "error"."""
        return not self.errors

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that make results wrong or impossible."""
        return tuple(f for f in self.findings if f.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings that a user should know of."""
        return tuple(f for f in self.findings if f.severity == "warning")

    def __getitem__(self, name: str) -> SubmechanismSummary:
        """The summary of a submechanism by name."""
        for summary in self.submechanisms:
            if summary.name == name:
                return summary
        raise KeyError(name)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.robot}: n = {self.n} joints, m = {self.m} independent, p = {self.p} driven"
        ]
        for s in self.submechanisms:
            if s.solver == "serial":
                continue
            lines.append(
                f"  {s.name}: {s.solver} ({s.why}); {len(s.joints)} joints, rank {s.rank}, "
                f"mobility {s.mobility}"
            )
            for joint, (low, high) in s.reachable.items():
                lines.append(f"    {joint} reaches [{low:.4g}, {high:.4g}]")
        serial = sum(s.solver == "serial" for s in self.submechanisms)
        lines.append(f"  {serial} plain joints")
        lines += [f"  {f.severity}: {f.message} [{f.code}]" for f in self.findings]
        if not self.findings:
            lines.append("  nothing to remark")
        return "\n".join(lines)


def lint(robot: Robot) -> Report:
    """Look a loaded robot over."""
    mech = robot.mechanism
    findings: list[Finding] = []
    summaries = []
    for c in range(len(mech.components)):
        summaries.append(_summary(robot, c))
        findings += _component_findings(robot, c, summaries[-1])
    findings += inertia_findings(mech)
    findings += _reduced_inertia(robot)
    order = {"error": 0, "warning": 1, "info": 2}
    findings.sort(key=lambda f: order[f.severity])
    return Report(mech.tree.name, robot.n, robot.m, robot.p, tuple(summaries), tuple(findings))


_EXPLICIT = {
    "serial": "no loop",
    "coupling": "linear",
    "function": "given by the user",
    "idle": "nothing moves it",
}


def _summary(robot: Robot, c: int) -> SubmechanismSummary:
    mech = robot.mechanism
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
    plan, branch = loops.plan, robot.branches[c]
    low, high = branch.reachable_box(exact=True)
    why = robot.reasons[c]
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
    )


def _component_findings(robot: Robot, c: int, s: SubmechanismSummary) -> Iterator[Finding]:
    mech = robot.mechanism
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
        if robot.branches[c].table.many_valued:
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
        yield from _limit_findings(mech, robot.branches[c], s)
    if not mech.is_floating(c) and len(component.active) < len(component.independent):
        yield Finding(
            "warning",
            "underactuated",
            s.name,
            f"{s.name}: {len(s.active)} actuators for {len(s.independent)} degrees of freedom; "
            f"at the reference nothing drives {undriven_words(robot, c)}",
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


def _reduced_inertia(robot: Robot) -> Iterator[Finding]:
    """The reduced inertia must be positive definite where it matters: at the reference."""
    mech = robot.mechanism
    y = reference_independent(robot)
    try:
        robot.forward_dynamics(y, np.zeros(mech.m), np.zeros(mech.p))
    except SingularInertia as error:
        yield Finding("error", "singular-inertia", "", str(error))
    except ClosedLoopError as error:
        yield Finding("error", "reference", "", str(error))
