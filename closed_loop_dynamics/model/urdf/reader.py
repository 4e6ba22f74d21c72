"""URDF -> :class:`Tree`: the first step of every robot.

Fixed joints are lumped here, so that every later layer sees moving bodies only. Non-physical
inertias pass: what they mean for the robot is for the linter to say.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...errors import InvalidInput, UrdfError
from ...se3 import unit
from ..implied import make_unique
from ..parts import LinkInertia, Part
from ..tree import FLOATING, PRISMATIC, REVOLUTE, SPHERICAL, Joint, Tree
from ..xml_source import Element
from .checks import check_joint_types, check_mimics, find_root
from .elements import (
    INERTIA,
    UrdfDocument,
    UrdfJoint,
    number,
    numbers,
    read_document,
    read_origin,
)
from .transmissions import transmissions_of
from .visuals import read_visuals

FLOATING_BASE = "floating_base"
_KINDS = {"revolute": REVOLUTE, "continuous": REVOLUTE, "prismatic": PRISMATIC}
_FREE = {"floating": FLOATING, "spherical": SPHERICAL}


def read_urdf(source: str | os.PathLike[str] | Element, *, floating_base: bool = False) -> Tree:
    """Read a URDF: its spanning tree, visuals and transmissions.

    Args:
        source: path, the XML text itself (recognised by its leading ``<``), or its root element.
        floating_base: let the root link move freely: body 0, joint ``"floating_base"``.

    Raises:
        UrdfError: names the file, the element with its line, and what to do.
    """
    document = read_document(source)
    check_joint_types(document)
    root = find_root(document)
    check_mimics(document)
    if not isinstance(floating_base, (bool, np.bool_)):
        raise InvalidInput(f"floating_base is {floating_base!r}; give True or False")
    if floating_base:
        _check_floating_base(document, root)
    # Absurd but finite numbers may overflow when multiplied; the result is checked instead.
    with np.errstate(all="ignore"):
        builder = _TreeBuilder(document, root)
        builder.build(floating_base)
    try:
        transmissions, broken = transmissions_of(document.root), None
    except UrdfError as error:
        transmissions, broken = (), error
    return Tree(
        name=document.root.get("name"),
        root_link=root,
        bodies=tuple(part.freeze() for part in builder.parts),
        frames=builder.frames,
        fixed_joint_children={j.name: j.child for j in builder.joints if j.type == "fixed"},
        source=document.root.file,
        link_inertias=builder.link_inertias,
        visuals=read_visuals(document.root),
        transmissions=transmissions,
        broken_transmission=broken,
    )


def _check_floating_base(document: UrdfDocument, root: str) -> None:
    if FLOATING_BASE in document.joints:
        raise document.joints[FLOATING_BASE].error(
            f"floating_base=True adds a joint '{FLOATING_BASE}', but the URDF has one",
            "rename the joint of the URDF or load it with floating_base=False",
        )
    for joint in document.joints.values():
        if joint.type == "floating":
            raise joint.error(
                "floating_base=True, but the URDF has a floating joint already",
                f"load it with floating_base=False, or make it a fixed joint below '{root}'",
            )


class _TreeBuilder:
    """Walks the links depth first, in the order in which the URDF lists the joints."""

    def __init__(self, document: UrdfDocument, root: str) -> None:
        self.document = document
        self.root = root
        self.joints = document.joints.values()
        self.parts: list[Part] = []
        self.frames: dict[str, tuple[int, Array]] = {}
        self.link_inertias: dict[str, LinkInertia] = {
            name: _link_inertia(inertial)
            for name, link in document.links.items()
            if (inertial := link.find("inertial")) is not None
        }
        self._names, self._links = {*document.joints}, {*document.links}
        self.children: dict[str, list[UrdfJoint]] = {}
        for joint in self.joints:
            self.children.setdefault(joint.parent, []).append(joint)

    def build(self, floating_base: bool) -> None:
        body = -1
        if floating_base:
            base = Joint(FLOATING_BASE, FLOATING, np.eye(4), np.zeros(3))
            body = self._add_part(self.root, -1, base)
        self._place(self.root, body, np.eye(4))
        # An explicit stack: a chain may be longer than Python's recursion limit.
        stack = self._joints_below(self.root)
        while stack:
            joint = stack.pop()
            carrier, frame = self.frames[joint.parent]
            frame = frame @ read_origin(joint.element)
            if not np.all(np.isfinite(frame)):
                problem = "its position relative to the parent body overflows"
                raise joint.error(problem, "write positions in metres", "origin")
            if joint.type == "fixed":
                self._place(joint.child, carrier, frame)
            else:
                *inner, last = self._moving_joints(joint, frame)
                for each in inner:  # each with a link of its own, without mass
                    link = make_unique(each.name, self._links)
                    carrier = self._add_part(link, carrier, each)
                    self._place(link, carrier, np.eye(4))
                body = self._add_part(joint.child, carrier, last)
                self._place(joint.child, body, np.eye(4))
            stack.extend(self._joints_below(joint.child))

    def _joints_below(self, link: str) -> list[UrdfJoint]:
        return self.children.get(link, [])[::-1]

    def _add_part(self, link: str, parent: int, joint: Joint) -> int:
        self.parts.append(Part(link, parent, joint))
        return len(self.parts) - 1

    def _place(self, link: str, body: int, frame: Array) -> None:
        self.frames[link] = (body, frame)
        if body < 0:
            return  # fixed to the world: its inertia never moves
        part = self.parts[body]
        part.add(link, frame, self.link_inertias.get(link))
        if not part.is_finite:
            raise self.document.links[link].error(
                f"the inertia of body '{part.link}' overflows",
                "write masses in kg and positions in m",
            )

    def _moving_joints(self, joint: UrdfJoint, placement: Array) -> list[Joint]:
        """One; of a planar joint two sliders and a hinge ``NAME_x``, ``NAME_y``, ``NAME_theta``."""
        if joint.type in _FREE:
            return [Joint(joint.name, _FREE[joint.type], placement, np.zeros(3))]
        given = joint.element.find("axis")
        axis = unit(numbers(given, "xyz") if given is not None else (1.0, 0.0, 0.0))
        if axis is None:
            raise joint.error(
                f"a {joint.type} joint cannot have the zero axis",
                'give its direction, such as <axis xyz="0 0 1"/>',
                "axis",
            )
        if joint.type == "planar":
            names = [make_unique(f"{joint.name}_{x}", self._names) for x in ("x", "y", "theta")]
            return _planar(names, placement, axis)
        mimic = None
        if joint.master is not None:
            tag = joint.element.find("mimic")
            mimic = (joint.master, number(tag, "multiplier", 1.0), number(tag, "offset"))
        limits = _limits(joint)
        return [Joint(joint.name, _KINDS[joint.type], placement, axis, *limits, mimic=mimic)]


def _planar(names: Sequence[str], placement: Array, normal: Array) -> list[Joint]:
    """Sliders along the axes that follow the normal's (x and y for z), then the turn about it."""
    along = np.roll(np.eye(3), -1, axis=0)[int(np.argmax(np.abs(normal)))]
    along = along - normal * (normal @ along)
    along /= np.linalg.norm(along)
    axes = (along, np.cross(normal, along), normal)
    kinds, places = (PRISMATIC, PRISMATIC, REVOLUTE), (placement, np.eye(4), np.eye(4))
    return [Joint(*each) for each in zip(names, kinds, places, axes, strict=True)]


def _limits(joint: UrdfJoint) -> tuple[float, float, float, float]:
    """lower, upper, velocity, effort; infinite where the URDF gives none.

    Published files mark "no limit" of passive joints by zeros, so an empty range is no limit.
    """
    limit = joint.element.find("limit")
    if limit is None:
        return -np.inf, np.inf, np.inf, np.inf
    lower, upper = number(limit, "lower"), number(limit, "upper")
    if joint.type == "continuous" or lower == upper:
        lower, upper = -np.inf, np.inf
    if lower > upper:
        raise joint.error(
            f"the lower limit {lower:g} is above the upper limit {upper:g}",
            "swap them; a limit that is not written counts as 0",
            "limit",
        )
    largest = {key: number(limit, key) for key in ("velocity", "effort")}
    for key, value in largest.items():
        if value < 0.0:
            problem = f"the {key} limit {value:g} is negative"
            raise joint.error(problem, "write its magnitude, or 0 for none", "limit")
    return lower, upper, largest["velocity"] or np.inf, largest["effort"] or np.inf


def _link_inertia(inertial: Element) -> LinkInertia:
    """Mass, centre of mass in the link frame, inertia about it in link axes."""
    given = inertial.find("mass")
    assert given is not None  # checked before
    mass = number(given, "value")
    if mass < 0.0:
        raise given.error(f"the mass {mass:g} kg is negative", "write a mass of zero or more")
    frame = read_origin(inertial)
    rotation = frame[:3, :3]
    inertia = inertial.find("inertia")
    xx, xy, xz, yy, yz, zz = (number(inertia, key) for key in INERTIA)
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return mass, frame[:3, 3].copy(), rotation @ matrix @ rotation.T
