"""Gough-Stewart platform. Six cylinders on universal joints move a platform in all six directions
(6-UPS), in closed form; the platform can be commanded in its pose.

ros2 launch closed_loop_dynamics six_ups.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("six_ups")
