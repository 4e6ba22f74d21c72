"""Rigid motions in plain NumPy: homogeneous matrices, URDF angles, quaternions and twists.

Matrices serve at load time and wherever microseconds do not count. The functions of quaternions
move a floating base in control loops: a quaternion is (x, y, z, w), a pose (x, y, z, quaternion), a
twist [angular; linear] in the body frame, and samples may have a leading axis.

scipy's Rotation is used where it does the job. Measured per call on one sample (scipy 1.17), it
does not where it only multiplies: a product costs 33 us against 25 us here, a rotation matrix of
roll, pitch, yaw 17 us against 4 us, and its detour through a quaternion rounds the latter anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .arrays import Array
from .errors import InvalidInput

#: Below this angle [rad] series replace quotients of vanishing numbers (exact to rounding there).
SMALL = 1e-2
#: Shortest quaternion that still names an orientation.
SHORTEST = 1e-6
_YZX, _ZXY = [1, 2, 0], [2, 0, 1]


# -- homogeneous matrices --------------------------------------------------------------------------


def pose(rotation: Array, position: Sequence[float] | Array) -> Array:
    """(4, 4) from (3, 3) and (3,)."""
    result = np.eye(4)
    result[:3, :3] = rotation
    result[:3, 3] = position
    return result


def inverse(T: Array) -> Array:
    """Inverse of a rigid pose."""
    R = T[:3, :3]
    return pose(R.T, -R.T @ T[:3, 3])


def axis_rotation(axis: Array, angle: Array | float) -> Array:
    """(3, 3) rotation about a unit axis; (..., 3, 3) for angles (..., 1, 1)."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K))


def rpy_rotation(rpy: Sequence[float]) -> Array:
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
    return pose(rpy_rotation(rpy), xyz)


def rotation_vector(R: Array) -> Array:
    """(3,) axis times angle, at most pi, of a rotation (3, 3); of half a turn one of the two."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    skew = np.array([h - f, c - g, d - b])
    sine, cosine = math.hypot(h - f, c - g, d - b), a + e + i - 1.0  # both twice as large
    if sine > 1e-6:
        return np.asarray(skew * (math.atan2(sine, cosine) / sine))
    if cosine > 0.0:
        return 0.5 * skew
    outer = 0.25 * (R + R.T) + 0.5 * np.eye(3)  # the axis times itself
    k = int(np.argmax(np.diag(outer)))
    axis = outer[:, k] * math.copysign(1.0, outer[:, k] @ skew)
    return np.asarray((math.pi - 0.5 * sine) * axis / np.linalg.norm(axis))


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


# -- quaternions and twists ------------------------------------------------------------------------


def unit_quaternion(quaternion: Array) -> Array:
    """The quaternion at length one.

    Raises:
        InvalidInput: it has no direction.
    """
    length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    if not np.all(length >= SHORTEST):
        raise InvalidInput("y: a quaternion (x, y, z, w) has no length")
    return np.asarray(quaternion / length)


def product(a: Array, b: Array) -> Array:
    """Quaternion product a b, of any length."""
    v, s, w, t = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    scalar = s * t - np.sum(v * w, axis=-1, keepdims=True)
    return np.concatenate([s * w + t * v + cross(v, w), scalar], axis=-1)


def conjugate(quaternion: Array) -> Array:
    """The opposite rotation of a unit quaternion."""
    return quaternion * np.array([-1.0, -1.0, -1.0, 1.0])


def rotate(quaternion: Array, vector: Array) -> Array:
    """R vector of a unit quaternion."""
    v, s = quaternion[..., :3], quaternion[..., 3:]
    twice = 2.0 * cross(v, vector)
    return np.asarray(vector + s * twice + cross(v, twice))


def move(pose: Array, twist: Array) -> Array:
    """pose exp(twist): one unit of time at a constant body twist, of any angle."""
    w, v = twist[..., :3], twist[..., 3:]
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    half = 0.5 * angle
    turn = np.concatenate([0.5 * np.sinc(half / np.pi) * w, np.cos(half)], axis=-1)
    # V v = v + (1 - cos t)/t^2 w x v + (t - sin t)/t^3 w x (w x v); 1 - cos t = 2 sin^2(t/2)
    first = 0.5 * np.sinc(half / np.pi) ** 2
    second = _sine_remainder(angle)
    wv = cross(w, v)
    moved = v + first * wv + second * cross(w, wv)
    quaternion = pose[..., 3:7]
    position = pose[..., :3] + rotate(quaternion, moved)
    return np.concatenate([position, unit_quaternion(product(quaternion, turn))], axis=-1)


def logarithm(quaternion: Array, position: Array) -> Array:
    """Twist of the shortest turn (at most pi) that leads to a pose from the origin."""
    from scipy.spatial.transform import Rotation  # slow to import, and only free bases come here

    w = Rotation.from_quat(quaternion).as_rotvec()
    half = 0.5 * np.linalg.norm(w, axis=-1, keepdims=True)
    # V^-1 p = p - w x p / 2 + (1 - half cot(half)) / (2 half)^2 w x (w x p)
    wp = cross(w, position)
    linear = position - 0.5 * wp + _cotangent_remainder(half) * cross(w, wp)
    return np.concatenate([w, linear], axis=-1)


def cross(a: Array, b: Array) -> Array:
    """a x b; np.cross takes five times as long for one pair."""
    yzx, zxy = a.take(_YZX, -1), a.take(_ZXY, -1)
    return np.asarray(yzx * b.take(_ZXY, -1) - zxy * b.take(_YZX, -1))


def _sine_remainder(t: Array) -> Array:
    """(t - sin t) / t^3."""
    z, safe = t * t, np.where(t < SMALL, 1.0, t)
    series = (1.0 - z / 20.0 * (1.0 - z / 42.0 * (1.0 - z / 72.0))) / 6.0
    return np.where(t < SMALL, series, (safe - np.sin(safe)) / safe**3)


def _cotangent_remainder(half: Array) -> Array:
    """(1 - half cot half) / (2 half)^2, half in [0, pi/2]."""
    z, safe = half * half, np.where(half < SMALL, 1.0, half)
    series = (1.0 + z / 15.0 * (1.0 + z * (2.0 / 21.0))) / 12.0
    return np.where(half < SMALL, series, (1.0 - safe / np.tan(safe)) / (4.0 * safe * safe))
