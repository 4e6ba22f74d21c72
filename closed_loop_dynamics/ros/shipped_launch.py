"""A launch file for one shipped robot: the general one with its name. Needs ROS 2's ``launch``."""

from __future__ import annotations

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import IncludeLaunchDescription
from launch.launch_description import LaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from ..shipped import PACKAGE


def describe(name: str) -> LaunchDescription:
    """``closed_loop.launch.py robot:=name``; its other arguments can be given as well."""
    general = Path(get_package_share_directory(PACKAGE)) / "launch" / "closed_loop.launch.py"
    source = PythonLaunchDescriptionSource(str(general))
    return LaunchDescription([IncludeLaunchDescription(source, launch_arguments=[("robot", name)])])
