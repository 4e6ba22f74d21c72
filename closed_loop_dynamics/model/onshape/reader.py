"""URDF with marker links -> :class:`Submechanism` entries: pairs of markers close the loops.

With a ``robot.yaml`` that file names the pairs, and the motors. Alone, a URDF of onshape-to-robot
has pairs of links ``closing_NAME_1`` and ``closing_NAME_2``, for a hinge also ``closing_NAME_1_z``
and ``_2_z`` further along its axis; it does not say what is driven.

No such file says which joints are independent: that follows from the mobility of the assembled
loops (``closure/roles.py``), where motors come first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import SubmechanismError, did_you_mean
from ..hyrodyn.node import Node
from ..implied import with_implied
from ..locked_axes import axes_of
from ..remark import Remark
from ..submechanism import LoopConstraint, Submechanism
from ..tied_joints import ACTIVE, INDEPENDENT, check_ends, tied_entries
from ..tree import Tree
from ..xml_source import Element
from .robot_yaml import RobotYaml

_VOCABULARY = {
    "jointnames_independent": "`name_mot`",
    "check the cut frames": "check the markers",
    "`reference:`": "a submechanism file with `reference:`",
}
_CLOSING = re.compile(r"(closing_.+)_([12])")
_Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class _Pair:
    """Two links whose frames must meet, how, and who says so."""

    links: tuple[str, str]
    cut: str
    said: Node


def read_marked_loops(tree: Tree, file: RobotYaml) -> tuple[Submechanism, ...]:
    """The submechanisms of a ``robot.yaml``; raises SubmechanismError with its key path."""
    pairs = []
    for node, whole in file.pairs:
        first, second = (_link(marker, tree) for marker in node)
        pairs.append(_Pair((first, second), "fixed" if whole else "spherical", node))
    for motor in file.motors:
        if motor.value not in tree.joint_names:
            near = did_you_mean(motor.value, tree.joint_names)
            raise motor.error(f"there is no moving joint '{motor.value}'", near)
    motors = {motor.value for motor in file.motors}
    entries = with_implied(_entries(tree, pairs, (INDEPENDENT,)), tree)
    return tuple(
        entry
        if any(tree.bodies[tree.joint_index(j)].joint.has_quaternion for j in entry.spanning)
        else replace(entry, active=tuple(j for j in entry.spanning if j in motors))
        for entry in entries
    )


def closing_markers(root: Element) -> list[str]:
    """The pairs ``closing_NAME`` of a URDF of onshape-to-robot; an odd one is an error."""
    marks = [link.get("name") for link in root.all("link")]
    names: list[str] = []
    for link in root.all("link"):
        match = _CLOSING.fullmatch(link.get("name"))
        if match is None:
            continue
        other = f"{match[1]}_{3 - int(match[2])}"
        if other not in marks:
            raise link.error(
                f"this marker closes a loop, but there is no link '{other}'",
                "export both ends of the mate, or remove the marker",
            )
        names += [match[1]] if match[2] == "1" else []
    return names


def read_closing_links(tree: Tree, names: Sequence[str]) -> tuple[Submechanism, ...]:
    """The submechanisms of pairs ``closing_NAME_1``, ``closing_NAME_2``."""
    pairs, remarks = [], []
    for name in names:
        hinge = f"{name}_1_z" in tree.frames
        place = Node(name, f"links '{name}_1' and '{name}_2'", tree.source)
        pairs.append(_Pair((f"{name}_1", f"{name}_2"), "revolute" if hinge else "spherical", place))
        if not hinge:
            message = (
                f"{place.place}: their origins meet, as a ball joint's; a robot.yaml says more"
            )
            remarks.append(Remark("info", "closure-assumed", message))
    entries = _entries(tree, pairs, (INDEPENDENT, ACTIVE))
    entries = tuple(
        replace(e, remarks=tuple(r for r in remarks if any(x.place in r.message for x in e.loops)))
        for e in entries
    )
    return with_implied(entries, tree)


def refuse_bare_markers(root: Element) -> None:
    """A URDF whose ``robot.yaml`` was not given must not become an open tree."""
    for element in root.children:
        if element.tag in ("link", "joint") and "closedloop" in element.get("name").lower():
            raise element.error(
                "this marker closes a loop, but not what with",
                "give the robot.yaml of this file too, or a submechanism file",
            )


def _entries(
    tree: Tree, pairs: Sequence[_Pair], undecided: tuple[str, ...]
) -> tuple[Submechanism, ...]:
    """One for each set of joints that markers and mimic tags tie together."""
    loops = [(pair.links[0], _loop(tree, pair)) for pair in pairs]
    file = pairs[0].said.file if pairs else ""
    return tied_entries(tree, loops, undecided=undecided, vocabulary=_VOCABULARY, file=file)


def _loop(tree: Tree, pair: _Pair) -> LoopConstraint:
    first, second = pair.links
    check_ends(tree, pair.links, pair.said.error)
    return LoopConstraint(
        predecessor=first,
        successor=second,
        axes=tuple(
            replace(axis, name=axis.name.rpartition(" ")[2]) for axis in axes_of(pair.cut, _Z)
        ),
        predecessor_frame=np.eye(4),
        successor_frame=np.eye(4),
        place=pair.said.place,
    )


def _link(marker: Node, tree: Tree) -> str:
    """A marker is a link, or a joint: then the link that it carries, whose frame is the joint's."""
    name = marker.value
    links = [name] if name in tree.frames else []
    if name in tree.fixed_joint_children:
        links.append(tree.fixed_joint_children[name])
    elif name in tree.joint_names:
        links.append(tree.bodies[tree.joint_index(name)].link)
    if not links:
        near = did_you_mean(name, [*tree.frames, *tree.joint_names])
        raise marker.error(f"there is no link and no joint '{name}'", near)
    if len({*links}) > 1:
        raise _ambiguous(marker, links)
    return links[0]


def _ambiguous(marker: Node, links: Sequence[str]) -> SubmechanismError:
    return marker.error(
        f"'{marker.value}' is a link, and a joint that carries the link '{links[1]}'",
        "rename one of them in the URDF",
    )
