"""The launch files of the shipped robots run, with stand-ins for what only ROS 2 brings."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from closed_loop_dynamics.errors import InvalidInput
from closed_loop_dynamics.shipped import shipped_robots

ROOT = Path(__file__).resolve().parents[2]
GENERAL = ROOT / "launch" / "closed_loop.launch.py"
NAMED = sorted(path for path in (ROOT / "launch").glob("*.launch.py") if path != GENERAL)
SHARED = "closed_loop_dynamics.ros.shipped_launch"
ROBOTS = shipped_robots()
CLASSES = {
    "launch": ["LaunchContext", "LaunchDescription", "LaunchDescriptionEntity"],
    "launch.launch_description": ["LaunchDescription"],
    "launch.actions": ["DeclareLaunchArgument", "IncludeLaunchDescription", "OpaqueFunction"],
    "launch.launch_description_sources": ["PythonLaunchDescriptionSource"],
    "launch.substitutions": ["LaunchConfiguration"],
    "launch_ros": [],
    "launch_ros.actions": ["Node"],
}


def stand_in(kind: str) -> Any:
    """A class that remembers what it was made of; a configuration performs as it is told."""

    class StandIn(SimpleNamespace):
        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(kind=kind, given=given, **options)

        def perform(self, context: dict[str, str]) -> str:
            return context[self.given[0]]

    return StandIn


@pytest.fixture
def launch_stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, kinds in CLASSES.items():
        module = ModuleType(name)
        for kind in kinds:
            setattr(module, kind, stand_in(kind))
        monkeypatch.setitem(sys.modules, name, module)
    packages = ModuleType("ament_index_python.packages")
    packages.get_package_share_directory = lambda package: str(ROOT)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ament_index_python", ModuleType("ament_index_python"))
    monkeypatch.setitem(sys.modules, "ament_index_python.packages", packages)
    # Imported with stand-ins here, and with the real ones by others.
    sys.modules.pop(SHARED, None)
    yield
    sys.modules.pop(SHARED, None)


def start(**given: str) -> dict[str, Any]:
    """Executable -> node, of the general launch file with these arguments."""
    file = runpy.run_path(str(GENERAL))
    defaults = {name: default for name, (default, _) in file["ARGUMENTS"].items()}
    nodes = file["start_nodes"]({**defaults, "rviz": "false", **given})
    return {node.executable: node for node in nodes}


@pytest.mark.usefixtures("launch_stand_ins")
@pytest.mark.parametrize("path", NAMED, ids=lambda path: path.name)
def test_launch_file_gives_the_robots_name_to_the_general_one(path: Path) -> None:
    (entities,) = runpy.run_path(str(path))["generate_launch_description"]().given
    (include,) = entities
    assert dict(include.launch_arguments) == {"robot": path.name.removesuffix(".launch.py")}
    (source,) = include.given
    assert Path(source.given[0]) == GENERAL


@pytest.mark.usefixtures("launch_stand_ins")
@pytest.mark.parametrize("name", ROBOTS)
def test_the_name_of_a_robot_stands_for_its_files_and_its_sample_motion(name: str) -> None:
    nodes, robot = start(robot=name), ROBOTS[name]
    assert set(nodes) == {
        *("feedforward", "simulator", "robot_state_publisher", "trajectory_publisher")
    }
    for executable in ("feedforward", "simulator"):
        file, parameters = nodes[executable].parameters
        assert Path(file) == robot.nodes
        assert Path(parameters["urdf_file"]) == robot.urdf
        assert Path(parameters["submechanism_file"]) == robot.submechanisms
    description = nodes["robot_state_publisher"].parameters[0]["robot_description"]
    assert description == robot.urdf.read_text(encoding="utf-8")


@pytest.mark.usefixtures("launch_stand_ins")
def test_what_is_given_beats_what_the_robot_says(tmp_path: Path) -> None:
    other = tmp_path / "nodes.yaml"
    nodes = start(robot="crank_leg", parameters_file=str(other), trajectory="false")
    assert "trajectory_publisher" not in nodes
    assert nodes["simulator"].parameters[0] == str(other)


@pytest.mark.usefixtures("launch_stand_ins")
def test_files_alone_bring_no_sample_motion() -> None:
    nodes = start(urdf_file=str(ROBOTS["crank_leg"].urdf))
    assert "trajectory_publisher" not in nodes
    file, parameters = nodes["simulator"].parameters
    assert Path(file) == ROOT / "config" / "closed_loop.yaml"
    assert parameters["submechanism_file"] == ""


@pytest.mark.usefixtures("launch_stand_ins")
def test_a_robot_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(InvalidInput, match=r"no shipped robot 'crank_log'; there are .*crank_leg"):
        start(robot="crank_log")
    with pytest.raises(ValueError, match="robot:=NAME, or urdf_file:=PATH"):
        start()
