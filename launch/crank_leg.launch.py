"""Crank leg. A leg with 7 joints, 3 of them driven: a motor at the hip, a cylinder across the knee
(1-RRPR), a crank and a push rod at the ankle (four-bar). The smallest robot that shows what the
package is for.

ros2 launch closed_loop_dynamics crank_leg.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("crank_leg")
