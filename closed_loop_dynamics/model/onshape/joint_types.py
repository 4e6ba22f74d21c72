"""Joints that a ``robot.yaml`` makes another kind: hinges one after the other, between bare links.

A ball is three hinges about the x, y and z axes of the joint's frame, a universal joint two. They
are called as the format calls those of a universal joint: ``ankle_X``, ``ankle_Y``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...errors import did_you_mean
from ..hyrodyn.node import Node
from ..xml_source import Element
from .robot_yaml import HINGES

_AXES = {"X": "1 0 0", "Y": "0 1 0", "Z": "0 0 1"}


def with_joint_types(root: Element, types: Sequence[tuple[Node, str]]) -> Element:
    """The ``<robot>`` with these joints of other types; ``root`` stays as it is.

    Raises:
        SubmechanismError: a joint that there is not, or whose element is not complete.
    """
    chosen = {node.value: (node, kind) for node, kind in types}
    names = [joint.get("name") for joint in root.all("joint")]
    for node, _ in types:
        if node.value not in names:
            raise node.error(f"there is no joint '{node.value}'", did_you_mean(node.value, names))
    children: list[Element] = []
    for element in root.children:
        if element.tag == "joint" and element.get("name") in chosen:
            children += _hinges(element, *chosen[element.get("name")])
        else:
            children.append(element)
    return replace(root, children=children)


def _hinges(joint: Element, node: Node, kind: str) -> list[Element]:
    """The elements in place of a joint."""
    parent, child = joint.find("parent"), joint.find("child")
    if joint.find("mimic") is not None or parent is None or child is None:
        raise node.error(
            f"joint '{node.value}' of the URDF has no parent or child, or mimics another",
            "correct the URDF, or leave the joint as it is",
        )
    axes = HINGES[kind]
    if not axes:
        kept = [c for c in joint.children if c.tag in ("parent", "child", "origin")]
        return [replace(joint, attributes={**joint.attributes, "type": "fixed"}, children=kept)]
    name = joint.get("name")
    result: list[Element] = []
    carrier = parent
    for k, axis in enumerate(axes):
        last = k == len(axes) - 1
        between = f"{name}_{axis}_link"
        hinge = replace(joint, attributes={"name": f"{name}_{axis}", "type": "continuous"})
        hinge.children = [
            *([c for c in joint.children if c.tag == "origin"] if k == 0 else []),
            replace(carrier, parent=hinge),
            child if last else _made("child", joint, link=between),
            _made("axis", joint, xyz=_AXES[axis]),
        ]
        result += [] if last else [_made("link", joint, name=between)]
        result.append(hinge)
        carrier = _made("parent", joint, link=between)
    return result


def _made(tag: str, at: Element, **attributes: str) -> Element:
    return Element(tag, attributes, at.file, at.line, at.parent)
