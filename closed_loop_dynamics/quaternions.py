"""Quaternions (x, y, z, w) and rigid motions in NumPy; samples may have leading axes.

A pose is (x, y, z, quaternion x, y, z, w); a twist is [angular; linear] in the body frame.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array
from .errors import InvalidInput

#: Below this angle [rad] series replace quotients of vanishing numbers (exact to rounding there).
SMALL = 1e-2
#: Shortest quaternion that still names an orientation.
SHORTEST = 1e-6


def unit_quaternion(quaternion: Array) -> Array:
    """The quaternion at length one.

    Raises:
        InvalidInput: it has no direction.
    """
    length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    if not np.all(length >= SHORTEST):
        raise InvalidInput("y: the quaternion of the floating base (x, y, z, w) has no length")
    return np.asarray(quaternion / length)


def product(a: Array, b: Array) -> Array:
    """Quaternion product a b."""
    v, s, w, t = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    scalar = s * t - np.sum(v * w, axis=-1, keepdims=True)
    return np.concatenate([s * w + t * v + np.cross(v, w), scalar], axis=-1)


def conjugate(quaternion: Array) -> Array:
    """The opposite rotation of a unit quaternion."""
    return quaternion * np.array([-1.0, -1.0, -1.0, 1.0])


def rotate(quaternion: Array, vector: Array) -> Array:
    """R vector of a unit quaternion."""
    v, s = quaternion[..., :3], quaternion[..., 3:]
    twice = 2.0 * np.cross(v, vector)
    return np.asarray(vector + s * twice + np.cross(v, twice))


def move(pose: Array, twist: Array) -> Array:
    """pose exp(twist): one unit of time at a constant body twist, of any angle."""
    w, v = twist[..., :3], twist[..., 3:]
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    half = 0.5 * angle
    turn = np.concatenate([0.5 * np.sinc(half / np.pi) * w, np.cos(half)], axis=-1)
    # V v = v + (1 - cos t)/t^2 w x v + (t - sin t)/t^3 w x (w x v); 1 - cos t = 2 sin^2(t/2)
    first = 0.5 * np.sinc(half / np.pi) ** 2
    second = _sine_remainder(angle)
    wv = np.cross(w, v)
    moved = v + first * wv + second * np.cross(w, wv)
    quaternion = pose[..., 3:7]
    position = pose[..., :3] + rotate(quaternion, moved)
    return np.concatenate([position, unit_quaternion(product(quaternion, turn))], axis=-1)


def logarithm(quaternion: Array, position: Array) -> Array:
    """Twist of the shortest turn (at most pi) that leads to a pose from the origin."""
    v, s = quaternion[..., :3], quaternion[..., 3:]
    sine = np.linalg.norm(v, axis=-1, keepdims=True)
    half = np.arctan2(sine, np.abs(s))
    # w = 2 half v / sine, by sinc: sine = sin(half)
    w = np.where(s < 0.0, -2.0, 2.0) / np.sinc(half / np.pi) * v
    # V^-1 p = p - w x p / 2 + (1 - half cot(half)) / (2 half)^2 w x (w x p)
    wp = np.cross(w, position)
    linear = position - 0.5 * wp + _cotangent_remainder(half) * np.cross(w, wp)
    return np.concatenate([w, linear], axis=-1)


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
