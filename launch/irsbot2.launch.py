"""IRSBot-2. Two motors translate a platform in a vertical plane. Each limb is a parallelogram that
carries a loop of four universal joints; the platform can be commanded in x and z.

ros2 launch closed_loop_dynamics irsbot2.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("irsbot2")
