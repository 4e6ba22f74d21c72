"""A cut joint as points that coincide: what Pinocchio's contacts and MuJoCo's equalities know."""

from __future__ import annotations

import numpy as np

from .files import Array, Cut

#: Distance of the two points that hold a hinge [m].
APART = 0.1


def closing_frames(cut: Cut) -> list[tuple[Array, Array]] | None:
    """(4, 4) frames on predecessor and successor whose origins must coincide; None: no such points.

    No locked rotation: one point. Two of them: two points of the hinge's axis. A loop in a plane or
    on a sphere locks less than a point or a hinge; there the missing directions close themselves.

    Raises:
        ValueError: the cut does not come with both frames.
    """
    ends = cut.predecessor_frame, cut.successor_frame
    if ends[0] is None or ends[1] is None:
        raise ValueError(f"the cut {cut.predecessor} ~ {cut.successor} has no frames of its own")
    along = [np.zeros(3)]
    locked = locked_rotations(cut)
    if len(locked):
        if len(locked) != 2:
            return None
        axis = np.cross(*locked)
        along.append(APART * axis / np.linalg.norm(axis))
    return [(_moved(ends[0], d), _moved(ends[1], d)) for d in along]


def locked_rotations(cut: Cut) -> Array:
    """(k, 3) the axes about which the two sides do not turn."""
    angular = cut.axes[:, :3]
    return np.asarray(angular[np.any(angular != 0.0, axis=1)])


def _moved(frame: Array, along: Array) -> Array:
    moved = frame.copy()
    moved[:3, 3] += frame[:3, :3] @ along
    return moved
