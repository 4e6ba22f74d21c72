"""Heavy-duty arm. A crane of 1063 kg: a slewing base, two linear-actuator loops one on the other
(1-RRPR) and a prismatic boom, in the coordinates of its four actuators.

ros2 launch closed_loop_dynamics heavy_duty_arm.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("heavy_duty_arm")
