"""A cut joint as points that coincide: what Pinocchio and MuJoCo know."""

from __future__ import annotations

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.closure.cut_joint import CutJoint, resolve
from closed_loop_dynamics.mechanism import Mechanism

#: Distance of the two points that hold a hinge [m].
APART = 0.1


def resolved_cuts(mech: Mechanism) -> list[CutJoint]:
    """All cuts of a robot."""
    return [
        resolve(mech.tree, component.entry, loop)
        for component in mech.components
        for loop in component.loops
    ]


def closing_frames(cut: CutJoint) -> list[tuple[Array, Array]] | None:
    """(4, 4) frames on predecessor and successor whose origins must coincide; None: no such points.

    No locked rotation: one point. Two of them: two points of the hinge's axis. A loop in a plane or
    on a sphere locks less than a point or a hinge; there the missing directions close themselves.
    """
    along = [np.zeros(3)]
    if cut.rotations:
        if len(cut.rotations) != 2:
            return None
        axis = np.cross(*cut.rotations)
        along.append(APART * axis / np.linalg.norm(axis))
    return [(_moved(cut.frame_p, d), _moved(cut.frame_s, d)) for d in along]


def _moved(frame: Array, along: Array) -> Array:
    moved = frame.copy()
    moved[:3, 3] += frame[:3, :3] @ along
    return moved
