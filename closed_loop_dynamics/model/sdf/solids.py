"""``<inertial auto="true">``: mass and inertia of a link from its ``<collision>`` shapes.

The density is the shape's, else the ``<inertial>``'s, else 1000 kg/m^3; a ``<mass>`` beside it
scales the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...arrays import Array
from ..parts import LinkInertia
from ..text_source import clip
from ..xml_source import Element
from .values import number_of, numbers, read_pose

#: Volume, mean squares (x^2, y^2, z^2) about the centre of mass, and where that is along z.
Solid = tuple[float, tuple[float, float, float], float]


def _ellipsoid(a: float, b: float, c: float) -> Solid:
    return 4 / 3 * math.pi * a * b * c, (a * a / 5, b * b / 5, c * c / 5), 0.0


def _box(a: float, b: float, c: float) -> Solid:
    return a * b * c, (a * a / 12, b * b / 12, c * c / 12), 0.0


def _cylinder(r: float, length: float) -> Solid:
    return math.pi * r * r * length, (r * r / 4, r * r / 4, length**2 / 12), 0.0


def _cone(r: float, length: float) -> Solid:
    x = 3 * r * r / 20
    return math.pi * r * r * length / 3, (x, x, 3 * length**2 / 80), -length / 4


def _capsule(r: float, length: float) -> Solid:
    shaft, (x, _, z), _ = _cylinder(r, length)
    ball = 4 / 3 * math.pi * r**3
    of_ball = length**2 / 4 + 3 * length * r / 8 + r * r / 5  # two halves, length apart
    mean = [(shaft * a + ball * b) / (shaft + ball) for a, b in ((x, r * r / 5), (z, of_ball))]
    return shaft + ball, (mean[0], mean[0], mean[1]), 0.0


_SOLIDS: dict[str, tuple[Callable[..., Solid], dict[str, int]]] = {
    "box": (_box, {"size": 3}),
    "sphere": (lambda r: _ellipsoid(r, r, r), {"radius": 1}),
    "ellipsoid": (_ellipsoid, {"radii": 3}),
    "cylinder": (_cylinder, {"radius": 1, "length": 1}),
    "cone": (_cone, {"radius": 1, "length": 1}),
    "capsule": (_capsule, {"radius": 1, "length": 1}),
}


def solid_inertia(link: Element, inertial: Element) -> LinkInertia:
    """Of all shapes of a link together.

    Raises:
        UrdfError: names the link and the shape that has no volume here, such as a mesh.
    """
    usual = number_of(inertial, "density", 1000.0)
    parts = [_part(collision, usual) for collision in link.all("collision")]
    mass = sum(m for m, _, _ in parts)
    if not 0.0 < mass < math.inf:
        raise inertial.error(
            "auto, but the link's <collision> shapes have no mass", "write mass and inertia"
        )
    com = np.asarray(sum(m * at for m, at, _ in parts) / mass)
    second = sum(m * (spread + np.outer(at - com, at - com)) for m, at, spread in parts)
    total = number_of(inertial, "mass", mass)
    second = np.asarray(second) * (total / mass)
    return total, com, np.trace(second) * np.eye(3) - second


def _part(collision: Element, usual: float) -> tuple[float, Array, Array]:
    """Mass, centre of mass, and mean of r r^T about it, in the link's frame."""
    geometry = collision.find("geometry")
    shape = geometry.children[0] if geometry is not None and geometry.children else collision
    if shape.tag not in _SOLIDS:
        raise shape.error(
            f"the inertia of a link (auto) from <{clip(shape.tag, 40)}>",
            f"write mass and inertia, or use {', '.join(_SOLIDS)}",
        )
    solid, words = _SOLIDS[shape.tag]
    sizes = [x for tag, n in words.items() for each in shape.all(tag)[:1] for x in numbers(each, n)]
    if len(sizes) != sum(words.values()) or not all(1e-9 < size < 1e9 for size in sizes):
        raise shape.error("sizes that no body has", f"write {', '.join(words)} in metres")
    volume, mean, z = solid(*sizes)
    where, relative_to = read_pose(collision)
    density = number_of(collision, "density", usual)
    if relative_to or not 0.0 <= density < 1e30:
        raise collision.error(
            "for an inertia (auto): its pose relative to another frame, or its density",
            "write the pose in the link's frame, and a density of 0 kg/m^3 or more",
        )
    R = where[:3, :3]
    return density * volume, where[:3, 3] + z * R[:, 2], R @ np.diag(mean) @ R.T
