"""RH5-style leg. A humanoid's leg with 18 joints, 6 of them driven: two motors, two lambda
mechanisms (1-RRPR) at hip and knee, and an ankle on two cylinders (2-SPRR+1U).

ros2 launch closed_loop_dynamics rh5_leg.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("rh5_leg")
