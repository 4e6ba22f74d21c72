"""Geared humanoid. A full-size humanoid with a free base and 32 geared joints; the 32 rotors are
bodies of their own, coupled to the joints.

ros2 launch closed_loop_dynamics geared_humanoid.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("geared_humanoid")
