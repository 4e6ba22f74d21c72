"""Shipped robots by name, and states that print themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.shipped import shipped_files


def test_shipped_robots_and_mechanisms_are_loaded_by_name() -> None:
    leg = cld.load("crank_leg", prepare=())
    assert leg.names.actuator == ("hip", "knee_cylinder", "ankle_crank")
    assert cld.load("four_bar", prepare=()).m == 1


def test_files_and_wrong_names_are_no_shipped_robots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(cld.UrdfError, match="no such file"):
        cld.load("crank_legs")
    assert shipped_files(Path("crank_leg")) is None and shipped_files("<robot/>") is None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crank_leg").write_text("<robot name='mine'><link name='a'/></robot>")
    assert cld.load("crank_leg", prepare=()).n == 0


def test_a_state_prints_a_line_per_joint() -> None:
    robot = cld.load("crank_leg", prepare=())
    state = robot.state([0.1, 0.5, 0.1], [1.0, 0.0, 0.0])
    lines = str(state).splitlines()
    assert lines[0].split() == ["joint", "q", "qd"]
    assert lines[1].split() == ["hip", "0.1", "1", "independent,", "driven"]
    assert [line.split()[0] for line in lines[1:-1]] == list(robot.names.spanning)
    assert lines[-1].startswith("residual")
    assert repr(robot.state(np.zeros((4, 3)))) == "State(4 samples, 7 positions each)"
    flying = cld.load("crank_leg", floating_base=True, prepare=())
    assert str(flying.state(flying.random_independent(np.random.default_rng(0)))).count("\n") == 9
