"""``python -m tools.reproduce``: run the papers' experiments, write the page."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..benchmark.report import facts_line, machine
from .claims import Section, Studio
from .page import page

#: In the order of the page; each module has ``reproduce(studio) -> Section``.
PAPERS = ("kumar_2022", "kumar_mueller_2019", "chignoli", "mueller_2022", "paz_mattila")
ROOT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 1 when a correctness figure is missed."""
    options = _parser().parse_args(arguments)
    papers = options.paper or PAPERS
    folder: Path = options.out
    began = time.monotonic()
    sections = []
    for number, name in enumerate(papers):
        bar = Bar(name, number, len(papers), began)
        bar.show("starting")
        module = importlib.import_module(f".{name}", __package__)
        section: Section = module.reproduce(
            Studio(folder / "reproduction", bar.show, options.quick)
        )
        sections.append(section)
    Bar("done", len(papers), len(papers), began).show(f"{time.monotonic() - began:.0f} s")
    print(file=sys.stderr)
    target = folder / "reproduction.md"
    target.write_text(page(sections, facts_line(machine()), folder), encoding="utf-8")
    print(f"written: {target}")
    missed = [(section.title, claim) for section in sections for claim in section.missed]
    for title, claim in missed:
        print(f"MISSED: {title}, {claim.where}: {claim.paper}; ours: {claim.ours}")
    return 1 if missed else 0


class Bar:
    """One line on stderr that says how far the run is; a line per step where it is no terminal."""

    WIDTH = 24

    def __init__(self, name: str, number: int, count: int, began: float) -> None:
        filled = round(self.WIDTH * number / count)
        self._start = f"[{'#' * filled}{'.' * (self.WIDTH - filled)}] {name}"
        self._began = began

    def show(self, what: str) -> None:
        """Say what is being done."""
        text = f"{self._start}: {what} ({time.monotonic() - self._began:.0f} s)"
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.reproduce",
        description="The quantitative claims of the five papers beside ours, as a page with plots.",
    )
    parser.add_argument(
        "--paper", action="append", choices=PAPERS, help="only this one (repeat for several)"
    )
    parser.add_argument("--quick", action="store_true", help="few samples: a test of the page")
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "docs",
        metavar="FOLDER",
        help="where reproduction.md and reproduction/ go (default: docs/)",
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
