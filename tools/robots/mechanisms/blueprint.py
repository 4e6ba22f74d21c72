"""Draw a mechanism in world coordinates at q = 0 and write it as a URDF.

Every link frame sits at its joint and is parallel to the world at q = 0, so origins are differences
of points, axes are world axes, and a loop whose points coincide on paper is closed by construction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from closed_loop_dynamics.arrays import Array

from .. import _urdf as xml

Limits = tuple[float, float]
X, Y, Z = np.eye(3)

#: Limits of passive joints: far from what any of the examples needs.
FREE: Limits = (-2.5, 2.5)
#: Mass [kg] and radius [m] of the cross of a universal joint.
CROSS = (0.03, 0.008)


@dataclass(frozen=True, eq=False)
class Solid:
    """A uniform body for the eye and for the inertia; axes ``rpy``, all in the link frame."""

    shape: str
    mass: float
    com: Array
    rpy: tuple[float, float, float]
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
        effort: float = 0.0,
        velocity: float = 20.0,
        mimic: tuple[str, float] | None = None,
    ) -> str:
        """A hinge through the world point ``at`` about the world direction ``axis``."""
        drive = (effort, velocity)
        return self._move(name, "revolute", parent, at, axis, limits, drive, link, mimic)

    def prismatic(
        self,
        name: str,
        parent: str,
        at: ArrayLike,
        axis: ArrayLike,
        limits: Limits,
        *,
        link: str = "",
        effort: float = 0.0,
        velocity: float = 1.0,
    ) -> str:
        """A slider along ``axis``; the frame of its link is at ``at``."""
        drive = (effort, velocity)
        return self._move(name, "prismatic", parent, at, axis, limits, drive, link, None)

    def universal(
        self, name: str, parent: str, at: ArrayLike, axes: tuple[ArrayLike, ArrayLike]
    ) -> str:
        """Two passive hinges ``<name>_1`` and ``<name>_2`` with a small cross between them."""
        cross = self.revolute(f"{name}_1", parent, at, axes[0])
        self.ball(cross, at, CROSS[1], CROSS[0])
        return self.revolute(f"{name}_2", cross, at, axes[1])

    def frame(
        self, name: str, parent: str, at: ArrayLike, rotation: ArrayLike | None = None
    ) -> str:
        """A massless frame fixed to ``parent`` by joint ``<name>``; its link is ``<name>_tip``."""
        child = f"{name}_tip"
        self._links[child] = _Link(
            _vector(at), np.eye(3) if rotation is None else _matrix(rotation)
        )
        self._joints.append(self._joint(name, "fixed", parent, child, ""))
        return child

    def _move(
        self,
        name: str,
        kind: str,
        parent: str,
        at: ArrayLike,
        axis: ArrayLike,
        limits: Limits,
        drive: tuple[float, float],
        link: str,
        mimic: tuple[str, float] | None,
    ) -> str:
        child = link or f"{name}_link"
        self._links[child] = _Link(_vector(at), np.eye(3))
        rest = (
            f'    <axis xyz="{_numbers(unit(axis))}"/>\n'
            f'    <limit lower="{_number(limits[0])}" upper="{_number(limits[1])}" '
            f'effort="{_number(drive[0])}" velocity="{_number(drive[1])}"/>\n'
        )
        if mimic is not None:
            rest += f'    <mimic joint="{mimic[0]}" multiplier="{_number(mimic[1])}"/>\n'
        self._joints.append(self._joint(name, kind, parent, child, rest))
        return child

    def _joint(self, name: str, kind: str, parent: str, child: str, rest: str) -> str:
        first, second = self._links[parent], self._links[child]
        xyz = first.rotation.T @ (second.at - first.at)
        rpy = rpy_of(first.rotation.T @ second.rotation)
        return (
            f'  <joint name="{name}" type="{kind}">\n'
            f'    <parent link="{parent}"/>\n'
            f'    <child link="{child}"/>\n'
            f'    <origin xyz="{_numbers(xyz)}" rpy="{_numbers(rpy)}"/>\n'
            f"{rest}  </joint>\n"
        )

    # -- solids ---------------------------------------------------------------------------------

    def rod(
        self,
        link: str,
        start: ArrayLike,
        end: ArrayLike,
        radius: float,
        mass: float,
        color: str = "light",
    ) -> None:
        """A cylinder between two world points."""
        a, b = _vector(start), _vector(end)
        length = float(np.linalg.norm(b - a))
        d = (b - a) / length
        rpy = (0.0, math.atan2(math.hypot(d[0], d[1]), d[2]), math.atan2(d[1], d[0]))
        across = mass * (3 * radius**2 + length**2) / 12.0
        shape = f'<cylinder radius="{_number(radius)}" length="{_number(length)}"/>'
        moments = np.array([across, across, 0.5 * mass * radius**2])
        self._solid(link, shape, mass, 0.5 * (a + b), rpy, moments, color)

    def beam(
        self,
        link: str,
        start: ArrayLike,
        end: ArrayLike,
        section: tuple[float, float],
        mass: float,
        color: str = "light",
    ) -> None:
        """A box between two world points of a plane y = const: (width along y, height) across."""
        a, b = _vector(start), _vector(end)
        d = b - a
        length = float(np.linalg.norm(d))
        size = (length, *section)
        rpy = (0.0, -math.atan2(d[2], d[0]), 0.0)
        shape = f'<box size="{_numbers(size)}"/>'
        self._solid(link, shape, mass, 0.5 * (a + b), rpy, _box_moments(mass, size), color)

    def box(
        self,
        link: str,
        at: ArrayLike,
        size: Sequence[float],
        mass: float,
        color: str = "light",
        rpy: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        """A box around the world point ``at``, turned by ``rpy`` out of the world's axes."""
        shape = f'<box size="{_numbers(size)}"/>'
        moments = _box_moments(mass, size)
        self._solid(link, shape, mass, _vector(at), rpy, moments, color)

    def ball(
        self, link: str, at: ArrayLike, radius: float, mass: float, color: str = "steel"
    ) -> None:
        """A ball around the world point ``at``."""
        shape = f'<sphere radius="{_number(radius)}"/>'
        moments = np.full(3, 0.4 * mass * radius**2)
        self._solid(link, shape, mass, _vector(at), (0.0, 0.0, 0.0), moments, color)

    def _solid(
        self,
        link: str,
        shape: str,
        mass: float,
        at: Array,
        rpy: tuple[float, float, float],
        moments: Array,
        color: str,
    ) -> None:
        place = self._links[link]
        place.solids.append(Solid(shape, mass, at - place.at, rpy, moments, color))

    # -- text -----------------------------------------------------------------------------------

    def add_xml(self, text: str) -> None:
        """Something else for the end of the file, such as a transmission."""
        self._extra.append(text)

    def urdf(self) -> str:
        """The URDF document."""
        links = [
            xml.link(name, [_visual(s) for s in place.solids], _inertial(place.solids))
            for name, place in self._links.items()
        ]
        return xml.robot(self.name, [*links, *self._joints, *self._extra])


def unit(vector: ArrayLike) -> Array:
    """``vector`` at length one, without rounding dust."""
    v = _vector(vector)
    v = v / np.linalg.norm(v)
    v = np.where(np.abs(v) < 1e-15, 0.0, v)
    return np.asarray(v / np.linalg.norm(v))


def turned(vector: ArrayLike, degrees: float) -> Array:
    """``vector`` after a turn about z."""
    a = math.radians(degrees)
    c, s = math.cos(a), math.sin(a)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ _vector(vector)


def in_plane(length: float, degrees: float) -> Array:
    """A vector of the x-z plane, at an angle from x towards z."""
    a = math.radians(degrees)
    return np.array([length * math.cos(a), 0.0, length * math.sin(a)])


def _vector(value: ArrayLike) -> Array:
    return np.asarray(value, dtype=float)


_matrix = _vector


def _box_moments(mass: float, size: Sequence[float]) -> Array:
    x, y, z = (edge * edge for edge in size)
    return mass / 12.0 * np.array([y + z, x + z, x + y])


def _inertial(solids: list[Solid]) -> str:
    """One inertia of several solids."""
    if not solids:
        return ""
    mass = sum(s.mass for s in solids)
    com = np.sum([s.mass * s.com for s in solids], axis=0) / mass
    I = np.zeros((3, 3))
    for s in solids:
        R, away = rotation(s.rpy), s.com - com
        I += R @ np.diag(s.moments) @ R.T
        I += s.mass * (float(away @ away) * np.eye(3) - np.outer(away, away))
    entries = " ".join(
        f'i{"xyz"[i]}{"xyz"[j]}="{round(I[i, j], 12) + 0.0:.9g}"'
        for i in range(3)
        for j in range(i, 3)
    )
    return (
        f'    <inertial>\n      <origin xyz="{_numbers(com)}" rpy="0 0 0"/>\n'
        f'      <mass value="{_number(mass)}"/>\n      <inertia {entries}/>\n    </inertial>\n'
    )


def _visual(s: Solid) -> str:
    return (
        f'    <visual>\n      <origin xyz="{_numbers(s.com)}" rpy="{_numbers(s.rpy)}"/>\n'
        f"      <geometry>{s.shape}</geometry>\n"
        f'      <material name="{s.color}"/>\n    </visual>\n'
    )


def rotation(rpy: ArrayLike) -> Array:
    """(3, 3) rotation of roll, pitch, yaw, as URDF means them."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return np.asarray(about_z @ about_y @ about_x)


def rpy_of(R: Array) -> tuple[float, float, float]:
    """Roll, pitch, yaw of a (3, 3) rotation."""
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


def _numbers(values: ArrayLike) -> str:
    return " ".join(_number(float(v)) for v in np.asarray(values).ravel())


def _number(value: float) -> str:
    return f"{round(value, 15) + 0.0:.15g}"
