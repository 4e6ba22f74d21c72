"""The coordinates y: moving on their manifold, the reference, and random ones.

The manifold is SE(3) for a floating base and flat elsewhere. A pose is (x, y, z, quaternion x, y,
z, w); a twist is [angular; linear] in the body frame. Samples may have leading axes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..arrays import Array, Vec, as_count, as_finite_vectors, as_rows
from ..closure.branch import Branch
from ..errors import InvalidInput
from ..mechanism import Mechanism
from ..model.tree import FLOATING, PRISMATIC
from ..se3 import SHORTEST, conjugate, logarithm, move, product, rotate, unit_quaternion


def integrate(mech: Mechanism, y: Vec, dy: Vec) -> Array:
    """See :meth:`Robot.integrate`."""
    y, dy = _pair(as_finite_vectors(y, "y", mech.n_y), as_finite_vectors(dy, "dy", mech.m))
    if not mech.floating:
        return y + dy
    pose = np.concatenate([y[..., :3], unit_quaternion(y[..., 3:7])], axis=-1)
    return np.concatenate([move(pose, dy[..., :6]), y[..., 7:] + dy[..., 6:]], axis=-1)


def difference(mech: Mechanism, y0: Vec, y1: Vec) -> Array:
    """See :meth:`Robot.difference`."""
    y0, y1 = _pair(as_finite_vectors(y0, "y0", mech.n_y), as_finite_vectors(y1, "y1", mech.n_y))
    if not mech.floating:
        return y1 - y0
    start, end = unit_quaternion(y0[..., 3:7]), unit_quaternion(y1[..., 3:7])
    back = conjugate(start)
    turned = product(back, end)
    moved = rotate(back, y1[..., :3] - y0[..., :3])
    return np.concatenate([logarithm(turned, moved), y1[..., 7:] - y0[..., 7:]], axis=-1)


def position_rate(mech: Mechanism, y: Array, yd: Array) -> Array:
    """dy/dt (n_y,) of velocities yd (m,); ``dynamics/motion.py`` traces the same."""
    if not mech.floating:
        return yd
    quaternion, omega = y[3:7], yd[:3]
    turning = 0.5 * product(quaternion, np.append(omega, 0.0))
    moving = rotate(quaternion / np.linalg.norm(quaternion), yd[3:6])
    return np.concatenate([moving, turning, yd[6:]])


def tangent(mech: Mechanism, y: Array) -> Array:
    """(m, n_y) body twists of changes of y: of a floating base those of its quaternion too."""
    if not mech.floating:
        return np.eye(mech.m)
    result = np.zeros((mech.m, mech.n_y))
    back = conjugate(y[3:7])
    squared = float(y[3:7] @ y[3:7])
    result[3:6, :3] = rotate(back / np.sqrt(squared), np.eye(3)).T
    # dQ = Q (omega, 0) / 2; changes of length, along Q itself, turn nothing.
    result[:3, 3:7] = 2.0 / squared * np.array([product(back, e)[:3] for e in np.eye(4)]).T
    result[6:, 7:] = np.eye(mech.m - 6)
    return result


def tangent_rates(mech: Mechanism, y: Array) -> Array:
    """(n_y, m, n_y) changes of :func:`tangent` with each number of y."""
    result = np.zeros((mech.n_y, mech.m, mech.n_y))
    if not mech.floating:
        return result
    T, squared = tangent(mech, y), float(y[3:7] @ y[3:7])
    for k, e in enumerate(np.eye(4)):
        omega = T[:3, 3 + k]
        result[3 + k, 3:6, :3] = -np.cross(omega, T[3:6, :3], axisb=0, axisc=0)
        turned = np.array([product(conjugate(e), other)[:3] for other in np.eye(4)]).T
        result[3 + k, :3, 3:7] = 2.0 / squared * (turned - y[3 + k] * T[:3, 3:7])
    return result


def normalised(mech: Mechanism, y: Array) -> Array:
    """y with the quaternion brought back to length one."""
    if not mech.floating:
        return y
    length = np.linalg.norm(y[3:7])
    if not length >= SHORTEST:
        return y  # for the program's own check to refuse
    return np.concatenate([y[:3], y[3:7] / length, y[7:]])


def _pair(a: Array, b: Array) -> tuple[Array, Array]:
    """Both with the same leading axes."""
    rows = as_rows("positions", (a, b))
    return (a, b) if rows is None else (rows[0], rows[1])


def reference_independent(mech: Mechanism, branches: Mapping[int, Branch]) -> Array:
    """y of the reference configuration of all loops; other joints at zero."""
    y = mech.neutral_y()
    for c, branch in branches.items():
        y[mech.y.slots(mech.components[c].independent)] = branch.reference.p
    return y


def random_independent(
    mech: Mechanism, branches: Mapping[int, Branch], rng: np.random.Generator, count: int | None
) -> Array:
    """Uniform in the reachable boxes; see :meth:`Robot.random_independent`."""
    if not isinstance(rng, (np.random.Generator, np.random.RandomState)):
        raise InvalidInput(f"rng is {rng!r}; give a generator such as np.random.default_rng(0)")
    shape = () if count is None else (as_count(count, "count", 0),)
    y = np.zeros((*shape, mech.n_y))
    boxes: dict[int, tuple[float, float]] = {}
    for c, branch in branches.items():
        sides = zip(*branch.reachable_box(), strict=True)
        boxes.update(zip(mech.components[c].independent, sides, strict=True))
    for b in mech.independent:
        joint, at = mech.tree.bodies[b].joint, mech.y.at[b]
        if joint.kind == FLOATING:
            y[..., at : at + 3] = rng.uniform(-1.0, 1.0, (*shape, 3))
            turn = rng.normal(size=(*shape, 4))
            y[..., at + 3 : at + 7] = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
            continue
        reach = np.pi if joint.kind != PRISMATIC else 0.5
        low = joint.lower if np.isfinite(joint.lower) else -reach
        high = joint.upper if np.isfinite(joint.upper) else reach
        low, high = boxes.get(b, (low, high))
        y[..., at] = rng.uniform(low, high, shape)
    return y
