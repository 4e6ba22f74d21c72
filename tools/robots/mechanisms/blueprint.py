"""Draw a robot in world coordinates at q = 0 and write it as a URDF.

Every link frame sits at its joint and, unless told otherwise, is parallel to the world at q = 0, so
origins are differences of points, axes are world axes, and a loop whose points coincide on paper is
closed by construction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from closed_loop_dynamics.arrays import Array

from .. import urdf_elements as xml

Limits = tuple[float, float]
X, Y, Z = np.eye(3)

#: Limits of passive joints: far from what any of the examples needs.
FREE: Limits = (-2.5, 2.5)
#: Mass [kg] and radius [m] of the cross of a universal joint.
CROSS = (0.03, 0.008)
#: The colour of a solid that is weighed and not seen.
UNSEEN = ""


@dataclass(frozen=True, eq=False)
class Drive:
    """How a joint moves: world axis, range, and the most it can do (effort zero: passive)."""

    axis: Array
    limits: Limits
    effort: float
    velocity: float


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint at q = 0, in world coordinates.

    Attributes:
        kind: "revolute", "prismatic" or "fixed".
        at: where the frame of the child is.
        frame: (3, 3) its rotation; None: parallel to the world.
        drive: None where nothing moves.
        mimic: (joint, multiplier) that it follows.
    """

    name: str
    kind: str
    parent: str
    child: str
    at: Array
    frame: Array | None = None
    drive: Drive | None = None
    mimic: tuple[str, float] | None = None


@dataclass(frozen=True, eq=False)
class Solid:
    """A uniform body for the eye (unless :data:`UNSEEN`) and the scales (unless massless).

    Attributes:
        shape: the geometry as URDF text.
        at, rotation: centre and (3, 3) principal axes in the world; z is a cylinder's own axis.
        moments: (3,) of inertia about these axes.
    """

    shape: str
    mass: float
    at: Array
    rotation: Array
    moments: Array
    color: str


@dataclass(eq=False)
class _Link:
    at: Array
    rotation: Array
    solids: list[Solid] = field(default_factory=list)


class Blueprint:
    """A robot under construction; methods that add a link return its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._links: dict[str, _Link] = {"base_link": _Link(np.zeros(3), np.eye(3))}
        self._joints: list[str] = []
        self._extra: list[str] = []

    # -- joints ---------------------------------------------------------------------------------

    def revolute(
        self,
        name: str,
        parent: str,
        at: ArrayLike,
        axis: ArrayLike,
        limits: Limits = FREE,
        *,
        link: str = "",
        frame: ArrayLike | None = None,
        effort: float = 0.0,
        velocity: float = 20.0,
        mimic: tuple[str, float] | None = None,
    ) -> str:
        """A hinge through the world point ``at`` about the world direction ``axis``."""
        links, place = (parent, link or f"{name}_link"), (_vector(at), _rotation(frame))
        drive = Drive(unit(axis), limits, effort, velocity)
        self.add_joint(Joint(name, "revolute", *links, *place, drive, mimic))
        return links[1]

    def prismatic(
        self,
        name: str,
        parent: str,
        at: ArrayLike,
        axis: ArrayLike,
        limits: Limits,
        *,
        link: str = "",
        frame: ArrayLike | None = None,
        effort: float = 0.0,
        velocity: float = 1.0,
    ) -> str:
        """A slider along ``axis``; the frame of its link is at ``at``."""
        links, place = (parent, link or f"{name}_link"), (_vector(at), _rotation(frame))
        drive = Drive(unit(axis), limits, effort, velocity)
        self.add_joint(Joint(name, "prismatic", *links, *place, drive))
        return links[1]

    def universal(
        self, name: str, parent: str, at: ArrayLike, axes: tuple[ArrayLike, ArrayLike]
    ) -> str:
        """Two passive hinges ``<name>_1`` and ``<name>_2`` with a small cross between them."""
        cross = self.revolute(f"{name}_1", parent, at, axes[0])
        self.ball(cross, at, CROSS[1], CROSS[0])
        return self.revolute(f"{name}_2", cross, at, axes[1])

    def frame(
        self, name: str, parent: str, at: ArrayLike, frame: ArrayLike | None = None, link: str = ""
    ) -> str:
        """A massless frame fixed to ``parent`` by joint ``<name>``; its link is ``<name>_tip``."""
        child = link or f"{name}_tip"
        self.add_joint(Joint(name, "fixed", parent, child, _vector(at), _rotation(frame)))
        return child

    def add_joint(self, joint: Joint) -> None:
        """A joint and its child link; what the methods above come down to."""
        R = np.eye(3) if joint.frame is None else joint.frame
        parent = self._links[joint.parent]
        self._links[joint.child] = _Link(joint.at, R)
        rest = ""
        if joint.drive is not None:
            d = joint.drive
            rest += xml.motion(R.T @ d.axis, d.limits, d.effort, d.velocity)
        if joint.mimic is not None:
            rest += xml.mimic(*joint.mimic)
        xyz, turn = parent.rotation.T @ (joint.at - parent.at), parent.rotation.T @ R
        links = (joint.parent, joint.child)
        self._joints.append(xml.joint(joint.name, joint.kind, links, xyz, turn, rest))

    # -- solids ---------------------------------------------------------------------------------

    def rod(
        self,
        link: str,
        start: ArrayLike,
        end: ArrayLike,
        radius: float,
        mass: float = 0.0,
        color: str = "light",
    ) -> None:
        """A cylinder between two world points."""
        a, b = _vector(start), _vector(end)
        length = float(np.linalg.norm(b - a))
        across = mass * (3 * radius**2 + length**2) / 12.0
        shape = f'<cylinder radius="{xml.number(radius)}" length="{xml.number(length)}"/>'
        moments = np.array([across, across, 0.5 * mass * radius**2])
        turn = xml.rotation(_along((b - a) / length))
        self.add_solid(link, Solid(shape, mass, 0.5 * (a + b), turn, moments, color))

    def beam(
        self,
        link: str,
        start: ArrayLike,
        end: ArrayLike,
        section: tuple[float, float],
        mass: float = 0.0,
        color: str = "light",
    ) -> None:
        """A box between two world points of a plane y = const: (width along y, height) across."""
        a, b = _vector(start), _vector(end)
        d = b - a
        size = (float(np.linalg.norm(d)), *section)
        self.box(link, 0.5 * (a + b), size, mass, color, (0.0, -math.atan2(d[2], d[0]), 0.0))

    def box(
        self,
        link: str,
        at: ArrayLike,
        size: Sequence[float],
        mass: float = 0.0,
        color: str = "light",
        rpy: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        """A box around the world point ``at``, turned by ``rpy`` out of the world's axes."""
        x, y, z = (edge * edge for edge in size)
        moments = mass / 12.0 * np.array([y + z, x + z, x + y])
        shape = f'<box size="{xml.numbers(size)}"/>'
        self.add_solid(link, Solid(shape, mass, _vector(at), xml.rotation(rpy), moments, color))

    def ball(
        self, link: str, at: ArrayLike, radius: float, mass: float, color: str = "steel"
    ) -> None:
        """A ball around the world point ``at``."""
        moments = np.full(3, 0.4 * mass * radius**2)
        shape = f'<sphere radius="{xml.number(radius)}"/>'
        self.add_solid(link, Solid(shape, mass, _vector(at), np.eye(3), moments, color))

    def add_solid(self, link: str, solid: Solid) -> None:
        """A solid on a link; what the methods above come down to."""
        self._links[link].solids.append(solid)

    # -- text -----------------------------------------------------------------------------------

    def add_xml(self, text: str) -> None:
        """Something else for the end of the file, such as a transmission."""
        self._extra.append(text)

    def urdf(self) -> str:
        """The URDF document."""
        links = []
        for name, link in self._links.items():
            visuals = [_visual(link, solid) for solid in link.solids if solid.color != UNSEEN]
            links.append(xml.link(name, visuals, _inertial(link)))
        return xml.robot(self.name, [*links, *self._joints, *self._extra])


def unit(vector: ArrayLike) -> Array:
    """``vector`` at length one."""
    v = _vector(vector)
    return np.asarray(v / np.linalg.norm(v))


def turned(vector: ArrayLike, degrees: float) -> Array:
    """``vector`` after a turn about z."""
    return xml.rotation((0.0, 0.0, math.radians(degrees))) @ _vector(vector)


def in_plane(length: float, degrees: float) -> Array:
    """A vector of the x-z plane, at an angle from x towards z."""
    a = math.radians(degrees)
    return np.array([length * math.cos(a), 0.0, length * math.sin(a)])


def _vector(value: ArrayLike) -> Array:
    return np.asarray(value, dtype=float)


def _rotation(frame: ArrayLike | None) -> Array | None:
    return None if frame is None else np.asarray(frame, dtype=float)


def _inertial(link: _Link) -> str:
    """One inertia of all solids."""
    solids = [solid for solid in link.solids if solid.mass > 0.0]
    if not solids:
        return ""
    mass = sum(s.mass for s in solids)
    centre = np.sum([s.mass * s.at for s in solids], axis=0) / mass
    I = np.zeros((3, 3))
    for s in solids:
        R, away = s.rotation, s.at - centre
        I += R @ np.diag(s.moments) @ R.T
        I += s.mass * (float(away @ away) * np.eye(3) - np.outer(away, away))
    R = link.rotation.T
    return xml.inertial(mass, R @ (centre - link.at), R @ I @ R.T)


def _visual(link: _Link, solid: Solid) -> str:
    R = link.rotation.T @ solid.rotation
    # A cylinder may turn about its own axis: what is written shows its direction only.
    rpy = _along(R[:, 2]) if solid.shape.startswith("<cylinder") else xml.rpy_of(R)
    return xml.visual(solid.shape, link.rotation.T @ (solid.at - link.at), rpy, solid.color)


def _along(direction: Array) -> tuple[float, float, float]:
    """Roll, pitch, yaw of a frame whose z axis has this direction."""
    level = math.hypot(direction[0], direction[1])
    yaw = math.atan2(direction[1], direction[0]) if level > 1e-9 else 0.0
    return 0.0, math.atan2(level, direction[2]), yaw
