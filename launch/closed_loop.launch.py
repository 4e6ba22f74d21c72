"""Any robot with closed loops: feedforward, simulator, robot_state_publisher and RViz.

ros2 launch closed_loop_dynamics closed_loop.launch.py urdf_file:=... submechanism_file:=...
ros2 launch closed_loop_dynamics closed_loop.launch.py robot:=crank_leg

``robot`` names a robot that comes with the package; its files and its sample motion then stand in
for arguments that are not given. ``simulator:=false`` leaves the robot to real hardware: its
encoders are then expected on ``actuator_states``, and with ``completer:=true`` the joint states
come from them. With ``use_sim_time:=true`` the simulator is the source of /clock.

Whatever is missing or mistyped is refused before the first node starts: a launch that fails
half-way leaves those that it has started to themselves.
"""

import os
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from closed_loop_dynamics.ros.ending import WITH_PARENT
from closed_loop_dynamics.ros.launch_checks import (
    existing_file,
    need_executable,
    parameters_file,
    spanning_tree,
    transport_environment,
)
from closed_loop_dynamics.shipped import shipped_robot
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

PACKAGE = "closed_loop_dynamics"
CONFIG = Path(get_package_share_directory(PACKAGE)) / "config"
#: Argument -> default and explanation.
ARGUMENTS = {
    "robot": ("", "name of a robot that comes with the package, in place of the files"),
    "urdf_file": ("", "path of the URDF: the spanning tree; empty: of the robot"),
    "submechanism_file": ("", "path of the submechanism file; empty: of the robot, or no loops"),
    "parameters_file": ("", "parameters of the nodes; empty: of the robot, or for any robot"),
    "namespace": ("", "of all nodes and topics, tf included"),
    "use_sim_time": ("false", "take the time from /clock"),
    "simulator": ("true", "start the simulator; false: real hardware"),
    "completer": ("false", "joint states from encoders; for simulator:=false"),
    "trajectory": ("", "repeat the parameters file's sample motion; empty: with a robot"),
    "robot_state_publisher": ("true", "start robot_state_publisher: joint states to tf"),
    "rviz": ("true", "start RViz"),
    "rviz_config": (str(CONFIG / "closed_loop.rviz"), "what RViz shows"),
    "transport": ("", "of Fast DDS, such as UDPv4 or DEFAULT; empty: the environment's, or UDPv4"),
}
SWITCHES = (
    *("use_sim_time", "simulator", "completer", "trajectory", "robot_state_publisher", "rviz"),
)
TF = [("/tf", "tf"), ("/tf_static", "tf_static")]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the nodes follow when their values are known."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start_nodes)])


def start_nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """The nodes that the arguments ask for."""
    given = complete({name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS})
    wanted = {name: as_bool(name, given[name]) for name in SWITCHES}
    if wanted["simulator"] and wanted["completer"]:
        raise ValueError("completer:=true needs simulator:=false: the simulator knows all joints")
    urdf, root = spanning_tree(given["urdf_file"])
    parameters_of_nodes = parameters_file(given["parameters_file"])
    sim_time = {"use_sim_time": wanted["use_sim_time"]}
    files = {
        name: existing_file(name, given[name]) if given[name] else ""
        for name in ("urdf_file", "submechanism_file")
    }
    environment = {WITH_PARENT: str(os.getpid()), **transport_environment(given["transport"])}
    encoders = "simulator/actuator_states" if wanted["simulator"] else "actuator_states"
    # One node speaks for the joints: the simulator, the encoders, or else the command.
    commanded = not wanted["simulator"] and not wanted["completer"]

    def start(package: str, executable: str, leave_out: str = "", **options: Any) -> Node:
        need_executable(package, executable, leave_out)
        return Node(
            package=package,
            executable=executable,
            namespace=given["namespace"],
            additional_env=environment,
            **options,
        )

    def node(executable: str, parameters: dict[str, object], remappings: dict[str, str]) -> Node:
        return start(
            PACKAGE,
            executable,
            name=executable,
            parameters=[parameters_of_nodes, parameters],
            remappings=list(remappings.items()),
            output="screen",
        )

    nodes = [
        node(
            "feedforward",
            {**files, **sim_time, "publish_joint_states": commanded},
            {"actuator_states": encoders},
        ),
    ]
    if wanted["simulator"]:
        # The source of the clock cannot also follow it.
        clock = {"use_sim_time": False, "publish_clock": wanted["use_sim_time"]}
        effort = {"~/effort_command": "feedforward/effort_command"}
        nodes.append(node("simulator", {**files, **clock}, effort))
    if wanted["completer"]:
        nodes.append(
            node("joint_state_completer", {**files, **sim_time}, {"actuator_states": encoders})
        )
    if wanted["trajectory"]:
        target = {"joint_trajectory": "feedforward/joint_trajectory"}
        nodes.append(node("trajectory_publisher", sim_time, target))
    if wanted["robot_state_publisher"]:
        tree = {"robot_description": urdf, "publish_frequency": 50.0, **sim_time}
        name = "robot_state_publisher"
        nodes.append(start(name, name, f"{name}:=false", parameters=[tree], remappings=TF))
    if wanted["rviz"]:
        shown = ["-d", existing_file("rviz_config", given["rviz_config"]), "-f", root]
        what = {"arguments": shown, "parameters": [sim_time], "remappings": TF}
        nodes.append(start("rviz2", "rviz2", "rviz:=false", **what))
    return nodes


def complete(given: dict[str, str]) -> dict[str, str]:
    """The arguments with what the named robot says, or what is good for any, in the gaps."""
    if given["robot"]:
        robot = shipped_robot(given["robot"])
        known = {
            "urdf_file": str(robot.urdf),
            "submechanism_file": str(robot.submechanisms),
            "parameters_file": str(robot.nodes),
            "trajectory": "true",
        }
    elif given["urdf_file"]:
        known = {"parameters_file": str(CONFIG / "closed_loop.yaml"), "trajectory": "false"}
    else:
        raise ValueError("which robot? Give robot:=NAME, or urdf_file:=PATH")
    return {name: value or known.get(name, "") for name, value in given.items()}


def as_bool(name: str, value: str) -> bool:
    """The value of a switch."""
    if value.lower() not in ("true", "false", "1", "0"):
        raise ValueError(f"{name}:={value}: true or false is meant")
    return value.lower() in ("true", "1")
