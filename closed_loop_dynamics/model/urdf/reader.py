"""URDF -> :class:`Tree`: the first step of every robot.

Parsed by urdfdom-py, after the safety and plausibility checks of ``urdf_xml``; fixed joints are
lumped here, so that every later layer sees moving bodies only. Non-physical inertias pass: what
they mean for the robot is for the linter to say.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from lxml import etree  # type: ignore[import-untyped]
from urdf_parser_py.urdf import URDF

from ...arrays import Array
from ...errors import InvalidInput, UrdfError
from ..tree import FLOATING, PRISMATIC, REVOLUTE, Body, Joint, Tree
from .checks import UrdfJoint, check_joint_types, check_mimics, find_root
from .linear_transmission import read_linear_transmissions
from .origins import inertia_about_origin, origin_pose, unit
from .xml import RobotXml, read_robot_xml

__all__ = ["FLOATING_BASE", "read_linear_transmissions", "read_urdf"]

FLOATING_BASE = "floating_base"
_KINDS = {
    "revolute": REVOLUTE,
    "continuous": REVOLUTE,
    "prismatic": PRISMATIC,
    "floating": FLOATING,
}
LinkInertia = tuple[float, Array, Array]


def read_urdf(source: str | os.PathLike[str], *, floating_base: bool = False) -> Tree:
    """Read a URDF into a spanning tree.

    Args:
        source: path, or the XML text itself (recognised by its leading ``<``).
        floating_base: let the root link move freely: body 0, joint ``"floating_base"``.

    Raises:
        UrdfError: names the file, the element with its line, and what to do.
    """
    xml = read_robot_xml(source)
    check_joint_types(xml)
    robot = _parse_with_urdfdom(xml)
    root = find_root(robot.joints, xml)
    check_mimics(robot.joints, xml)
    if not isinstance(floating_base, (bool, np.bool_)):
        raise InvalidInput(f"floating_base is {floating_base!r}; give True or False")
    if floating_base:
        _check_floating_base(robot.joints, root, xml)
    # Absurd but finite numbers may overflow when multiplied; the result is checked instead.
    with np.errstate(all="ignore"):
        builder = _TreeBuilder(robot, xml, root)
        builder.build(floating_base)
    return Tree(
        name=robot.name,
        root_link=root,
        bodies=tuple(part.freeze() for part in builder.parts),
        frames=builder.frames,
        fixed_joint_children={j.name: j.child for j in robot.joints if j.type == "fixed"},
        source=xml.file,
        link_inertias=builder.link_inertias,
    )


def _parse_with_urdfdom(xml: RobotXml) -> Any:
    for limit in xml.root.iter("limit"):
        for key in ("effort", "velocity"):  # urdfdom-py insists on both; 0 means "none" to us
            limit.set(key, limit.get(key, "0"))
    try:
        return URDF.from_xml_string(etree.tostring(xml.root))
    except Exception as problem:  # urdfdom-py raises bare Exception, AssertionError and more
        raise UrdfError(
            f"urdfdom-py cannot parse it ({problem})",
            file=xml.file,
            place="robot",
            remedy="correct the named element",
        ) from None


def _check_floating_base(joints: list[UrdfJoint], root: str, xml: RobotXml) -> None:
    if FLOATING_BASE in xml.joints:
        raise xml.joint_error(
            FLOATING_BASE,
            f"floating_base=True adds a joint '{FLOATING_BASE}', but the URDF has one",
            "rename the joint of the URDF or load it with floating_base=False",
        )
    for joint in joints:
        if joint.type == "floating":
            raise xml.joint_error(
                joint.name,
                "floating_base=True, but the URDF has a floating joint already",
                f"load it with floating_base=False, or make it a fixed joint below '{root}'",
            )


@dataclass
class _Part:
    """A body that is still collecting the links fixed to it."""

    link: str
    parent: int
    joint: Joint
    mass: float = 0.0
    first_moment: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    links: list[str] = field(default_factory=list)

    def add(self, link: str, frame: Array, link_inertia: LinkInertia | None) -> None:
        self.links.append(link)
        if link_inertia is None:
            return
        mass, com, inertia = link_inertia
        rotation = frame[:3, :3]
        com = rotation @ com + frame[:3, 3]
        self.mass += mass
        self.first_moment += mass * com
        self.inertia += inertia_about_origin(mass, com, rotation @ inertia @ rotation.T)

    def freeze(self) -> Body:
        return Body(
            self.link,
            self.parent,
            self.joint,
            self.mass,
            self.first_moment,
            self.inertia,
            tuple(self.links),
        )


class _TreeBuilder:
    """Walks the links depth first, in the order in which the URDF lists the joints."""

    def __init__(self, robot: Any, xml: RobotXml, root: str) -> None:
        self.xml = xml
        self.root = root
        self.parts: list[_Part] = []
        self.frames: dict[str, tuple[int, Array]] = {}
        self.link_inertias: dict[str, LinkInertia] = {
            link.name: _link_inertia(link, xml) for link in robot.links if link.inertial is not None
        }
        self.children: dict[str, list[UrdfJoint]] = {}
        for joint in robot.joints:
            self.children.setdefault(joint.parent, []).append(joint)

    def build(self, floating_base: bool) -> None:
        body = -1
        if floating_base:
            body = self._add_part(self.root, -1, _floating_joint(FLOATING_BASE, np.eye(4)))
        self._place(self.root, body, np.eye(4))
        # An explicit stack: a chain may be longer than Python's recursion limit.
        stack = self._joints_below(self.root)
        while stack:
            joint = stack.pop()
            carrier, frame = self.frames[joint.parent]
            frame = frame @ _origin(joint.origin)
            if not np.all(np.isfinite(frame)):
                raise self.xml.joint_error(
                    joint.name,
                    "its position relative to the parent body overflows",
                    "write positions in metres",
                    "origin",
                )
            if joint.type == "fixed":
                self._place(joint.child, carrier, frame)
            else:
                body = self._add_part(joint.child, carrier, self._moving_joint(joint, frame))
                self._place(joint.child, body, np.eye(4))
            stack.extend(self._joints_below(joint.child))

    def _joints_below(self, link: str) -> list[UrdfJoint]:
        return self.children.get(link, [])[::-1]

    def _add_part(self, link: str, parent: int, joint: Joint) -> int:
        self.parts.append(_Part(link, parent, joint))
        return len(self.parts) - 1

    def _place(self, link: str, body: int, frame: Array) -> None:
        self.frames[link] = (body, frame)
        if body < 0:
            return  # fixed to the world: its inertia never moves
        part = self.parts[body]
        part.add(link, frame, self.link_inertias.get(link))
        if not (
            np.isfinite(part.mass)
            and np.all(np.isfinite(part.first_moment))
            and np.all(np.isfinite(part.inertia))
        ):
            raise self.xml.error(
                self.xml.links[link],
                f"the inertia of body '{part.link}' overflows",
                "write masses in kg and positions in m",
            )

    def _moving_joint(self, joint: UrdfJoint, placement: Array) -> Joint:
        if joint.type == "floating":
            if self.frames[joint.parent][0] != -1:
                raise self.xml.joint_error(
                    joint.name,
                    "a floating joint must hang on the fixed root",
                    f"make '{self.root}' its parent, or use revolute and prismatic joints",
                )
            return _floating_joint(joint.name, placement)
        axis = unit(joint.axis if joint.axis is not None else (1.0, 0.0, 0.0))
        if axis is None:
            raise self.xml.joint_error(
                joint.name,
                f"a {joint.type} joint cannot have the zero axis",
                'give its direction, such as <axis xyz="0 0 1"/>',
                "axis",
            )
        mimic = None
        if joint.mimic is not None:
            ratio, offset = joint.mimic.multiplier, joint.mimic.offset
            mimic = (joint.mimic.joint, 1.0 if ratio is None else ratio, offset or 0.0)
        limits = _limits(joint, self.xml)
        return Joint(joint.name, _KINDS[joint.type], placement, axis, *limits, mimic=mimic)


def _floating_joint(name: str, placement: Array) -> Joint:
    return Joint(name, FLOATING, placement, np.zeros(3))


def _origin(origin: Any) -> Array:
    if origin is None:
        return np.eye(4)
    return origin_pose(origin.xyz or (0.0, 0.0, 0.0), origin.rpy or (0.0, 0.0, 0.0))


def _limits(joint: UrdfJoint, xml: RobotXml) -> tuple[float, float, float, float]:
    """lower, upper, velocity, effort; infinite where the URDF gives none.

    Published files mark "no limit" of passive joints by zeros, so an empty range is no limit.
    """
    limit = joint.limit
    if limit is None:
        return -np.inf, np.inf, np.inf, np.inf
    lower, upper = limit.lower, limit.upper
    if joint.type == "continuous" or lower == upper:
        lower, upper = -np.inf, np.inf
    if lower > upper:
        raise xml.joint_error(
            joint.name,
            f"the lower limit {lower:g} is above the upper limit {upper:g}",
            "swap them; a limit that is not written counts as 0",
            "limit",
        )
    for key in ("velocity", "effort"):
        if getattr(limit, key) < 0.0:
            raise xml.joint_error(
                joint.name,
                f"the {key} limit {getattr(limit, key):g} is negative",
                "write its magnitude, or 0 for none",
                "limit",
            )
    return lower, upper, limit.velocity or np.inf, limit.effort or np.inf


def _link_inertia(link: Any, xml: RobotXml) -> LinkInertia:
    """Mass, centre of mass in the link frame, inertia about it in link axes."""
    mass = link.inertial.mass
    if mass < 0.0:
        raise xml.error(
            xml.links[link.name].find("inertial/mass"),
            f"the mass {mass:g} kg is negative",
            "write a mass of zero or more",
        )
    frame = _origin(link.inertial.origin)
    rotation = frame[:3, :3]
    inertia = link.inertial.inertia
    matrix = np.zeros((3, 3)) if inertia is None else np.array(inertia.to_matrix(), dtype=float)
    return float(mass), frame[:3, 3].copy(), rotation @ matrix @ rotation.T
