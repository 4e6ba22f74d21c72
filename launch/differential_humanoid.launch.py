"""Differential humanoid. A small humanoid with a free base and 18 actuators. Two motors with cranks
and rods pitch and roll each thigh together (2-RUS+1U); mean and difference of two more move knee
and, through a four-bar, ankle.

ros2 launch closed_loop_dynamics differential_humanoid.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("differential_humanoid")
