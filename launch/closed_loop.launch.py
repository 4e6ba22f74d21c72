"""Any robot with closed loops: feedforward, simulator, robot_state_publisher and RViz.

ros2 launch closed_loop_dynamics closed_loop.launch.py urdf_file:=... submechanism_file:=...

``simulator:=false`` leaves the robot to real hardware: its encoders are then expected on
``actuator_states``, and with ``completer:=true`` the joint states come from them. With
``use_sim_time:=true`` the simulator is the source of /clock.
"""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

PACKAGE = "closed_loop_dynamics"
CONFIG = Path(get_package_share_directory(PACKAGE)) / "config"
ARGUMENTS = {
    "urdf_file": (None, "path of the URDF: the spanning tree"),
    "submechanism_file": ("", "path of the submechanism file; empty: no closed loops"),
    "parameters_file": (str(CONFIG / "closed_loop.yaml"), "parameters of the nodes"),
    "namespace": ("", "of all nodes and topics, tf included"),
    "use_sim_time": ("false", "take the time from /clock"),
    "simulator": ("true", "start the simulator; false: real hardware"),
    "completer": ("false", "joint states from encoders; for simulator:=false"),
    "trajectory": ("false", "send the sample motion of the parameters file again and again"),
    "rviz": ("true", "start RViz"),
    "rviz_config": (str(CONFIG / "closed_loop.rviz"), "what RViz shows"),
}


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; the nodes follow when their values are known."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start_nodes)])


def start_nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """The nodes that the arguments ask for."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    wanted = {name: as_bool(name, value) for name, value in given.items() if is_switch(name)}
    if wanted["simulator"] and wanted["completer"]:
        raise ValueError("completer:=true needs simulator:=false: the simulator knows all joints")
    urdf = Path(given["urdf_file"]).read_text(encoding="utf-8")
    sim_time = {"use_sim_time": wanted["use_sim_time"]}
    files = {name: given[name] for name in ("urdf_file", "submechanism_file")}
    encoders = "simulator/actuator_states" if wanted["simulator"] else "actuator_states"
    # One node speaks for the joints: the simulator, the encoders, or else the command.
    commanded = not wanted["simulator"] and not wanted["completer"]

    def node(executable: str, parameters: dict[str, object], remappings: dict[str, str]) -> Node:
        return Node(
            package=PACKAGE,
            executable=executable,
            name=executable,
            namespace=given["namespace"],
            parameters=[given["parameters_file"], parameters],
            remappings=list(remappings.items()),
            output="screen",
        )

    nodes = [
        node(
            "feedforward",
            {**files, **sim_time, "publish_joint_states": commanded},
            {"actuator_states": encoders},
        ),
        robot_state_publisher(urdf, given["namespace"], sim_time),
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
    if wanted["rviz"]:
        nodes.append(rviz(root_link(urdf), given["rviz_config"], given["namespace"], sim_time))
    return nodes


def robot_state_publisher(urdf: str, namespace: str, sim_time: dict[str, bool]) -> Node:
    """Joint states to tf, within the namespace."""
    return Node(
        package="robot_state_publisher",
        executable="robot_state_publisher",
        namespace=namespace,
        parameters=[{"robot_description": urdf, "publish_frequency": 50.0, **sim_time}],
        remappings=[("/tf", "tf"), ("/tf_static", "tf_static")],
    )


def rviz(frame: str, config: str, namespace: str, sim_time: dict[str, bool]) -> Node:
    """RViz on the topics of the namespace."""
    return Node(
        package="rviz2",
        executable="rviz2",
        namespace=namespace,
        arguments=["-d", config, "-f", frame],
        parameters=[sim_time],
        remappings=[("/tf", "tf"), ("/tf_static", "tf_static")],
    )


def root_link(urdf: str) -> str:
    """The link that is no joint's child."""
    robot = ElementTree.fromstring(urdf)
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    links = [link.get("name", "") for link in robot.iterfind("link")]
    return next(name for name in links if name not in children)


def is_switch(name: str) -> bool:
    """An argument that is true or false."""
    return ARGUMENTS[name][0] in ("true", "false")


def as_bool(name: str, value: str) -> bool:
    """The value of a switch."""
    if value.lower() not in ("true", "false", "1", "0"):
        raise ValueError(f"{name}:={value}: true or false is meant")
    return value.lower() in ("true", "1")
