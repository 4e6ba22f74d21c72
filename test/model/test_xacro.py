"""xacro files are expanded by the xacro package, with arguments; what is wrong is named."""

from __future__ import annotations

import os
import random
import sys

import pytest
from support.damage import COUNT, mutate
from support.xacro import ARM

from closed_loop_dynamics.cli.command_line import main
from closed_loop_dynamics.errors import ClosedLoopError, UrdfError
from closed_loop_dynamics.model import read_description


def needs_xacro():
    pytest.importorskip("xacro", reason="pip install closed_loop_dynamics[xacro]")


@pytest.fixture
def package(tmp_path):
    """A package with the arm's macro in one file and the robot in another, and the robot's path."""
    for name, text in ARM.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "arm_description/urdf/arm.urdf.xacro"


def test_macros_includes_and_packages_are_expanded(package):
    needs_xacro()
    tree = read_description(package).tree
    assert tree.joint_names == ("upper_joint", "lower_joint")
    assert [body.mass for body in tree.bodies] == [1.0, 1.0]
    assert tree.bodies[1].joint.placement[0, 3] == 0.5


def test_arguments_reach_the_file(package):
    needs_xacro()
    tree = read_description(package, xacro={"mass": 2.5}).tree
    assert [body.mass for body in tree.bodies] == [2.5, 2.5]


def test_the_command_line_takes_arguments(package, capsys):
    needs_xacro()
    assert main(["info", str(package), "--xacro", "mass:=2.5"]) == 0
    assert "5" in capsys.readouterr().out
    assert main(["info", str(package), "--xacro", "mass=2.5"]) == 2
    assert "NAME:=VALUE" in capsys.readouterr().err


def test_packages_are_looked_for_in_the_search_path(package, tmp_path):
    needs_xacro()
    elsewhere = tmp_path / "other" / "place"
    elsewhere.mkdir(parents=True)
    (tmp_path / "arm_description").rename(elsewhere / "arm_description")
    text = (elsewhere / "arm_description/urdf/arm.urdf.xacro").read_text()
    alone = tmp_path / "alone.urdf.xacro"
    alone.write_text(text)
    with pytest.raises(UrdfError, match="no package 'arm_description'"):
        read_description(alone)
    assert len(read_description(alone, search_path=elsewhere).tree.bodies) == 2


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("${length}", "${lenth}", "'lenth' is not defined"),
        ('parent="upper"', 'parnt="upper"', 'Invalid parameter "parnt"'),
        ("<xacro:bar name=", "<xacro:bra name=", "unknown macro name: xacro:bra"),
        ("bar.xacro", "bra.xacro", "bra.xacro"),
        ('<link name="base"/>', '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "m"),
    ],
)
def test_what_xacro_says_is_passed_on_with_the_file(package, before, after, problem):
    needs_xacro()
    for path in (package, package.with_name("bar.xacro")):
        path.write_text(path.read_text().replace(before, after))
    with pytest.raises(UrdfError) as caught:
        read_description(package)
    error = caught.value
    assert problem in error.problem and "arm.urdf.xacro" in error.file and error.place
    assert error.remedy and len(str(error)) < 2000


def test_errors_of_the_robot_name_the_expanded_file(package):
    needs_xacro()
    package.write_text(package.read_text().replace('parent="base"', 'parent="bse"'))
    with pytest.raises(UrdfError, match=r"xacro \(expanded\): joint 'upper_joint'.*no link 'bse'"):
        read_description(package)


def test_a_name_of_a_million_letters_does_not_flood_the_terminal(package):
    needs_xacro()
    text = package.read_text().replace('parent="upper"', "parent=\"${'u' * 10**6}\"")
    package.write_text(text)
    with pytest.raises(UrdfError, match="there is no link 'uuu") as caught:
        read_description(package)
    assert len(str(caught.value)) < 20_000


def test_a_file_that_never_ends_is_given_up(package, monkeypatch):
    needs_xacro()
    macros = package.with_name("bar.xacro")
    macros.unlink()
    os.mkfifo(macros)  # nobody writes into it
    monkeypatch.setattr("closed_loop_dynamics.model.xacro_file.source.PATIENCE", 3.0)
    with pytest.raises(UrdfError, match="gave up after 3 s"):
        read_description(package)


def test_without_xacro_the_remedy_is_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)  # how Python is told that there is none
    with pytest.raises(UrdfError, match=r"not installed; pip install closed_loop_dynamics\[xacro"):
        read_description(package)


def test_arguments_for_a_file_that_takes_none_are_refused():
    with pytest.raises(UrdfError, match="is not a xacro file"):
        read_description('<robot name="r"><link name="base"/></robot>', xacro={"mass": 1})


def test_random_damage_is_a_robot_or_an_error(package):
    needs_xacro()
    rng = random.Random(5)
    texts = {path: path.read_text() for path in (package, package.with_name("bar.xacro"))}
    outcomes = set()
    for _ in range(max(20, COUNT // 10)):  # each starts a process
        for path, text in texts.items():
            path.write_text(text)
        hurt = rng.choice(list(texts))
        hurt.write_text(mutate(texts[hurt], rng), errors="replace")
        try:
            outcomes.add(bool(read_description(package).tree.bodies))
        except ClosedLoopError as error:
            assert len(str(error)) < 20_000
            outcomes.add(None)
    assert outcomes >= {True, None}
