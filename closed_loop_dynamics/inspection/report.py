"""What ``Robot.report()`` gives: findings, and a summary of every submechanism."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..model.remark import Remark


@dataclass(frozen=True)
class Finding:
    """A remark.

    Attributes:
        severity: "error" (results are wrong or impossible), "warning" or "info".
        code: short stable word for tools, such as "idle-joint".
        submechanism: name, or "" when it concerns the tree.
        message: one sentence for people.
        file, place, remedy: the same for tools, where they are known; the place is an element such
            as ``joint 'knee'`` or a key path.
    """

    severity: str
    code: str
    submechanism: str
    message: str
    file: str = ""
    place: str = ""
    remedy: str = ""

    @staticmethod
    def of(remark: Remark, submechanism: str = "") -> Finding:
        """What a reader remarked."""
        where = (remark.file, remark.place, remark.remedy)
        return Finding(remark.severity, remark.code, submechanism, remark.message, *where)


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
        reach_is_exact: else ``reachable`` is a box that is reached everywhere: at least so far.
        legs: kinds of the legs of a closed form, in solving order.
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
    reach_is_exact: bool = True
    legs: tuple[str, ...] = ()


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
        """The summary of a submechanism by name, the first one if it has several parts."""
        return {summary.name: summary for summary in reversed(self.submechanisms)}[name]

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
                reaches = "reaches" if s.reach_is_exact else "reaches at least"
                lines.append(f"    {joint} {reaches} [{low:.4g}, {high:.4g}]")
        serial = sum(s.solver == "serial" for s in self.submechanisms)
        lines.append(f"  {serial} plain joints")
        lines += [f"  {f.severity}: {f.message} [{f.code}]" for f in self.findings]
        if not self.findings:
            lines.append("  nothing to remark")
        return "\n".join(lines)
