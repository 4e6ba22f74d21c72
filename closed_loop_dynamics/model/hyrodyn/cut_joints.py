"""The constrained axes of a cut joint: written out one by one, or by the joint's name.

All axes are 6-vectors [angular; linear] in the cut frame. A named joint takes one direction,
``axis`` (default z of the cut frame):

========== ============================== ==========================================
name       ``axis`` is                    what is locked
========== ============================== ==========================================
revolute   the axis it turns about        3 translations, 2 rotations across it
prismatic  the direction it slides in     3 rotations, 2 translations across it
cylindrical the axis of both motions      2 rotations and 2 translations across it
universal  normal of its two axes         3 translations, the rotation about it
spherical  (none)                         3 translations
planar     normal of the plane            2 rotations across it, translation along it
fixed      (none)                         all six
========== ============================== ==========================================
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...se3 import unit
from ..submechanism import ConstraintAxis
from .node import Node

# name -> (locked rotations, locked translations); "across" means the two directions
# perpendicular to the axis
_LOCKED: dict[str, tuple[str, str]] = {
    "revolute": ("across", "all"),
    "prismatic": ("all", "across"),
    "cylindrical": ("across", "across"),
    "universal": ("along", "all"),
    "spherical": ("none", "all"),
    "planar": ("across", "along"),
    "fixed": ("all", "all"),
}

# Two unit axes closer than this to linear dependence are one axis written twice.
_DEPENDENT = 1e-6


def named_axes(loop: Node) -> tuple[ConstraintAxis, ...]:
    """Axes of the joint that ``cut:`` of a loop names."""
    name: str = loop["cut"].value
    direction = unit(loop.value_of("axis", [0.0, 0.0, 1.0]))
    if direction is None:
        raise loop["axis"].error(
            "the axis is the zero vector", "give a direction such as [0, 0, 1]"
        )
    rotations, translations = (_directions(kind, direction) for kind in _LOCKED[name])
    return (
        *(_labelled(f"{name} T{i}", np.zeros(3), v) for i, v in enumerate(translations)),
        *(_labelled(f"{name} R{i}", w, np.zeros(3)) for i, w in enumerate(rotations)),
    )


def listed_axes(node: Node) -> tuple[ConstraintAxis, ...]:
    """Axes of ``constraint_axes:``."""
    items = list(node)
    axes = tuple(_read_axis(item, i) for i, item in enumerate(items))
    _check_independent(axes, items)
    return axes


def _read_axis(node: Node, index: int) -> ConstraintAxis:
    axis = np.array(node["axis"].value)
    if np.any(axis[:3]) and np.any(axis[3:]):
        raise node["axis"].error(
            "the axis mixes rotation (first three numbers) and translation (last three)",
            "split it into two axes, one with zeros last and one with zeros first",
        )
    direction = unit(axis)
    if direction is None:
        raise node["axis"].error(
            "the axis is the zero vector", "give a direction: axis: [0, 0, 0, 1, 0, 0]"
        )
    baumgarte = node.value_of("baumgarte_stabilization_parameter", None)
    return ConstraintAxis(node.value_of("name", f"axis {index}"), _six(direction), baumgarte)


def _check_independent(axes: tuple[ConstraintAxis, ...], items: list[Node]) -> None:
    basis = np.zeros((0, 6))
    for axis, item in zip(axes, items, strict=True):
        vector = np.array(axis.axis)
        rest = vector - basis.T @ (basis @ vector)
        rest -= basis.T @ (basis @ rest)  # once more: the first pass leaves rounding behind
        if np.linalg.norm(rest) < _DEPENDENT:
            raise item.error(
                f"axis '{axis.name}' repeats a direction that the axes before it lock already",
                "remove it, or correct its direction",
            )
        basis = np.vstack([basis, rest / np.linalg.norm(rest)])


def _directions(kind: str, axis: Array) -> list[Array]:
    if kind == "none":
        return []
    if kind == "all":
        return list(np.eye(3))
    return [axis] if kind == "along" else list(_across(axis))


def _across(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors that form a right-handed frame with ``axis``: z gives (x, y)."""
    helper = np.eye(3)[(int(np.argmax(np.abs(axis))) + 1) % 3]
    first = unit(helper - np.dot(helper, axis) * axis)
    assert first is not None  # helper is never parallel to axis
    return first, np.cross(axis, first)


def _labelled(name: str, angular: Array, linear: Array) -> ConstraintAxis:
    return ConstraintAxis(name, _six(np.concatenate([angular, linear])))


def _six(vector: Array) -> tuple[float, float, float, float, float, float]:
    wx, wy, wz, vx, vy, vz = (float(x) + 0.0 for x in vector)  # + 0.0 turns -0.0 into 0.0
    return wx, wy, wz, vx, vy, vz
