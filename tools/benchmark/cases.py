"""The robots that are benchmarked, and what each is expected to reach."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from closed_loop_dynamics.robot import Robot, load

from ..published import LEG, MANUS
from ..robots.crank_leg import generate

ROOT = Path(__file__).resolve().parents[2]
SOLVERS = ("numerical", "auto")
CLOSED_FORM, HYBRID, DERIVATIVES = (
    "closed form",
    "hybrid",
    "derivatives of ID and FD",
)
_COUPLED = ("transmission", "parallelogramchain")  # types without cut joints


@dataclass(frozen=True)
class Bar:
    """An aim: the speed-up is at least, or the time at most, ``value``.

    Attributes:
        what: label of the row it belongs to.
        kind: ``"ratio"`` (Pinocchio's time over ours) or ``"time"`` [s].
        note: where it comes from, for the table.
    """

    what: str
    kind: str
    value: float
    note: str = ""

    def met(self, ratio: float | None, seconds: float) -> bool:
        """The measured numbers reach it."""
        if self.kind == "time":
            return seconds <= self.value
        return ratio is not None and ratio >= self.value


@dataclass(frozen=True)
class Case:
    """One robot: paths, or the texts themselves.

    Attributes:
        solver: ``"numerical"`` for all loops, whatever the file says, or ``"auto"``: closed forms
            where there are any.
        hybrid: submechanism that stays numerical in the hybrid case of Kumar et al. 2022.
        floating: the base is free.
    """

    name: str
    title: str
    urdf: str | Path
    submechanisms: str | Path
    bars: tuple[Bar, ...] = ()
    solver: str = SOLVERS[0]
    hybrid: str = ""
    floating: bool = False

    @property
    def present(self) -> bool:
        """Its files are there."""
        return not isinstance(self.urdf, Path) or self.urdf.exists()

    def sources(self) -> tuple[str, str, list[str]]:
        """URDF, submechanisms (paths or texts) and search path for ``load``."""
        source, folders = self.submechanisms, list[str]()
        if self.solver != "auto":
            text = source
            if isinstance(source, Path):
                text = source.read_text()
                beside = sorted(source.parent.parent.iterdir())
                folders = [str(path) for path in beside if path.is_dir()]
            document = yaml.safe_load(str(text))
            for entry in document["submechanisms"]:
                if has_loops(entry):
                    entry["solver"] = self.solver
            source = yaml.safe_dump(document, sort_keys=False)
        return str(self.urdf), str(source), folders

    def load(self) -> Robot:
        """Our robot."""
        urdf, submechanisms, folders = self.sources()
        return load(urdf, submechanisms, search_path=folders, floating_base=self.floating)

    def variants(self) -> dict[str, Robot]:
        """The same robot with other solvers: :data:`CLOSED_FORM`, and :data:`HYBRID` if named."""
        robots = {CLOSED_FORM: replace(self, solver="auto").load()}
        if self.hybrid:
            urdf, text, folders = self.sources()
            document = yaml.safe_load(text)
            for entry in document["submechanisms"]:
                if "solver" in entry and entry.get("contextual_name") != self.hybrid:
                    entry["solver"] = "auto"
            robots[HYBRID] = load(urdf, yaml.safe_dump(document), search_path=folders)
        return robots


def has_loops(entry: dict[str, Any]) -> bool:
    """An entry of a submechanism file has loops (and not only couplings)."""
    free = len(entry["jointnames_spanningtree"]) - len(entry["jointnames_independent"])
    return free > 0 and str(entry.get("type", "")).lower() not in _COUPLED


#: Two threads share what is worth it: a thread wakes in the time of some hundred rows.
_BATCH = (
    Bar(f"inverse dynamics, batch of 1000, {CLOSED_FORM}", "ratio", 10.0),
    Bar(f"forward dynamics, batch of 1000, {CLOSED_FORM}", "ratio", 10.0),
    Bar("inverse dynamics, batch of 10000, two threads", "ratio", 1.8),
    Bar("forward dynamics, batch of 10000, two threads", "ratio", 1.8),
)


def all_cases() -> dict[str, Case]:
    """By name; some may not be present."""
    reduced, full = MANUS / "submechanisms_urdf", MANUS / "full_urdf"
    cases = [
        Case(
            "rh5_reduced",
            "RH5 Manus reduced",
            reduced / "submechanisms_reduced.urdf",
            reduced / "submechanisms_reduced.yml",
            (
                Bar("positions: state(y)", "time", 5e-6, "RBDL's assembly: 175 µs"),
                Bar("inverse dynamics", "ratio", 0.5, "at most 2× rnea's time"),
                Bar("forward dynamics", "ratio", 2.5),
                Bar("inverse dynamics derivatives", "ratio", 1.5),
                Bar(f"inverse dynamics, {CLOSED_FORM}", "ratio", 2.2),
                Bar(f"forward dynamics, {CLOSED_FORM}", "ratio", 7.5),
                *_BATCH,
            ),
            hybrid="torso_joint",
        ),
        Case(
            "rh5_full",
            "RH5 Manus full",
            full / "RH5v2.urdf",
            full / "submechanisms.yml",
            (
                Bar("inverse dynamics derivatives", "ratio", 1.5),
                Bar("forward dynamics derivatives", "ratio", 5.0),
                Bar("forward dynamics", "ratio", 4.0),
                Bar(f"forward dynamics, {CLOSED_FORM}", "ratio", 12.0),
                *_BATCH,
                Bar("load, cold", "time", 10.0),
                Bar("load, warm", "time", 1.0),
                Bar(f"{DERIVATIVES}, cold", "time", 30.0),
            ),
            hybrid="torso_joint",
        ),
        Case(
            "rh5_leg",
            "RH5 leg",
            LEG / "rh5_single_leg_hybrid.urdf",
            LEG / "rh5_single_leg_hybrid.yml",
            (Bar(f"inverse dynamics, {CLOSED_FORM}", "ratio", 1.3),),
        ),
        Case("crank_leg", "Crank leg", *generate()),
    ]
    return {case.name: case for case in cases}
