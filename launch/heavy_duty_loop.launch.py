"""Heavy-duty loop. An arm of 415 kg on a stand, lifted by one cylinder (1-RRPR) whose stroke is the
coordinate.

ros2 launch closed_loop_dynamics heavy_duty_loop.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("heavy_duty_loop")
