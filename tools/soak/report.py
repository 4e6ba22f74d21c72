"""What campaigns have found: a line per fault as it comes, tables at the end, a page to keep."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..tables import markdown_table

if TYPE_CHECKING:
    from .campaign import Verdict

#: Where verdicts are kept, in the folder of a campaign.
FILE = "verdicts.jsonl"
#: The part of docs/soak.md above the tables.
RULES = Path(__file__).with_name("rules.md")


@dataclass(frozen=True)
class Finding:
    """A verdict, as it is kept.

    Attributes:
        robot: its name.
        wiring: how it was controlled.
        kind, text: of the fault.
        wrong_efforts: its speeds are the drives' affair.
        outcome, back, speed, step, failures: see :class:`~tools.soak.campaign.Verdict`.
    """

    robot: str
    wiring: str
    number: int
    kind: str
    text: str
    wrong_efforts: bool
    outcome: str
    back: float
    speed: float
    step: float
    failures: list[str]

    @staticmethod
    def of(robot: str, wiring: str, verdict: Verdict) -> Finding:
        """A verdict on ``robot``."""
        fault, shared = verdict.fault, ("number", "outcome", "back", "speed", "step", "failures")
        facts: dict[str, Any] = {name: getattr(verdict, name) for name in shared}
        return Finding(
            robot,
            wiring,
            kind=fault.kind,
            text=str(fault),
            wrong_efforts=fault.wrong_efforts,
            **facts,
        )

    @property
    def line(self) -> str:
        """For those who wait."""
        text = (
            f"{'FAILED' if self.failures else 'ok':6} {self.robot} ({self.wiring}) {self.number}: "
            f"{self.text}: {self.outcome}; back after {self.back:.2f} s; speed {self.speed:.2f}, "
            f"effort step {self.step:.2f}"
        )
        return "\n        ".join([text, *self.failures])


def keep(finding: Finding, folder: Path) -> None:
    """Write it down at once: a campaign may be ended at any time."""
    with (folder / FILE).open("a") as out:
        out.write(json.dumps(asdict(finding)) + "\n")


def kept(folders: Iterable[Path]) -> list[Finding]:
    """All that campaigns have written down in these folders, or below them."""
    files = [file for folder in folders for file in sorted(folder.rglob(FILE))]
    lines = [line for file in files for line in file.read_text().splitlines()]
    return [Finding(**json.loads(line)) for line in lines]


def tables(findings: Sequence[Finding]) -> list[str]:
    """By kind of fault, and by robot."""
    by_kind = _table("fault", [(finding.kind, finding) for finding in findings])
    by_robot = _table("robot", [(f"{f.robot}, {f.wiring}", f) for f in findings])
    return [*by_kind, "", *by_robot]


def _table(what: str, sorted_by: Sequence[tuple[str, Finding]]) -> list[str]:
    rows = [
        (
            what,
            "faults",
            "failed",
            "went on",
            "speed",
            "with wrong efforts",
            "effort step",
            "back [s]",
        )
    ]
    for name in sorted({name for name, _ in sorted_by}):
        found = [finding for other, finding in sorted_by if other == name]
        right, wrong = ([f for f in found if f.wrong_efforts is w] for w in (False, True))
        rows.append(
            (
                name,
                str(len(found)),
                str(sum(bool(f.failures) for f in found)),
                str(sum(f.outcome == "went on" for f in found)),
                _largest(f.speed for f in right),
                _largest(f.speed for f in wrong),
                _largest(f.step for f in found),
                _largest(f.back for f in found),
            )
        )
    return markdown_table(rows)


def _largest(numbers: Iterable[float]) -> str:
    values = list(numbers)
    return f"{max(values):.2f}" if values else ""


def page(findings: Sequence[Finding]) -> str:
    """docs/soak.md."""
    failed = [finding for finding in findings if finding.failures]
    counts = f"{len(findings)} faults, of which {len(failed)} broke a rule."
    lines = [RULES.read_text().rstrip(), "", counts, "", *tables(findings)]
    if failed:
        lines += ["", "What failed:", ""]
        lines += [f"- {f.robot} ({f.wiring}), {f.text}: {'; '.join(f.failures)}" for f in failed]
    return "\n".join(lines) + "\n"
