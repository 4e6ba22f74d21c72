"""Geared chain. A serial chain of 12 links; the rotor of each joint sits on the link before it and
turns it through a gear. `robots.chains.geared_chain(n)` makes one of any length.

ros2 launch closed_loop_dynamics geared_chain.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("geared_chain")
