"""RH5-style humanoid. A whole humanoid with a free base and 97 joints, 32 of them independent: the
full upper body on two of the legs, with twelve parallel or coupled mechanisms.

ros2 launch closed_loop_dynamics rh5_humanoid.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("rh5_humanoid")
