"""What a URDF holds and nobody reads: named in the report, or refused where it may close a loop.

Whatever moves a robot or weighs on it must not be dropped without a word. Elements that are known
to do neither (``gazebo``, ``collision``, ...) are left alone. An element of the robot that is not
known and ties links together may close a loop: without it the robot would be an open tree.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ..remark import Remark
from ..xml_source import Element
from .checks import MANIFOLD

#: Children that are read, or that neither move a robot nor weigh on it.
_KNOWN = {
    "robot": {
        *("link", "joint", "material", "transmission", "gazebo", "ros2_control", "sensor"),
        *("mujoco", "plugin", "static", "self_collide", "disable_collisions", "group"),
        *("group_state", "end_effector", "virtual_joint", "passive_joint"),
    },
    "link": {
        *("inertial", "visual", "collision", "sensor", "material", "contact", "audio"),
        *("collision_checking", "self_collision_checking", "verbose", "gazebo", "frame"),
    },
    "inertial": {"origin", "mass", "inertia"},
    "joint": {
        *("origin", "axis", "parent", "child", "limit", "mimic", "calibration"),
        *("safety_controller", "hardwareInterface", "sensor", "gazebo"),
    },
}
_CONTACTS = "collision_filter_group"  # Drake's; it names links, and ties none
_JOINT_ATTRIBUTES = {"name", "type"}
_FRICTION = ("dynamics", "joint_properties")  # the second before URDF 1.0, Onshape exports too
CLOSES = re.compile("loop|constraint|closure|coupling|bushing|^gear|equality", re.IGNORECASE)
_SHOWN = 6


def closing_elements(root: Element, read: Collection[str] = ()) -> list[Element]:
    """Those that may close a loop: by their name, because they name two links, or in ``<gazebo>``.

    ``read`` are the tags that the format of the file gives a meaning.
    """
    links = {link.get("name") for link in root.all("link")}
    result = [] if "gazebo" in read else sdf_joints(root)
    for element in root.children:
        if not _is_known(element, "robot") and local_name(element) not in read:
            words = {w for e in _below(element) for w in (e.text.strip(), *e.attributes.values())}
            if CLOSES.search(local_name(element)) or len(words & links) > 1:
                result.append(element)
    return result


def sdf_joints(root: Element) -> list[Element]:
    """Joints in ``<gazebo>``, and DetachableJoints, between links that others tie already."""
    links = {link.get("name") for link in root.all("link")}
    carried = {end.get("link") for joint in root.all("joint") for end in joint.all("child")}
    result = []
    for element in (e for gazebo in root.all("gazebo") for e in _below(gazebo)):
        ends = sdf_ends(element) if element.tag == "joint" or is_weld(element, root) else []
        if len(ends) == 2 and ({*ends} <= links or (ends[0] == "world" and ends[1] in carried)):
            result.append(element)
    return result


def sdf_ends(element: Element) -> list[str]:
    """Parent and child link of a joint of SDF, or of a plugin that welds two."""
    tags = ("parent", "child") if element.tag == "joint" else ("parent_link", "child_link")
    return [found.text.strip() for found in map(element.find, tags) if found is not None]


def is_weld(element: Element, root: Element) -> bool:
    """Whether it is Gazebo's system DetachableJoint, between links of this robot or model."""
    model = element.find("child_model")
    own = model is None or model.text.strip() in ("", "__model__", root.get("name"))
    return element.tag == "plugin" and "DetachableJoint" in element.get("name") and own


def _is_known(element: Element, inside: str) -> bool:
    return element.tag in _KNOWN[inside] or local_name(element) == _CONTACTS


def remarks_on_unread(
    root: Element, read: Collection[str] = (), described: Collection[str] = ()
) -> Iterator[Remark]:
    """Remarks on all that has, or may have, a meaning and is not used.

    Args:
        read: tags below ``<robot>``, and attributes of ``<joint>``, of the file's own format.
        described: joints whose friction another file gives.
    """
    closing = closing_elements(root, read)
    for element in closing:
        message = f"{element.place} is not read: the submechanism file alone says what closes loops"
        yield Remark("warning", "unread-loop", message, element.file, element.place)
    for element in [root, *root.all("link"), *root.all("joint"), *_inertials(root)]:
        for child in element.children:
            known = _is_known(child, element.tag) or child.tag in _FRICTION
            if not known and local_name(child) not in read and child not in closing:
                message = f"<{local_name(child)}> is not read: {child.place}"
                yield Remark("warning", "unread-element", message, child.file, child.place)
    for joint in root.all("joint"):
        for key in sorted(set(joint.attributes) - _JOINT_ATTRIBUTES - set(read)):
            message = f'{key}="{joint.get(key)[:40]}" is not read: {joint.place}'
            yield Remark("warning", "unread-attribute", message, joint.file, joint.place)
    for joint in root.all("joint"):
        if joint.get("type") in MANIFOLD and joint.find("limit") is not None:
            message = f"<limit> of a {joint.get('type')} joint is not read: {joint.place}"
            yield Remark("warning", "unread-limit", message, joint.file, joint.place)
    yield from _friction(root, described)


def _friction(root: Element, described: Collection[str]) -> Iterator[Remark]:
    names = [
        joint.get("name")
        for joint in root.all("joint")
        if joint.get("type") != "fixed" and joint.get("name") not in described
        for child in joint.children
        if child.tag in _FRICTION and any(map(_is_not_zero, child.attributes.values()))
    ]
    if names:
        message = (
            f"<dynamics> of {shortened(names)} is not used: write it as joint_friction or "
            "actuators: {joint: {viscous_friction: ..., coulomb_friction: ...}} of a submechanism "
            "file"
        )
        yield Remark("warning", "unread-friction", message)


def shortened(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(f"'{name}'" for name in names[:_SHOWN]) + more


def local_name(element: Element) -> str:
    """The tag without its namespace."""
    return element.tag.rpartition(" ")[2]


def _inertials(root: Element) -> list[Element]:
    return [part for link in root.all("link") for part in link.all("inertial")]


def _below(element: Element) -> Iterator[Element]:
    """The element and all inside."""
    yield element
    for child in element.children:
        yield from _below(child)


def _is_not_zero(text: str) -> bool:
    try:
        return float(text) != 0.0
    except ValueError:
        return True
