"""URDF origins (xyz, rpy) as 4x4 matrices, and the small vector helpers of the model reader."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array


def rotation_from_rpy(rpy: Sequence[float]) -> Array:
    """(3, 3) rotation of fixed-axis roll, pitch, yaw [rad]: Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def origin_pose(xyz: Sequence[float], rpy: Sequence[float]) -> Array:
    """(4, 4) pose of a URDF ``origin``: position [m] and roll, pitch, yaw [rad]."""
    result = np.eye(4)
    result[:3, :3] = rotation_from_rpy(rpy)
    result[:3, 3] = xyz
    return result


def unit(vector: Sequence[float] | Array) -> Array | None:
    """``vector`` scaled to length one, None when it is zero.

    Scaled by its largest entry first, so that no finite input over- or underflows.
    """
    array = np.asarray(vector, dtype=float)
    largest = np.max(np.abs(array))
    if largest == 0.0:
        return None
    scaled = array / largest
    return scaled / np.linalg.norm(scaled)


def inertia_about_origin(mass: float, com: Array, inertia: Array) -> Array:
    """(3, 3) inertia moved from the centre of mass to the origin (parallel axes) [kg·m²]."""
    return inertia + mass * (np.dot(com, com) * np.eye(3) - np.outer(com, com))
