"""``springs`` of a submechanism file: at joints, and between points of two links.

springs:
  - {joint: knee, stiffness: 120.0, rest: 0.4, preload: 1.5}
  - from: {link: thigh, point: [0.0, 0.05, -0.1]}
    to: {link: shank, point: [0.0, 0.05, -0.2]}
    stiffness: 800.0
    rest: 0.12
"""

from __future__ import annotations

from ...errors import did_you_mean
from ..spring import JointSpring, Point, PointSpring
from ..tree import Tree
from .node import Node

_NUMBERS = ("stiffness", "rest", "preload")


def read_spring(node: Node, tree: Tree) -> JointSpring | PointSpring:
    """One spring, checked against the tree.

    Raises:
        SubmechanismError: names the key path, the offending word and the nearest valid one.
    """
    numbers = {key: node[key].value for key in _NUMBERS if key in node}
    if "joint" in node:
        return JointSpring(joint=_joint(node["joint"], tree), **numbers)
    if numbers.get("rest", 0.0) < 0.0:
        raise node["rest"].error(
            "a spring between two points cannot be shorter than nothing", "write zero or more"
        )
    (first, at), (second, there) = (_end(node[key], tree) for key in ("from", "to"))
    if tree.frames[first][0] == tree.frames[second][0]:
        same = "are the same link" if first == second else "are fixed to each other"
        raise node.error(f"'{first}' and '{second}' {same}", "name two links that move apart")
    return PointSpring(links=(first, second), points=(at, there), **numbers)


def _joint(node: Node, tree: Tree) -> str:
    name: str = node.value
    if name not in tree.joint_names:
        fixed = "is fixed" if name in tree.fixed_joint_children else "is not in the URDF"
        raise node.error(f"joint '{name}' {fixed}", did_you_mean(name, tree.joint_names))
    if tree.bodies[tree.joint_index(name)].joint.has_quaternion:
        raise node.error(
            f"joint '{name}' has no single position",
            "fix springs to points: from: {link: ...}, to: {link: ...}",
        )
    return name


def _end(node: Node, tree: Tree) -> tuple[str, Point]:
    link: str = node["link"].value
    if link not in tree.frames:
        raise node["link"].error(f"there is no link '{link}'", did_you_mean(link, tree.frames))
    x, y, z = node.value_of("point", [0.0, 0.0, 0.0])
    return link, (x, y, z)
