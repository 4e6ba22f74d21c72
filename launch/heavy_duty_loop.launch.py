"""The heavy-duty loop: 3 joints, 1 cylinder; its arm moves up and down.

ros2 launch closed_loop_dynamics heavy_duty_loop.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription

SHARE = Path(get_package_share_directory("closed_loop_dynamics"))
ARGUMENTS = {
    "parameters_file": (
        str(SHARE / "config/heavy_duty_loop_nodes.yaml"),
        "parameters of the nodes",
    ),
    "trajectory": ("true", "send the sample motion of the parameters file again and again"),
}


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    robot = {
        "urdf_file": str(SHARE / "urdf/heavy_duty_loop.urdf"),
        "submechanism_file": str(SHARE / "config/heavy_duty_loop.yaml"),
        **{name: LaunchConfiguration(name) for name in ARGUMENTS},
    }
    general = PythonLaunchDescriptionSource(str(SHARE / "launch/closed_loop.launch.py"))
    include = IncludeLaunchDescription(general, launch_arguments=robot.items())
    return LaunchDescription([*declared, include])
