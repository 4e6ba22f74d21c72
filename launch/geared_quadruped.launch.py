"""Geared quadruped. A quadruped with a free base and 12 geared joints; the 12 rotors are bodies of
their own, coupled to the joints.

ros2 launch closed_loop_dynamics geared_quadruped.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("geared_quadruped")
