"""The ``task_space`` of a submechanism file -> :class:`TaskAxes`.

    task_space:
      platform: tool        # the link that the task moves
      axes: [x, z]          # its free coordinates, in the order of the task vector

The coordinates are those of the platform's frame in the robot's root frame: x, y, z [m] and the
URDF angles roll, pitch, yaw [rad]. Those not listed stay as they are at the reference.
"""

from __future__ import annotations

from ...errors import did_you_mean
from ..submechanism import TaskAxes
from ..tree import Tree
from ..words import AXES
from .schema import TASK_SPACE
from .yaml_reader import Node

_EXAMPLE = "{platform: tool, axes: [x, z]}"


def read_task_axes(node: Node, tree: Tree) -> TaskAxes:
    """Platform and free coordinates, checked against the tree."""
    fields = node.fields(TASK_SPACE.keys, _EXAMPLE)
    for key in TASK_SPACE.keys:
        if key not in fields:
            raise node.error(f"task_space has no '{key}'", f"write task_space: {_EXAMPLE}")
    platform = fields["platform"].text("the name of a link")
    if platform not in tree.frames:
        raise fields["platform"].error(
            f"there is no link '{platform}'", did_you_mean(platform, tree.frames)
        )
    if tree.frames[platform][0] < 0:
        raise fields["platform"].error(
            f"the platform '{platform}' is fixed to the root",
            "name the link that the limbs move",
        )
    axes: list[str] = []
    for item in fields["axes"].items("[x, z]"):
        axis = item.text("an axis such as x")
        if axis not in AXES:
            raise item.error(f"'{axis}' is not an axis of a task", did_you_mean(axis, AXES))
        if axis in axes:
            raise item.error(f"axis '{axis}' is listed twice", "keep one of them")
        axes.append(axis)
    if not axes:
        raise fields["axes"].error("no axes are listed", f"write task_space: {_EXAMPLE}")
    return TaskAxes(platform, tuple(axes), node.place)
