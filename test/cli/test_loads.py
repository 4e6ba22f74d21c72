"""``loads``: peaks per pin, files and pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.tables import read_csv


def test_peaks_and_the_file_are_those_of_the_api(run, leg: cld.Robot, squat, tmp_path) -> None:
    path, table = squat
    out = tmp_path / "loads.csv"
    outcome = run("loads", "crank_leg", "-i", path, "-o", out)
    assert outcome.status == 0 and outcome.err == ""
    loads = leg.internal_loads(table[:, 1:4], table[:, 4:7], table[:, 7:10])
    written = read_csv(str(out))
    np.testing.assert_array_equal(written.times, table[:, 0])
    for k, name in enumerate(loads.names):
        first = written.columns.index(f"{name}.mx")
        np.testing.assert_allclose(written.values[:, first : first + 6], loads.wrenches[:, k])
    row = int(np.argmax(loads.forces[:, loads.names.index("knee")]))
    words = next(line.split() for line in outcome.out.splitlines() if line.startswith("knee "))
    assert words[:3] == ["knee", "thigh", "shank"]
    assert float(words[3]) == pytest.approx(loads.forces[row, 1], rel=1e-5)
    assert float(words[4]) == pytest.approx(table[row, 0])
    assert f"knee={table[row, 2]:.6g}" in words
    pull = next(
        line.split() for line in outcome.out.splitlines() if line.startswith("knee_cylinder_b")
    )
    assert float(pull[1]) == pytest.approx(
        loads.axial[:, loads.rods.index(pull[0])].max(), rel=1e-5
    )


def test_the_picture_is_drawn(run, squat, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra `plot`)")
    picture = tmp_path / "loads.svg"
    outcome = run("loads", "crank_leg", "-i", squat[0], "--rate", "50", "--plot", picture)
    assert outcome.status == 0, outcome.err
    assert "knee_cylinder_rod~shank" in picture.read_text(encoding="utf-8")


def test_what_is_not_determined_is_marked(run, tmp_path: Path) -> None:
    path = tmp_path / "stand.csv"
    joints = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_roll", "ankle_pitch")
    path.write_text(f"time,{','.join(joints)}\n0,0,0.1,-0.2,0.4,0,0\n", encoding="utf-8")
    outcome = run("loads", "rh5_leg", "-i", path)
    assert outcome.status == 0, outcome.err
    marked = {
        line.split()[0]: line.split()[3][-1] == "*" for line in outcome.out.splitlines() if line
    }
    assert marked["knee"] and marked["knee_cylinder_rod~shank"] and not marked["hip_yaw"]


def test_outputs_are_refused_before_the_work(run, squat, tmp_path: Path) -> None:
    assert run("loads", "crank_leg", "-i", squat[0], "-o", tmp_path / "loads.xyz").status == 2
    assert run("loads", "crank_leg", "-i", squat[0], "-o", squat[0]).status == 2
    outcome = run("loads", "crank_leg", "-i", squat[0], "--plot", "loads.txt")
    assert outcome.status == 2 and "--plot loads.txt" in outcome.err
