"""What several mechanisms have in common: platforms, cylinders and push rods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from closed_loop_dynamics.arrays import Array

from .blueprint import CROSS, Blueprint, Limits, X, Y, Z, unit

SIDES = (("left", 1.0), ("right", -1.0))
ORIGIN = np.zeros(3)


def mirrored(point: ArrayLike, side: float, axis: int = 1) -> Array:
    """The point itself, or its mirror image in the plane of symmetry."""
    result = np.array(point, dtype=float)
    result[axis] *= side
    return result


def pin(
    board: Blueprint, link: str, at: ArrayLike, radius: float, length: float, color: str = "steel"
) -> None:
    """The axle of a hinge about y, for the eye."""
    middle, half = np.asarray(at, dtype=float), 0.5 * length * Y
    board.rod(link, middle - half, middle + half, radius, 0.0, color)


def universal_platform(
    board: Blueprint,
    at: ArrayLike,
    joints: tuple[str, str],
    axes: tuple[Array, Array],
    limits: tuple[Limits, Limits],
) -> str:
    """A platform on two crossed hinges that are the independent joints; returns its link."""
    cross = board.revolute(joints[0], "base_link", at, axes[0], limits[0])
    board.ball(cross, at, 0.012, 0.08)
    return board.revolute(joints[1], cross, at, axes[1], limits[1], link="platform")


def free_platform(
    board: Blueprint, at: ArrayLike, travel: float, turn: float, axes: Sequence[Array] = (X, Y, Z)
) -> list[str]:
    """A platform moved by three sliders and three hinges; its six joints, the link `platform`."""
    joints = ["x", "y", "z", "rx", "ry", "rz"]
    parent = "base_link"
    for i, (name, axis) in enumerate(zip(joints, (*axes, *axes), strict=True)):
        link = "platform" if name == "rz" else ""
        if i < 3:
            parent = board.prismatic(name, parent, at, axis, (-travel, travel), link=link)
        else:
            parent = board.revolute(name, parent, at, axis, (-turn, turn), link=link)
    return joints


def cylinder(
    board: Blueprint,
    name: str,
    foot: ArrayLike,
    head: ArrayLike,
    stroke: Limits,
    *,
    hinge: Array | None = None,
    radius: float = 0.012,
    parent: str = "base_link",
) -> list[str]:
    """A linear actuator from ``parent`` to ``head``: its joints, the driven one last.

    It hangs on a universal joint ``<name>_u_1``, ``<name>_u_2``, or on one hinge ``<name>_tilt``
    about ``hinge``. The frame of the rod, link ``<name>_rod``, is at its head.
    """
    a, b = np.asarray(foot, dtype=float), np.asarray(head, dtype=float)
    if hinge is None:
        barrel = board.universal(f"{name}_u", parent, a, (X, Y))
        passive = [f"{name}_u_1", f"{name}_u_2"]
    else:
        barrel = board.revolute(f"{name}_tilt", parent, a, hinge)
        passive = [f"{name}_tilt"]
    rod = board.prismatic(name, barrel, b, unit(b - a), stroke, link=f"{name}_rod", effort=2000.0)
    board.rod(barrel, a, a + 0.6 * (b - a), radius, 0.4, "drive")
    board.rod(rod, a + 0.45 * (b - a), b, 0.5 * radius, 0.15, "steel")
    return [*passive, name]


def push_rod(
    board: Blueprint, name: str, parent: str, start: ArrayLike, end: ArrayLike, mass: float = 0.1
) -> list[str]:
    """A rod on a universal joint ``<name>_u`` of ``parent``; its joints.

    The frame at its far end is the link ``<name>_end_tip`` of the fixed joint ``<name>_end``.
    """
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    first = unit(np.cross(b - a, X if abs(unit(b - a)[0]) < 0.7 else Y))
    rod = board.universal(f"{name}_u", parent, a, (first, np.cross(unit(b - a), first)))
    board.rod(rod, a, b, 0.006, mass, "steel")
    board.ball(rod, b, CROSS[1], CROSS[0])
    board.frame(f"{name}_end", rod, b)
    return [f"{name}_u_1", f"{name}_u_2"]
