"""The ``task_space`` of a submechanism file -> :class:`TaskAxes`.

    task_space:
      platform: tool        # the link that the task moves
      axes: [x, z]          # its free coordinates, in the order of the task vector

The coordinates are those of the platform's frame in the robot's root frame: x, y, z [m] and the
URDF angles roll, pitch, yaw [rad]. Those not listed stay as they are at the reference.
"""

from __future__ import annotations

from ..submechanism import TaskAxes
from ..tree import Tree
from .loop_constraints import read_link
from .node import Node


def read_task_axes(node: Node, tree: Tree) -> TaskAxes:
    """Platform and free coordinates, checked against the tree."""
    platform = read_link(node["platform"], tree)
    if tree.frames[platform][0] < 0:
        raise node["platform"].error(
            f"the platform '{platform}' is fixed to the root",
            "name the link that the limbs move",
        )
    return TaskAxes(platform, tuple(node["axes"].value), node.place)
