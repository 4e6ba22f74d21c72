"""``closed-loop export``: what it writes, what it says, what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_it_writes_the_folder_and_prints_the_worst_cases(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "leg"
    outcome = run("export", "crank_leg", "--functions", "state", "effort_map", "-o", folder)
    assert outcome.status == 0, outcome.err
    assert {path.name for path in folder.iterdir()} == {
        *("crank_leg.h", "crank_leg.c", "crank_leg.hpp", "main.c", "CMakeLists.txt", "package.xml")
    }
    header = (folder / "crank_leg.h").read_text()
    for function in ("state", "actuator_forces", "independent_forces"):
        (line,) = [each for each in outcome.out.splitlines() if each.split()[0] == function]
        _, operations, iterations = line.split()
        assert f"#define CRANK_LEG_{function.upper()}_OPERATIONS {operations}\n" in header
        assert f"#define CRANK_LEG_{function.upper()}_ITERATIONS {iterations}\n" in header
    assert "inverse_dynamics" not in header
    assert "bytes" in outcome.out


def test_single_precision_has_no_doubles(run: Any, tmp_path: Path) -> None:
    assert run("export", "crank_leg", "--float", "--name", "Leg 2", "-o", tmp_path).status == 0
    for file in ("leg_2.h", "leg_2.c"):
        assert "double" not in (tmp_path / file).read_text()


def test_what_it_cannot_write_is_refused(run: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = run("export", "crank_leg", "-o", tmp_path / "file")
    assert outcome.status == 2 and "is a file" in outcome.err
    outcome = run("export", "crank_leg", "--functions", "stat", "-o", tmp_path / "new")
    assert outcome.status == 1 and "did you mean 'state'?" in outcome.err
    assert not (tmp_path / "new").exists()
