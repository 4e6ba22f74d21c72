"""Belt humanoid. A small humanoid with a free base and 18 actuators. Knee and ankle are driven by
belts from two motors in the thigh, so that one cluster holds two links and two rotors; all other
joints are geared.

ros2 launch closed_loop_dynamics belt_humanoid.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("belt_humanoid")
