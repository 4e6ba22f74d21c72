"""Exoskeleton ankle. A foot that three motors turn almost about the wearer's ankle: an Active Ankle
(3-R[2-SS], 21 joints), which has no closed form here and is solved by Newton's method.

ros2 launch closed_loop_dynamics exo_ankle.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("exo_ankle")
