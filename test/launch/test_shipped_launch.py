"""The launch files of the shipped robots run, with stand-ins for what only ROS 2 brings."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from closed_loop_dynamics.errors import ClosedLoopError, InvalidInput
from closed_loop_dynamics.shipped import shipped_robots

ROOT = Path(__file__).resolve().parents[2]
GENERAL = ROOT / "launch" / "closed_loop.launch.py"
NAMED = sorted(path for path in (ROOT / "launch").glob("*.launch.py") if path != GENERAL)
SHARED = "closed_loop_dynamics.ros.shipped_launch"
ROBOTS = shipped_robots()
NODES = ("feedforward", "simulator", "joint_state_completer", "trajectory_publisher")
ALONE = {"rviz": "false", "robot_state_publisher": "false"}
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


def install(prefix: Path, package: str, *executables: str) -> None:
    """Put empty executables of a package where ROS looks for them."""
    folder = prefix / "lib" / package
    folder.mkdir(parents=True)
    for executable in executables:
        (folder / executable).touch(mode=0o755)


@pytest.fixture
def launch_stand_ins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Stand-ins, and a prefix in which our nodes are installed and nothing else."""
    for name, kinds in CLASSES.items():
        module = ModuleType(name)
        for kind in kinds:
            setattr(module, kind, stand_in(kind))
        monkeypatch.setitem(sys.modules, name, module)
    packages = ModuleType("ament_index_python.packages")
    prefix = tmp_path / "prefix"

    def find(package: str) -> str:
        if not (prefix / "lib" / package).is_dir():
            raise KeyError(package)
        return str(prefix)

    found = {
        "get_package_share_directory": lambda package: str(ROOT),
        "get_package_prefix": find,
        "PackageNotFoundError": KeyError,
    }
    for name, value in found.items():
        setattr(packages, name, value)
    install(prefix, "closed_loop_dynamics", *NODES)
    monkeypatch.setitem(sys.modules, "ament_index_python", ModuleType("ament_index_python"))
    monkeypatch.setitem(sys.modules, "ament_index_python.packages", packages)
    # Imported with stand-ins here, and with the real ones by others.
    sys.modules.pop(SHARED, None)
    yield prefix
    sys.modules.pop(SHARED, None)


def start(**given: str) -> dict[str, Any]:
    """Executable -> node, of the general launch file with these arguments."""
    file = runpy.run_path(str(GENERAL))
    defaults = {name: default for name, (default, _) in file["ARGUMENTS"].items()}
    nodes = file["start_nodes"]({**defaults, **ALONE, **given})
    return {node.executable: node for node in nodes}


@pytest.mark.usefixtures("launch_stand_ins")
@pytest.mark.parametrize("path", NAMED, ids=lambda path: path.name)
def test_launch_file_gives_the_robots_name_to_the_general_one(path: Path) -> None:
    (entities,) = runpy.run_path(str(path))["generate_launch_description"]().given
    (include,) = entities
    assert dict(include.launch_arguments) == {"robot": path.name.removesuffix(".launch.py")}
    (source,) = include.given
    assert Path(source.given[0]) == GENERAL


@pytest.mark.parametrize("name", ROBOTS)
def test_the_name_of_a_robot_stands_for_its_files_and_its_sample_motion(
    launch_stand_ins: Path, name: str
) -> None:
    install(launch_stand_ins, "robot_state_publisher", "robot_state_publisher")
    nodes, robot = start(robot=name, robot_state_publisher="true"), ROBOTS[name]
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
    other.write_text("/**:\n  ros__parameters:\n    autostart: false\n")
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


@pytest.mark.parametrize(
    ("package", "wanted"), [("robot_state_publisher", "robot_state_publisher"), ("rviz2", "rviz")]
)
def test_a_package_that_is_missing_is_named_with_the_argument_that_leaves_it_out(
    launch_stand_ins: Path, package: str, wanted: str
) -> None:
    with pytest.raises(ClosedLoopError, match=rf"'{package}' not found.* with {wanted}:=false"):
        start(robot="crank_leg", **{wanted: "true"})
    install(launch_stand_ins, package)
    with pytest.raises(ClosedLoopError, match=rf"no executable '{package}'.* {wanted}:=false"):
        start(robot="crank_leg", **{wanted: "true"})
    assert package not in start(robot="crank_leg")


def test_a_package_of_ours_without_executables_is_refused(launch_stand_ins: Path) -> None:
    (launch_stand_ins / "lib" / "closed_loop_dynamics" / "trajectory_publisher").unlink()
    with pytest.raises(ClosedLoopError, match=r"no executable 'trajectory_publisher'.*install"):
        start(robot="crank_leg")


@pytest.mark.parametrize(
    "argument", ["urdf_file", "submechanism_file", "parameters_file", "rviz_config"]
)
def test_a_file_that_is_not_there_is_an_error_that_names_it(
    launch_stand_ins: Path, tmp_path: Path, argument: str
) -> None:
    install(launch_stand_ins, "rviz2", "rviz2")
    (tmp_path / "robot.txt").touch()
    given = {"robot": "crank_leg", "rviz": "true"}
    with pytest.raises(ClosedLoopError, match=rf"{argument}:=.*did you mean 'robot.txt'"):
        start(**given, **{argument: str(tmp_path / "robott.txt")})
    with pytest.raises(ClosedLoopError, match=rf"{argument}:=.*no folder"):
        start(**given, **{argument: str(tmp_path / "folder" / "robot.txt")})


@pytest.mark.usefixtures("launch_stand_ins")
def test_all_nodes_use_the_transport_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    variable, reach = "FASTDDS_BUILTIN_TRANSPORTS", "ROS_AUTOMATIC_DISCOVERY_RANGE"
    monkeypatch.setenv(reach, "SUBNET")
    for name in (variable, "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"):
        monkeypatch.delenv(name, raising=False)
    for choice, expected in (("", "UDPv4"), ("UDPv4", "UDPv4"), ("DEFAULT", "DEFAULT")):
        nodes = start(robot="crank_leg", transport=choice)
        assert [node.additional_env[variable] for node in nodes.values()] == [expected] * 3
    monkeypatch.setenv(reach, "LOCALHOST")  # the variable would count for nothing
    environment = start(robot="crank_leg")["simulator"].additional_env
    profile = environment["FASTDDS_DEFAULT_PROFILES_FILE"]
    assert Path(profile) == ROOT / "config" / "fastdds_udp_localhost.xml"
    assert variable not in environment and environment[reach] == "SYSTEM_DEFAULT"
    monkeypatch.setenv("FASTDDS_DEFAULT_PROFILES_FILE", profile)  # ours, but still LOCALHOST
    environment = start(robot="crank_leg")["simulator"].additional_env
    assert environment[reach] == "SYSTEM_DEFAULT", "rmw_fastrtps would add shared memory to it"
    monkeypatch.delenv("FASTDDS_DEFAULT_PROFILES_FILE")
    monkeypatch.setenv(variable, "SHM")
    assert start(robot="crank_leg")["simulator"].additional_env.keys().isdisjoint({variable})
    with pytest.raises(ClosedLoopError, match=r"transport:=UDP4: .* did you mean 'UDPv4'"):
        start(robot="crank_leg", transport="UDP4")
