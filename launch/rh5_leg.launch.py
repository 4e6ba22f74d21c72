"""RH5-style leg: the foot, level and below the hip, goes up by 15 cm and down again.

ros2 launch closed_loop_dynamics rh5_leg.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("rh5_leg")
