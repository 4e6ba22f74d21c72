"""What a user waits for: whole commands in fresh processes, with an empty cache and a full one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..robots.loop_family import loops_in_series
from .cases import ROOT
from .loading import fresh_environment

LOOPS = 64


@dataclass(frozen=True)
class WaitRow:
    """One command.

    Attributes:
        wall, cpu: seconds; compiling uses two threads, so on a busy machine the second says more.
        aim: of the first [s].
    """

    what: str
    wall: float
    cpu: float
    aim: float

    @property
    def met(self) -> bool:
        """The aim is reached."""
        return self.wall <= self.aim


def measure_first_use(rounds: int) -> list[WaitRow]:
    """The shortest of ``rounds`` fresh starts of each."""
    found: dict[str, WaitRow] = {}
    for _ in range(rounds):
        for row in _once():
            if row.what not in found or row.wall < found[row.what].wall:
                found[row.what] = row
    return list(found.values())


def _once() -> list[WaitRow]:
    with tempfile.TemporaryDirectory(prefix="cld_bench_") as place:
        folder = Path(place)
        urdf, yaml = folder / "loops.urdf", folder / "loops.yaml"
        for file, text in zip((urdf, yaml), loops_in_series(LOOPS), strict=True):
            file.write_text(text)
        humanoid, page = ("inverse-dynamics", "rh5_humanoid"), folder / "page.html"
        shown = ("view", "rh5_humanoid", "--export", page)
        series = f"{LOOPS} loops in series: `forward-dynamics`"
        return [
            _row("rh5_humanoid: `inverse-dynamics`, cold", 6.0, folder, *humanoid),
            _row("rh5_humanoid: `inverse-dynamics`, warm", 0.9, folder, *humanoid),
            _row(f"{series}, cold", 8.0, folder, "forward-dynamics", urdf, yaml),
            _row(f"{series}, warm", 0.9, folder, "forward-dynamics", urdf, yaml),
            _row("rh5_humanoid: page of the viewer, first one", 12.0, folder, *shown),
            _row("rh5_humanoid: page of the viewer, warm", 6.0, folder, *shown),
        ]


def _row(what: str, aim: float, cache: Path, *arguments: str | Path) -> WaitRow:
    command = [sys.executable, "-m", "closed_loop_dynamics", *map(str, arguments)]
    environment = fresh_environment(cache / "cache")
    before, start = os.times(), time.perf_counter()
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, os.times()
    if run.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{run.stderr}")
    used = after.children_user - before.children_user
    return WaitRow(what, wall, used + after.children_system - before.children_system, aim)


def wait_cells(rows: Sequence[WaitRow]) -> list[tuple[str, ...]]:
    """The rows of a table, its headings first."""
    found: list[tuple[str, ...]] = [("whole command", "by the clock", "CPU time", "aim", "")]
    for row in rows:
        seconds = f"{row.wall:.2f} s", f"{row.cpu:.2f} s", f"<= {row.aim:g} s"
        found.append((row.what, *seconds, "ok" if row.met else "MISSED"))
    return found
