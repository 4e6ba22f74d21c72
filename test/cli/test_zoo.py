"""``zoo``: a table of all the robots below a folder, whatever their format."""

from __future__ import annotations

from pathlib import Path

from support.onshape import FOUR_BAR, FOUR_BAR_YAML
from support.urdf_plus import ROBOTS


def test_every_robot_gets_a_line_and_failures_the_status(run, tmp_path: Path) -> None:
    (tmp_path / "marked").mkdir()
    (tmp_path / "marked" / "robot.urdf").write_text(FOUR_BAR)
    (tmp_path / "marked" / "robot.yaml").write_text(FOUR_BAR_YAML)
    (tmp_path / "plus.urdf").write_text(ROBOTS["flat"])
    outcome = run("zoo", tmp_path)
    lines = outcome.out.splitlines()
    assert outcome.status == 0 and lines[-1] == "2 of 2 load without errors"
    assert lines[1].split()[:6] == ["marked/robot.urdf", "5", "2", "1", "1", "ok"]
    assert lines[2].split()[:6] == ["plus.urdf", "3", "1", "1", "1", "ok"]
    (tmp_path / "marked" / "robot.yaml").unlink()
    outcome = run("zoo", tmp_path)
    assert outcome.status == 1 and "1 of 2" in outcome.out
    assert "marker closes a loop" in outcome.out.splitlines()[1]


def test_files_of_packages_are_left_alone_and_parts_stay_alone(run, tmp_path: Path) -> None:
    """HyRoDyn's files: one submechanisms.yml beside the robot and the URDFs of its parts."""
    joint = '<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint>'
    robot = f'<robot name="r"><link name="base"/><link name="arm"/>{joint}</robot>'
    (tmp_path / "package.xml").write_text("<package/>")
    for name in ("robot.urdf", "part.urdf"):
        (tmp_path / name).write_text(robot)
    loops = "submechanisms: [{type: R, file_path: part.urdf, jointnames: [other],\n"
    loops += "  jointnames_independent: [other]}]\n"
    (tmp_path / "submechanisms.yml").write_text(loops)
    table = run("zoo", tmp_path).out.splitlines()
    assert [line.split()[0] for line in table[1:3]] == ["part.urdf", "robot.urdf"]
    assert "no joint 'other'" in table[2] and "other" not in table[1]


def test_a_folder_that_is_not_there_or_has_no_robots(run, tmp_path: Path) -> None:
    assert run("zoo", tmp_path / "none").status == 2
    assert run("zoo", tmp_path).status == 2
