"""``loop_constraints`` and ``task_space`` of a submechanism: what it says about links.

    task_space:
      platform: tool        # the link that the task moves
      axes: [x, z]          # its free coordinates, in the order of the task vector

The coordinates are those of the platform's frame in the robot's root frame: x, y, z [m] and the
URDF angles roll, pitch, yaw [rad]. Those not listed stay as they are at the reference.
"""

from __future__ import annotations

from ...arrays import Array
from ...errors import did_you_mean
from ...se3 import origin_pose
from ..submechanism import LoopConstraint, TaskAxes
from ..tree import Tree
from .cut_joints import listed_axes, named_axes
from .node import Node


def read_loop(node: Node, tree: Tree) -> LoopConstraint:
    """A cut joint, checked against the tree."""
    predecessor, successor = (
        _read_link(node[f"{end}_body"], tree) for end in ("predecessor", "successor")
    )
    if tree.frames[predecessor][0] == tree.frames[successor][0]:
        same = "are the same link" if predecessor == successor else "are fixed to each other"
        raise node.error(
            f"predecessor_body '{predecessor}' and successor_body '{successor}' {same}",
            "name two links that move relative to each other: the two ends of the cut joint",
        )
    cut_joint = _read_cut_joint(node["cut_joint"], tree) if "cut_joint" in node else None
    first, second = (_read_frame(node, f"{end}_frame") for end in ("predecessor", "successor"))
    return LoopConstraint(
        predecessor=predecessor,
        successor=successor,
        axes=named_axes(node) if "cut" in node else listed_axes(node["constraint_axes"]),
        cut_joint=cut_joint if first is None else None,  # explicit frames override the joint's
        predecessor_frame=first,
        successor_frame=second,
        place=node.place,
    )


def read_task_axes(node: Node, tree: Tree) -> TaskAxes:
    """Platform and free coordinates, checked against the tree."""
    platform = _read_link(node["platform"], tree)
    if tree.frames[platform][0] < 0:
        raise node["platform"].error(
            f"the platform '{platform}' is fixed to the root", "name the link that the limbs move"
        )
    return TaskAxes(platform, tuple(node["axes"].value))


def _read_link(node: Node, tree: Tree) -> str:
    link: str = node.value
    if link not in tree.frames:
        raise node.error(f"there is no link '{link}'", did_you_mean(link, tree.frames))
    return link


def _read_cut_joint(node: Node, tree: Tree) -> str:
    name: str = node.value
    joints = (*tree.joint_names, *tree.fixed_joint_children)
    if name not in joints:
        raise node.error(f"there is no joint '{name}' in the URDF", did_you_mean(name, joints))
    return name


def _read_frame(node: Node, key: str) -> Array | None:
    if key not in node:
        return None
    zero = [0.0, 0.0, 0.0]
    return origin_pose(node[key].value_of("xyz", zero), node[key].value_of("rpy", zero))
