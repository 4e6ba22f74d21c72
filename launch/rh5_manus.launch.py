"""RH5-Manus-style upper body. An upper body with 61 joints, 20 of them independent: as the reduced
one, with a parallel wrist in each forearm (2-SU[RRPR]+1U, 16 joints) and a head that two motors nod
and tilt together.

ros2 launch closed_loop_dynamics rh5_manus.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("rh5_manus")
