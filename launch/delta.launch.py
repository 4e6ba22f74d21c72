"""Delta robot. Three motors translate a platform in space. Each limb is an arm with two parallel
rods on universal joints (3-R[2-UU]); the platform can be commanded in x, y and z.

ros2 launch closed_loop_dynamics delta.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("delta")
