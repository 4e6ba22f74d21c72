"""``python -m tools.benchmark``: times of every robot beside Pinocchio's and MuJoCo's.

A whole run writes the page ``docs/benchmark.md``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..published import REMEDY
from ..robots.shipped import SHIPPED
from .cases import ROOT, SOLVERS, Case, all_cases

if TYPE_CHECKING:
    from .beyond import BeyondRow
    from .checks import Check
    from .cycle import CycleRow
    from .first_use import WaitRow
    from .measure import Result
    from .node import NodeRate
    from .pressed import PressedRow
    from .scaling import Growth
    from .streams import StreamRow
    from .survey import Survey

#: The robot that the feedforward node is measured with.
NODE_CASE = "rh5_reduced"
#: Where a whole run that found nothing wrong leaves its results.
PAGE = ROOT / "docs" / "benchmark.md"

#: One thread for everybody: set before NumPy and Pinocchio are loaded, so in a new process.
THREADS = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


@dataclass
class Outcome:
    """Everything of one run; growths by what is counted (links, loops)."""

    notes: list[str] = field(default_factory=list)
    surveys: list[Survey] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    beyond: list[BeyondRow] = field(default_factory=list)
    nodes: list[NodeRate] = field(default_factory=list)
    cycles: list[CycleRow] = field(default_factory=list)
    streams: list[StreamRow] = field(default_factory=list)
    pressed: list[PressedRow] = field(default_factory=list)
    waits: list[WaitRow] = field(default_factory=list)
    growths: dict[str, list[Growth]] = field(default_factory=dict)
    agreement: dict[str, list[Check]] = field(default_factory=dict)

    @property
    def checks(self) -> list[Check]:
        """All that has a verdict."""
        found = [check for survey in self.surveys for check in survey.checks]
        found += [c for result in self.results for group in result.checks.values() for c in group]
        return found + [check for group in self.agreement.values() for check in group]

    @property
    def missed(self) -> bool:
        """An aim is missed."""
        rows = any(row.met is False for result in self.results for row in result.rows)
        late = any(row.met is False for row in self.cycles)
        others: list[Any] = [*self.streams, *self.pressed, *self.beyond, *self.waits]
        slow = any(node.aimed and not node.met for node in self.nodes)
        return rows or late or slow or any(not row.met for row in others)

    def note(self, text: str) -> None:
        """For the page, and for those who wait."""
        self.notes.append(text)
        print(text, file=sys.stderr)

    def text(self, markdown: bool) -> str:
        """The page, or what is printed."""
        from .report import as_text, beyond_lines, cycle_lines, wait_lines
        from .scaling_report import scaling_text
        from .survey_report import survey_lines

        first = survey_lines(self.surveys, markdown) + beyond_lines(self.beyond, markdown)
        for unit, growths in self.growths.items():
            part = scaling_text(growths, self.agreement[unit], markdown, unit)
            first += part.splitlines()
        first += wait_lines(self.waits, markdown)
        first += cycle_lines(self.cycles, self.streams, self.pressed, markdown)
        return as_text(self.results, self.notes, self.nodes, markdown, first)

    def data(self) -> dict[str, Any]:
        """The same as JSON."""
        from .report import as_json
        from .scaling_report import scaling_json
        from .survey_report import survey_json

        data = as_json(self.results, self.notes, self.nodes)
        data["beyond_limits"] = [asdict(row) for row in self.beyond]
        data["control_cycle"] = [asdict(row) for row in self.cycles]
        data["streams"] = [asdict(row) for row in self.streams]
        data["pressed"] = [asdict(row) for row in self.pressed]
        data["first_use"] = [asdict(row) for row in self.waits]
        data["shipped"] = survey_json(self.surveys)
        data["scaling"] = [item for g in self.growths.values() for item in scaling_json(g)]
        return data


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit status."""
    cases = all_cases()
    options = _parser(list(cases)).parse_args(arguments)
    for module, package in (("pinocchio", "pin"), ("mujoco", "mujoco")):
        if importlib.util.find_spec(module) is None:
            print(f"The benchmark compares with {module}: pip install {package}", file=sys.stderr)
            return 2
    chosen = [options.robot, options.shipped, options.scaling, options.loops, options.beyond]
    everything = not any([*chosen, options.node, options.cycle, options.first_use])
    outcome = _measure(cases, options, everything)
    print(outcome.text(markdown=False), end="")
    wrong = not all(check.ok for check in outcome.checks)
    pages = [options.markdown] if options.markdown else []
    if everything and not options.quick and not wrong:
        pages.append(PAGE)
    for page in pages:
        page.write_text(outcome.text(markdown=True))
        print(f"Written: {page}", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps(outcome.data(), indent=2) + "\n")
    if wrong:
        print("Some results disagree: see WRONG above.", file=sys.stderr)
        return 1
    return 1 if options.strict and outcome.missed else 0


def _measure(cases: dict[str, Case], options: argparse.Namespace, everything: bool) -> Outcome:
    """What is asked for; how far it is goes to stderr."""
    from .beyond import measure_beyond
    from .first_use import measure_first_use
    from .measure import measure, progress
    from .scaling import CHAINS, LENGTHS, LOOP_COUNTS, LOOPS
    from .survey import survey

    outcome, quick = Outcome(), options.quick
    names = list(SHIPPED) if everything else options.shipped or []
    for k, name in enumerate(names):
        place = f"[shipped {k + 1}/{len(names)}] {name}"
        rounds = options.sweeps or (2 if quick else 60)
        outcome.surveys.append(survey(name, rounds, partial(_tell, place)))
    sweeps = options.sweeps or (3 if quick else 40)
    if options.beyond or everything:
        progress("[beyond the limits] all shipped robots")
        outcome.beyond = measure_beyond(list(SHIPPED), sweeps)
    if options.loops or everything:
        _grow(outcome, "loops", LOOPS, LOOP_COUNTS[::3] if quick else LOOP_COUNTS, sweeps)
    if options.scaling or everything:
        _grow(outcome, "links", CHAINS, LENGTHS[1::2] if quick else LENGTHS, sweeps)
    detailed = list(cases) if everything else options.robot or []
    for k, name in enumerate(detailed):
        case = replace(cases[name], solver=options.solver)
        if not case.present:
            outcome.note(f"{case.title} is left out: {REMEDY}")
            continue
        progress(f"[in detail {k + 1}/{len(detailed)}] {name}")
        outcome.results.append(measure(case, quick, sweeps))
    if options.first_use or everything:
        progress("[first use] whole commands in fresh processes")
        outcome.waits = measure_first_use(1 if quick else 3)
    if options.node or everything:
        outcome.nodes = _node_rates(cases[NODE_CASE], options, outcome)
    if options.cycle or everything:
        _add_cycles(outcome, quick)
    return outcome


def _tell(place: str, text: str) -> None:
    print(f"{place}: {text}", file=sys.stderr, flush=True)


def _grow(
    outcome: Outcome, unit: str, families: Iterable[str], counts: Sequence[int], sweeps: int
) -> None:
    from .measure import progress
    from .scaling import grow

    outcome.growths[unit], outcome.agreement[unit] = [], []
    for family in families:
        progress(f"[scaling] {family}: {counts[0]} to {counts[-1]} {unit}")
        growths, checks = grow(family, counts, sweeps)
        outcome.growths[unit] += growths
        outcome.agreement[unit] += checks


def _node_rates(case: Case, options: argparse.Namespace, outcome: Outcome) -> list[NodeRate]:
    """The node's rows, or a note why there are none."""
    from .node import available, measure_nodes

    if not case.present:
        outcome.note(f"The node, measured with {case.title}, is left out: {REMEDY}")
        return []
    if not available():
        outcome.note("The node is left out: rclpy is not installed (extra `ros`)")
        return []
    print("feedforward node: running in real time", file=sys.stderr, flush=True)
    return measure_nodes(case, options.quick)


def _add_cycles(outcome: Outcome, quick: bool) -> None:
    from .cycle import measure_cycles
    from .node import available
    from .pressed import measure_pressed
    from .streams import measure_streams

    if not available():
        outcome.note("The control cycle is left out: rclpy is not installed (extra `ros`)")
        return
    print("simulator: pressed against its stops", file=sys.stderr, flush=True)
    outcome.pressed = [measure_pressed(quick)]
    print("control cycle: running in real time", file=sys.stderr, flush=True)
    outcome.cycles = measure_cycles(quick, outcome.note)
    if importlib.util.find_spec("ruckig") is None:
        outcome.note("Streams are left out: ruckig is not installed (extra `control`)")
        return
    outcome.streams = measure_streams(quick)


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.benchmark",
        description="Time per call beside Pinocchio and MuJoCo, same states, measured in turns. "
        "Without a choice below everything is measured, and docs/benchmark.md is written.",
    )
    parser.add_argument(
        "--shipped",
        action="append",
        choices=list(SHIPPED),
        help="this shipped robot, all methods (repeat for several)",
    )
    parser.add_argument(
        "--robot",
        action="append",
        choices=names,
        help="this one in detail, with its aims (repeat for several)",
    )
    parser.add_argument("--loops", action="store_true", help="1 to 12 loops (part of a whole run)")
    parser.add_argument(
        "--beyond", action="store_true", help="outside the joint limits (part of a whole run)"
    )
    parser.add_argument(
        "--solver",
        choices=SOLVERS,
        default=SOLVERS[0],
        help="of our loops: all numerical (default), or closed forms where there are any",
    )
    parser.add_argument(
        "--scaling", action="store_true", help="chains of 2 to 24 links (part of a whole run)"
    )
    parser.add_argument(
        "--node", action="store_true", help="the feedforward node (part of a whole run)"
    )
    parser.add_argument(
        "--cycle",
        action="store_true",
        help="the control cycle of a leg, alone and on busy cores, streams through it, and the "
        "simulator of a robot at its stops (part of a whole run)",
    )
    parser.add_argument(
        "--first-use",
        action="store_true",
        help="whole commands, cold and warm (part of a whole run)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="few rounds, rough numbers, no docs/benchmark.md"
    )
    parser.add_argument(
        "--sweeps",
        type=int,
        help="visits to every state: more against noise (default 60 or 40, quick 2 or 3)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="and the page")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when an aim is missed")
    return parser


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in THREADS.items()):
        command = [sys.executable, "-m", "tools.benchmark", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, **THREADS})
    raise SystemExit(main())
