"""RH5-Manus-style upper body, reduced. An upper body with 23 joints, 13 of them independent: torso
on two cylinders (2-SPU+1U), elbows with lambda mechanisms (1-RRPR), motors elsewhere.

ros2 launch closed_loop_dynamics rh5_manus_reduced.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("rh5_manus_reduced")
