"""Belt chain. A serial chain of 12 links in pairs; both rotors of a pair sit on the link before it,
and the second one drives through a belt along the first link. `robots.chains.belt_chain(n)` makes
one of any length.

ros2 launch closed_loop_dynamics belt_chain.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("belt_chain")
