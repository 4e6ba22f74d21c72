"""What the package knows about its own robots: the data in ``config/shipped_robots.yaml``."""

from __future__ import annotations

from pathlib import Path

import pytest

from closed_loop_dynamics import shipped
from closed_loop_dynamics.errors import InvalidInput
from tools.robots.mechanisms import MECHANISMS
from tools.robots.shipped import GENERATORS

ROOT = Path(__file__).resolve().parents[2]


def test_facts_files_and_generators_are_about_the_same_robots() -> None:
    robots = shipped.shipped_robots()
    assert list(robots) == list(GENERATORS)
    for robot in robots.values():
        assert robot.share == ROOT
        assert all(file.is_file() for file in (robot.urdf, robot.submechanisms, robot.nodes))
        assert robot.sample.what.endswith(".") and robot.sample.goal


def test_mechanisms_and_robots_are_found_by_their_names() -> None:
    files = shipped.model_files()
    assert set(files) == {*GENERATORS, *MECHANISMS}
    assert files["crank_leg"].submechanisms == ROOT / "config" / "crank_leg.yaml"
    assert files["four_bar"].urdf == ROOT / "urdf" / "mechanisms" / "four_bar.urdf"
    assert files["four_bar"].submechanisms == ROOT / "config" / "mechanisms" / "four_bar.yaml"


def test_a_file_without_loops_is_a_robot_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf" / "arm.urdf").touch()
    monkeypatch.setattr(shipped, "share_folders", lambda: [tmp_path])
    assert shipped.model_files() == {
        "arm": shipped.ModelFiles("arm", tmp_path / "urdf" / "arm.urdf", None)
    }
    assert shipped.shipped_robots() == {}


def test_an_unknown_robot_is_answered_with_all_names() -> None:
    with pytest.raises(InvalidInput) as caught:
        shipped.shipped_robot("rh6_leg")
    assert "no shipped robot 'rh6_leg'" in str(caught.value)
    assert all(name in str(caught.value) for name in GENERATORS)
