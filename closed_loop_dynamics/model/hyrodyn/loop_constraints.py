"""One ``loop_constraints`` entry of a submechanism file -> :class:`LoopConstraint`."""

from __future__ import annotations

from ...arrays import Array
from ...errors import did_you_mean
from ...se3 import origin_pose
from ..submechanism import ConstraintAxis, LoopConstraint
from ..tree import Tree
from .cut_joints import listed_axes, named_axes
from .schema import CUT_JOINTS, FRAME, LOOP
from .yaml_reader import Node

_EXAMPLE = "{cut_joint: ..., predecessor_body: ..., successor_body: ..., cut: revolute}"


def read_loops(node: Node, tree: Tree) -> tuple[LoopConstraint, ...]:
    """All cut joints of one submechanism."""
    return tuple(_read_loop(item, tree) for item in node.items(f"[{_EXAMPLE}]"))


def _read_loop(node: Node, tree: Tree) -> LoopConstraint:
    fields = node.fields(LOOP.keys, _EXAMPLE)
    predecessor = _read_link(node, fields, "predecessor_body", tree)
    successor = _read_link(node, fields, "successor_body", tree)
    if tree.frames[predecessor][0] == tree.frames[successor][0]:
        same = "are the same link" if predecessor == successor else "are fixed to each other"
        raise node.error(
            f"predecessor_body '{predecessor}' and successor_body '{successor}' {same}",
            "name two links that move relative to each other: the two ends of the cut joint",
        )
    first, second = _read_frames(node, fields)
    cut_joint = _read_cut_joint(node, fields, tree, has_frames=first is not None)
    return LoopConstraint(
        predecessor=predecessor,
        successor=successor,
        axes=_read_axes(node, fields),
        cut_joint=cut_joint,
        predecessor_frame=first,
        successor_frame=second,
        place=node.place,
    )


def _read_link(node: Node, fields: dict[str, Node], key: str, tree: Tree) -> str:
    if key not in fields:
        raise node.error(f"the loop has no '{key}'", f"add '{key}:' with the name of a link")
    link = fields[key].text("the name of a link")
    if link not in tree.frames:
        raise fields[key].error(f"there is no link '{link}'", did_you_mean(link, tree.frames))
    return link


def _read_cut_joint(
    node: Node, fields: dict[str, Node], tree: Tree, *, has_frames: bool
) -> str | None:
    if "cut_joint" not in fields:
        if has_frames:
            return None
        raise node.error(
            "the loop has no 'cut_joint'",
            "name the joint whose child link carries the cut frame, or give predecessor_frame "
            "and successor_frame",
        )
    name = fields["cut_joint"].text("the name of a joint")
    joints = (*tree.joint_names, *tree.fixed_joint_children)
    if name not in joints:
        raise fields["cut_joint"].error(
            f"there is no joint '{name}' in the URDF", did_you_mean(name, joints)
        )
    return None if has_frames else name  # explicit frames override the joint's


def _read_frames(node: Node, fields: dict[str, Node]) -> tuple[Array | None, Array | None]:
    keys = ("predecessor_frame", "successor_frame")
    given = [key for key in keys if key in fields]
    if len(given) == 1:
        raise fields[given[0]].error(
            f"'{given[0]}' is given alone",
            f"give {keys[0]} and {keys[1]} together, or neither",
        )
    if not given:
        return None, None
    first, second = (_read_frame(fields[key]) for key in keys)
    return first, second


def _read_frame(node: Node) -> Array:
    fields = node.fields(FRAME.keys, "{xyz: [0, 0, 0], rpy: [0, 0, 0]}")
    zero = [0.0, 0.0, 0.0]
    xyz, rpy = (fields[key].numbers(3) if key in fields else zero for key in ("xyz", "rpy"))
    return origin_pose(xyz, rpy)


def _read_axes(node: Node, fields: dict[str, Node]) -> tuple[ConstraintAxis, ...]:
    if ("cut" in fields) == ("constraint_axes" in fields):
        number = "both" if "cut" in fields else "neither"
        raise node.error(
            f"{number} of 'cut' and 'constraint_axes' are given",
            f"give one of them: constraint_axes, or cut: {'|'.join(CUT_JOINTS)}",
        )
    if "cut" in fields:
        return named_axes(fields["cut"], fields.get("axis"))
    if "axis" in fields:
        raise fields["axis"].error(
            "'axis' of a loop goes with 'cut' only", "write it inside constraint_axes"
        )
    return listed_axes(fields["constraint_axes"])
