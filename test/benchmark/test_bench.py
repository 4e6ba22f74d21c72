"""The benchmark runs, reports every row, and its own cross-checks hold. Nothing is timed here."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.published import REMEDY, VARIABLE

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "tools.benchmark"]
PATTERNS = ("trajectory", "random")
TIMED = {
    "positions: state(y)",
    "positions: bare program",
    "state(y, yd, ydd)",
    "inverse dynamics",
    "forward dynamics",
    "forward dynamics, projection",
    "forward dynamics, lagrange",
    "inverse dynamics derivatives",
    "forward dynamics derivatives",
    "inverse OSIM of the tips",
    "inverse dynamics, batch of 1000",
    "forward dynamics, batch of 1000",
}
COMPARED = {"rnea", "aba", "constraintDynamics", "rneaInParallel", "abaInParallel"}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Without published robots, wherever they may be."""
    environment = {k: v for k, v in os.environ.items() if k != VARIABLE}
    command = [*COMMAND, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str, str]:
    """JSON, Markdown and standard output of one quick run."""
    folder = tmp_path_factory.mktemp("bench")
    options = ["--json", str(folder / "b.json"), "--markdown", str(folder / "b.md")]
    done = run("--quick", "--robot", "crank_leg", *options)
    assert done.returncode == 0, done.stderr
    data = json.loads((folder / "b.json").read_text())
    return data, (folder / "b.md").read_text(), done.stdout


@pytest.fixture(scope="module")
def leg(files: tuple[dict[str, Any], str, str]) -> dict[str, Any]:
    robot: dict[str, Any] = files[0]["robots"]["crank_leg"]
    return robot


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_row_is_there(leg: dict[str, Any], pattern: str) -> None:
    rows = [row for row in leg["rows"] if row["pattern"] == pattern]
    assert {row["what"] for row in rows} >= TIMED
    assert {row["against"] for row in rows} >= COMPARED


@pytest.mark.slow
def test_numbers_are_positive_and_finite(leg: dict[str, Any]) -> None:
    for row in leg["rows"]:
        numbers = [row["seconds"]]
        if row["against"] is not None:
            numbers += [row["ratio"], row["pinocchio_seconds"]]
        for number in numbers:
            assert math.isfinite(number) and number > 0.0, row


@pytest.mark.slow
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_two_threads_are_timed_beside_one(leg: dict[str, Any]) -> None:
    pairs = {(row["what"], row["against"]) for row in leg["rows"]}
    for what in ("inverse dynamics, batch of 1000", "forward dynamics, batch of 1000"):
        assert (f"{what}, two threads", what) in pairs


@pytest.mark.slow
def test_loading_is_reported(leg: dict[str, Any]) -> None:
    rows = {row["what"] for row in leg["rows"] if row["pattern"] == "load"}
    assert rows >= {
        "load, cold",
        "load, warm",
        "import",
        "derivatives of ID and FD, cold",
    }


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
def test_ours_agrees_with_pinocchio(leg: dict[str, Any], pattern: str) -> None:
    checks = [c for c in leg["checks"] if c["pattern"] == pattern and c["tolerance"] is not None]
    assert len(checks) >= 7
    for check in checks:
        assert check["error"] <= 1e-6 and check["ok"], check


@pytest.mark.slow
def test_machine_and_versions_are_named(files: tuple[dict[str, Any], str, str]) -> None:
    machine = files[0]["machine"]
    for key in ("cpu", "python", "pin", "casadi", "llvmlite", "date"):
        assert machine[key] not in ("", "?")


@pytest.mark.slow
def test_tables_are_printed_and_written(files: tuple[dict[str, Any], str, str]) -> None:
    _, markdown, printed = files
    for what in TIMED:
        assert what in printed
        assert f"| {what}" in markdown


def test_help_names_the_options() -> None:
    done = run("--help")
    assert done.returncode == 0
    for option in ("--quick", "--robot", "--scaling", "--json", "--markdown", "--strict"):
        assert option in done.stdout


def test_robots_that_are_not_here_are_left_out_and_the_page_says_how_to_get_them(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.md"
    robots = ("--robot", "rh5_reduced", "--robot", "rh5_leg")
    done = run("--quick", *robots, "--node", "--markdown", str(page))
    assert done.returncode == 0, done.stderr
    notes = [line for line in page.read_text().splitlines() if line.startswith("Note: ")]
    assert [note.split(" is left out")[0].removeprefix("Note: ") for note in notes] == [
        "RH5 Manus reduced",
        "RH5 leg",
        "The node, measured with RH5 Manus reduced,",
    ]
    assert all(note.endswith(REMEDY) and VARIABLE in note for note in notes)


def test_unknown_robot_is_refused() -> None:
    done = run("--robot", "nobody")
    assert done.returncode == 2
    assert "crank_leg" in done.stderr
