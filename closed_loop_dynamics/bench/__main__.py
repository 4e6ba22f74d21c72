"""``python -m closed_loop_dynamics.bench``: print the time per call beside Pinocchio's."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .cases import MODELS, SOLVERS, Case, all_cases

if TYPE_CHECKING:
    from .node import NodeRate

#: The robot that the feedforward node is measured with.
NODE_CASE = "rh5_reduced"

#: One thread for everybody: set before NumPy and Pinocchio are loaded, so in a new process.
THREADS = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit status."""
    cases = all_cases()
    options = _parser(list(cases)).parse_args(arguments)
    if importlib.util.find_spec("pinocchio") is None:
        print("The benchmark compares with Pinocchio: pip install pin", file=sys.stderr)
        return 2
    from .measure import measure
    from .report import as_json, as_text
    from .scaling import CHAINS, LENGTHS, grow
    from .scaling_report import scaling_json, scaling_text

    everything = not (options.robot or options.scaling or options.node)
    names = cases if everything else options.robot or []
    chosen = [replace(cases[name], solver=options.solver) for name in names]
    notes = [
        f"{case.title} is left out: {MODELS} does not have it"
        for case in chosen
        if not case.present
    ]
    for note in notes:
        print(note, file=sys.stderr)
    sweeps = options.sweeps or (3 if options.quick else 40)
    results = [measure(case, options.quick, sweeps) for case in chosen if case.present]
    nodes = _node_rates(cases[NODE_CASE], options, notes) if options.node or everything else []
    text = [as_text(results, notes, nodes, markdown=markdown) for markdown in (False, True)]
    data = as_json(results, notes, nodes)
    checks = [c for result in results for group in result.checks.values() for c in group]
    if options.scaling or everything:
        lengths = LENGTHS[1::2] if options.quick else LENGTHS
        grown = []
        for chain in CHAINS:
            print(f"Chains with {chain}: {lengths[0]} to {lengths[-1]} links", file=sys.stderr)
            grown.append(grow(chain, lengths, sweeps))
        growths = [g for found, _ in grown for g in found]
        agreement = [c for _, found in grown for c in found]
        text[0] += scaling_text(growths, agreement, markdown=False)
        text[1] += scaling_text(growths, agreement, markdown=True)
        data["scaling"] = scaling_json(growths)
        checks += agreement
    print(text[0], end="")
    if options.json:
        options.json.write_text(json.dumps(data, indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(text[1])

    if not all(check.ok for check in checks):
        print("Some results disagree with Pinocchio: see WRONG above.", file=sys.stderr)
        return 1
    missed = any(row.met is False for result in results for row in result.rows)
    missed = missed or any(node.aimed and not node.met for node in nodes)
    return 1 if options.strict and missed else 0


def _node_rates(case: Case, options: argparse.Namespace, notes: list[str]) -> list[NodeRate]:
    """The node's rows, or a note why there are none."""
    from .node import available, measure_nodes

    if not case.present:
        return []
    if not available():
        notes.append("The node is left out: rclpy is not installed (extra `ros`)")
        print(notes[-1], file=sys.stderr)
        return []
    print("feedforward node: running in real time", file=sys.stderr, flush=True)
    return measure_nodes(case, options.quick)


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m closed_loop_dynamics.bench",
        description="Time per call beside Pinocchio, same model and states, measured in turns.",
    )
    parser.add_argument(
        "--robot", action="append", choices=names, help="only this one (repeat for several)"
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
    parser.add_argument("--quick", action="store_true", help="few rounds: rough numbers")
    parser.add_argument(
        "--sweeps", type=int, help="visits to every state: more against noise (default 40, quick 3)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="and as Markdown")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when an aim is missed")
    return parser


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in THREADS.items()):
        command = [sys.executable, "-m", "closed_loop_dynamics.bench", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, **THREADS})
    raise SystemExit(main())
