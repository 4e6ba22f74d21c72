"""``path``: the way of links; ``map --reverse``: from encoders to all joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.tables import read_csv


def test_a_way_is_that_of_the_poses(run, leg: cld.Robot, tmp_path: Path) -> None:
    out = tmp_path / "way.csv"
    words = ("--link", "foot", "--joint", "knee", "--y", "hip=0.2", "--point", "0.1", "0", "0")
    outcome = run("path", "crank_leg", *words, "--grid", "21", "-o", out)
    assert outcome.status == 0, outcome.err
    table = read_csv(str(out))
    y = table.need(leg.names.independent, "position")
    assert len(y) == 21 and np.all(y[:, 0] == 0.2) and np.ptp(y[:, 1]) > 1.0
    at = [table.columns.index(f"foot.{axis}") for axis in "xyz"]
    expected = [(leg.pose("foot", each) @ [0.1, 0.0, 0.0, 1.0])[:3] for each in y]
    np.testing.assert_allclose(table.values[:, at], expected, atol=1e-12)


def test_a_motion_gives_times_and_a_picture(run, squat, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra `plot`)")
    path, table = squat
    out, picture = tmp_path / "ways.csv", tmp_path / "ways.svg"
    words = ("--link", "foot", "shank", "-i", path, "-o", out, "--plot", picture)
    assert run("path", "crank_leg", *words).status == 0
    np.testing.assert_array_equal(read_csv(str(out)).times, table[:, 0])
    drawn = picture.read_text(encoding="utf-8")
    assert "shank" in drawn and "z [m]" in drawn and "y [m]" not in drawn  # the leg is planar


def test_unknown_links_and_joints_get_a_hint(run) -> None:
    outcome = run("path", "crank_leg", "--link", "foott", "--joint", "knee")
    assert outcome.status == 2 and "did you mean 'foot'" in outcome.err
    outcome = run("path", "crank_leg", "--link", "foot")
    assert outcome.status == 2 and "which joint moves" in outcome.err


def test_map_reverse_undoes_map(run, leg: cld.Robot, squat, tmp_path: Path) -> None:
    path, table = squat
    there, back = tmp_path / "actuators.csv", tmp_path / "joints.csv"
    assert run("map", "crank_leg", "-i", path, "-o", there).status == 0
    outcome = run("map", "crank_leg", "-i", there, "--reverse", "-o", back)
    assert outcome.status == 0 and outcome.err == ""
    found, names = read_csv(str(back)), leg.names
    np.testing.assert_array_equal(found.times, table[:, 0])
    y, yd, ydd = table[:, 1:4], table[:, 4:7], table[:, 7:10]
    state = leg.state(y, yd)
    np.testing.assert_allclose(found.need(names.spanning, "position"), state.q, atol=1e-9)
    np.testing.assert_allclose(found.need(names.spanning, "velocity"), state.qd, atol=1e-8)
    tau_y = leg.generalized_forces(y, yd, ydd)
    np.testing.assert_allclose(found.need(names.independent, "effort"), tau_y, atol=1e-7)
    assert run("map", "crank_leg", "-i", there, "--reverse", "--rate", "10").status == 2
