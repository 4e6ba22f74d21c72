"""``<constraint>``, proposed for urdfdom by its ROS 2 users, and Isaac Sim's ``<loop_joint>``.

Drake's words (:mod:`..drake`) and Gazebo's joints (:mod:`.gazebo`) are read beside them.

    <constraint name="pin" type="revolute">    <!-- or prismatic, universal, spherical, link -->
      <parent link="rod"/>
      <parent_origin xyz="0.3 0 0" rpy="0 0 0"/>
      <parent_axis xyz="0 0 1"/>
      <child link="rocker"/>
      <child_origin xyz="0.5 0 0" rpy="0 0 0"/>
      <child_axis xyz="0 1 0"/>                <!-- of a universal joint only -->
    </constraint>
    <loop_joint name="ball" type="spherical">  <!-- or fixed -->
      <link1 link="rod" xyz="0.3 0 0" rpy="0 0 0"/>
      <link2 link="rocker" xyz="0.5 0 0" rpy="0 0 0"/>
    </loop_joint>

Two frames, one on each link, move against each other as the joint that was cut does; type ``link``
means that a link was cut: the frames are one. Neither says which joints are independent; those that
a ``<transmission>`` or ``<ros2_control>`` names are driven.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...errors import did_you_mean
from ...se3 import unit
from ..drake import WORDS as DRAKE
from ..drake import drake_loops
from ..implied import with_implied
from ..locked_axes import axes_of, turn_to_universal
from ..submechanism import LoopConstraint, Submechanism
from ..tied_joints import ACTIVE, INDEPENDENT, check_ends, tied_entries
from ..tree import Tree
from ..urdf.drives import driven_joints
from ..urdf.elements import numbers, origin_of, required
from ..urdf.unread import local_name, sdf_joints
from ..urdf_plus.ends import check_children
from ..xml_source import Element
from .gazebo import gazebo_loop, gazebo_name

_OWN = ("constraint", "loop_joint")
#: Tags that these formats give a meaning.
WORDS = (*_OWN, *DRAKE, "gazebo")
_TYPES = {
    **{name: name for name in ("revolute", "prismatic", "universal", "spherical")},
    "link": "fixed",
}
_LOOP_JOINT_TYPES = ("spherical", "fixed")
_CHILDREN = ("parent", "parent_origin", "parent_axis", "child", "child_origin", "child_axis")
_VOCABULARY = {
    "jointnames_independent": "a <transmission>",
    "check the cut frames": "check the origins",
    "`reference:`": "a submechanism file with `reference:`",
}
_Z = np.array([0.0, 0.0, 1.0])


def has_constraints(root: Element) -> bool:
    """Whether a ``<robot>`` has these words."""
    words = {local_name(child) for child in root.children} - {"gazebo"}
    return not words.isdisjoint(WORDS) or bool(sdf_joints(root))


def read_constraints(root: Element, tree: Tree) -> tuple[Submechanism, ...]:
    """The submechanisms of a ``<robot>`` whose links and joints are ``tree``.

    Raises:
        UrdfError, SubmechanismError: names the element with its line, and what to do.
    """
    loops: dict[str, LoopConstraint] = {}
    read = {"constraint": _constraint, "loop_joint": _loop_joint}
    for element in (*(e for e in root.children if e.tag in _OWN), *sdf_joints(root)):
        name = required(element, "name") if element.tag in _OWN else gazebo_name(element)
        if name in loops:
            raise element.error(f"a second one has the name '{name}'", "give it another")
        loops[name] = read.get(element.tag, gazebo_loop)(element, tree)
    driven = driven_joints(root)
    entries = tied_entries(
        tree,
        [*loops.items(), *drake_loops(root, tree)],
        undecided=(INDEPENDENT,) if driven else (INDEPENDENT, ACTIVE),
        vocabulary=_VOCABULARY,
    )
    entries = with_implied(entries, tree)
    return tuple(_driven(entry, tree, driven) for entry in entries) if driven else entries


def _driven(entry: Submechanism, tree: Tree, driven: list[str]) -> Submechanism:
    if tree.bodies[tree.joint_index(entry.spanning[0])].joint.has_quaternion:
        return entry
    return replace(entry, active=tuple(name for name in driven if name in entry.spanning))


def _constraint(element: Element, tree: Tree) -> LoopConstraint:
    check_children(element, _CHILDREN)
    kind = required(element, "type").removesuffix("_joint")
    if kind not in _TYPES:
        raise element.error(f"unknown type '{kind}' of a constraint", did_you_mean(kind, _TYPES))
    links = [_link(_child(element, tag), tree) for tag in ("parent", "child")]
    frames = [_origin(element.find(tag)) for tag in ("parent_origin", "child_origin")]
    axes = [_axis(element, tag) for tag in ("parent_axis", "child_axis")]
    if kind == "universal":
        axes[0] = turn_to_universal(frames, axes)
    elif element.find("child_axis") is not None and not np.allclose(axes[0], axes[1]):
        raise element.error(
            f"the child_axis of a {kind} joint is not its parent_axis",
            "leave it out, and turn the child_origin so that both frames agree when it is closed",
        )
    return _loop(element, tree, links, frames, _TYPES[kind], axes[0])


def _loop_joint(element: Element, tree: Tree) -> LoopConstraint:
    """Isaac Sim's documentation writes <link1> twice, its users <link1> and <link2>."""
    for child in element.children:
        if child.tag not in ("link1", "link2"):
            raise child.error(
                f"<{child.tag}> is not part of a loop_joint", "write <link1>, <link2>"
            )
    kind = required(element, "type")
    if kind not in _LOOP_JOINT_TYPES:
        raise element.error(
            f"a loop_joint of type '{kind}': its axis is not defined",
            'write "spherical" or "fixed"',
        )
    if len(element.children) != 2:
        raise element.error(f"it has {len(element.children)} links", "write <link1> and <link2>")
    links = [_link(child, tree) for child in element.children]
    frames = [_origin(child) for child in element.children]
    return _loop(element, tree, links, frames, kind, _Z)


def _loop(
    element: Element, tree: Tree, links: list[str], frames: list[Array], kind: str, axis: Array
) -> LoopConstraint:
    check_ends(tree, links, element.error)
    name = element.get("name")
    return LoopConstraint(
        predecessor=links[0],
        successor=links[1],
        axes=tuple(replace(a, name=f"{name} {a.name}") for a in axes_of(kind, axis)),
        predecessor_frame=frames[0],
        successor_frame=frames[1],
        place=element.place,
    )


def _child(element: Element, tag: str) -> Element:
    found = element.find(tag)
    if found is None:
        raise element.error(f"has no <{tag}>", f'add <{tag} link="..."/>')
    return found


def _link(end: Element, tree: Tree) -> str:
    link = required(end, "link")
    if link not in tree.frames:
        raise end.error(f"there is no link '{link}'", did_you_mean(link, tree.frames))
    return link


def _origin(element: Element | None) -> Array:
    return np.eye(4) if element is None else origin_of(element)


def _axis(element: Element, tag: str) -> Array:
    given = element.find(tag)
    axis = unit(numbers(given, "xyz") if given is not None else (1.0, 0.0, 0.0))
    if axis is None:
        raise (given or element).error("the zero axis", 'give a direction such as xyz="0 0 1"')
    return axis
