"""Exoskeleton hip. A thigh that three motors turn about the wearer's hip: a spherical parallel
mechanism (3-RRR, 9 joints).

ros2 launch closed_loop_dynamics exo_hip.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("exo_hip")
