"""Launch files name only what exists. Needs neither ROS nor launch."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

import closed_loop_dynamics as cld
from closed_loop_dynamics.shipped import shipped_robots

ROOT = Path(__file__).resolve().parents[2]
LAUNCH_FILES = sorted((ROOT / "launch").glob("*.launch.py"))
GENERAL = ROOT / "launch" / "closed_loop.launch.py"
ROBOTS = shipped_robots()
every_launch_file = pytest.mark.parametrize("path", LAUNCH_FILES, ids=lambda path: path.name)


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def strings(path: Path) -> list[str]:
    docs = {
        ast.get_docstring(node, clean=False)
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.Module, ast.FunctionDef))
    }
    constants = (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant))
    return [c.value for c in constants if isinstance(c.value, str) and c.value not in docs]


def arguments(path: Path) -> list[str]:
    """Keys of the file's table of launch arguments."""
    tables = [
        node.value
        for node in tree_of(path).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ARGUMENTS"
    ]
    assert len(tables) == 1 and isinstance(tables[0], ast.Dict)
    return [ast.literal_eval(key) for key in tables[0].keys if key is not None]


def test_there_is_one_launch_file_for_any_robot_and_some_that_name_one() -> None:
    names = {path.name.removesuffix(".launch.py") for path in LAUNCH_FILES}
    assert names == {"closed_loop", *(name for name in ROBOTS if name.startswith("rh5_"))}


@every_launch_file
def test_launch_file_is_valid_python_and_describes_a_launch(path: Path) -> None:
    compile(tree_of(path), str(path), "exec")
    functions = {node.name for node in tree_of(path).body if isinstance(node, ast.FunctionDef)}
    assert "generate_launch_description" in functions


def test_general_launch_file_takes_the_documented_arguments() -> None:
    declared = set(arguments(GENERAL))
    assert declared >= {
        *("robot", "urdf_file", "submechanism_file", "namespace", "use_sim_time", "rviz"),
        *("simulator", "parameters_file", "trajectory"),
    }
    guide = (ROOT / "docs" / "nodes.md").read_text(encoding="utf-8")
    assert not [name for name in declared if f"`{name}`" not in guide]


def test_files_named_in_the_general_launch_file_exist() -> None:
    named = [s for s in strings(GENERAL) if s.endswith((".yaml", ".rviz"))]
    assert named
    for name in named:
        assert (ROOT / "config" / name).is_file(), name


def test_executables_that_are_started_are_installed() -> None:
    text = GENERAL.read_text(encoding="utf-8")
    installed = {path.name for path in (ROOT / "scripts").iterdir()}
    calls = [
        call
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "node"
    ]
    started = {ast.literal_eval(call.args[0]) for call in calls}
    assert started == installed - {"closed-loop"}  # that one is for people


@pytest.mark.parametrize(
    ("file", "controller"),
    [
        ("ros2_control_jtc.yaml", "actuator_trajectory_controller"),
        ("ros2_control_forward_command.yaml", "effort_controller"),
    ],
)
def test_ros2_control_files_name_the_actuators_in_their_order(file: str, controller: str) -> None:
    robot = cld.load(ROBOTS["rh5_leg"].urdf, ROBOTS["rh5_leg"].submechanisms)
    content = yaml.safe_load((ROOT / "config" / file).read_text(encoding="utf-8"))
    for section in (controller, "joint_state_broadcaster"):
        assert tuple(content[section]["ros__parameters"]["joints"]) == robot.names.actuator
        assert section in content["controller_manager"]["ros__parameters"]
    gains = content[controller]["ros__parameters"].get("gains")
    assert gains is None or tuple(gains) == robot.names.actuator


def test_rviz_shows_the_spanning_tree_and_the_markers() -> None:
    text = (ROOT / "config" / "closed_loop.rviz").read_text(encoding="utf-8")
    displays = yaml.safe_load(text)["Visualization Manager"]["Displays"]
    shown = [display for display in displays if display["Enabled"]]
    assert any(display["Class"].endswith("/RobotModel") for display in shown)
    topics = {d["Topic"]["Value"] for d in shown if d["Class"].endswith("/MarkerArray")}
    assert topics == {"simulator/markers", "feedforward/markers"}
