"""What the launch files of the shipped robots have in common. Needs ROS 2's ``launch``."""

from __future__ import annotations

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description import LaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from tools.robots import SHIPPED

ARGUMENTS = {
    "parameters_file": "parameters of the nodes",
    "trajectory": "send the sample motion of the parameters file again and again",
}


def describe(name: str) -> LaunchDescription:
    """The general launch file with the files of a shipped robot, its sample motion switched on."""
    robot, share = SHIPPED[name], Path(get_package_share_directory("closed_loop_dynamics"))
    defaults = {"parameters_file": str(share / robot.nodes_file), "trajectory": "true"}
    declared = [
        DeclareLaunchArgument(argument, default_value=defaults[argument], description=text)
        for argument, text in ARGUMENTS.items()
    ]
    given = {
        "urdf_file": str(share / robot.urdf_file),
        "submechanism_file": str(share / robot.submechanism_file),
        **{argument: LaunchConfiguration(argument) for argument in ARGUMENTS},
    }
    general = PythonLaunchDescriptionSource(str(share / "launch/closed_loop.launch.py"))
    include = IncludeLaunchDescription(general, launch_arguments=given.items())
    return LaunchDescription([*declared, include])
