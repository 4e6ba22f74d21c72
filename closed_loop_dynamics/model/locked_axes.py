"""The constrained axes of a cut joint that is known by its name.

All axes are 6-vectors [angular; linear] in the cut frame. A named joint takes one direction:

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

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..se3 import unit
from .submechanism import ConstraintAxis

# name -> (locked rotations, locked translations); "across" means the two directions
# perpendicular to the axis
LOCKED: dict[str, tuple[str, str]] = {
    "revolute": ("across", "all"),
    "prismatic": ("all", "across"),
    "cylindrical": ("across", "across"),
    "universal": ("along", "all"),
    "spherical": ("none", "all"),
    "planar": ("across", "along"),
    "fixed": ("all", "all"),
}


def axes_of(name: str, direction: Array) -> tuple[ConstraintAxis, ...]:
    """What a joint of this name locks; ``direction`` (3,) is its unit axis."""
    rotations, translations = (_directions(kind, direction) for kind in LOCKED[name])
    return (
        *(_labelled(f"{name} T{i}", np.zeros(3), v) for i, v in enumerate(translations)),
        *(_labelled(f"{name} R{i}", w, np.zeros(3)) for i, w in enumerate(rotations)),
    )


def turn_to_universal(frames: Sequence[Array], axes: Sequence[Array]) -> Array:
    """Turn cut frames (4, 4) so that ``axes`` of theirs (3,) are those of a universal joint.

    Returns what ``axes_of("universal", ...)`` wants. The rotation about z is locked: x of the
    first frame stays normal to y of the second.
    """
    for k, (frame, axis) in enumerate(zip(frames, axes, strict=True)):
        across = unit(np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))]))
        assert across is not None  # the axis is never parallel to that one
        columns = [axis, across, np.cross(axis, across)]
        frame[:3, :3] = frame[:3, :3] @ np.column_stack(columns[-k:] + columns[:-k])
    return np.array([0.0, 0.0, 1.0])


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
    return ConstraintAxis(name, six_numbers(np.concatenate([angular, linear])))


def six_numbers(vector: Array) -> tuple[float, float, float, float, float, float]:
    """An axis as plain numbers."""
    wx, wy, wz, vx, vy, vz = (float(x) + 0.0 for x in vector)  # + 0.0 turns -0.0 into 0.0
    return wx, wy, wz, vx, vy, vz
