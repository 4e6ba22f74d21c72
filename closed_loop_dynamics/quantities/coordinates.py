"""The coordinates y: moving on their manifold, the reference, and random ones.

The manifold is SE(3) for a free flyer, SO(3) for a ball joint and flat elsewhere. A pose is (x, y,
z, quaternion x, y, z, w); a twist is [angular; linear] in the body frame. A ball is a free flyer
that stays where it is: it has the last four and the first three of these numbers. Samples may have
leading axes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..arrays import Array, Vec, as_count, as_finite_vectors, as_rows
from ..closure.branch import Branch
from ..errors import InvalidInput
from ..mechanism import Mechanism
from ..model.tree import PRISMATIC
from ..se3 import SHORTEST, conjugate, logarithm, move, product, rotate, unit_quaternion


def integrate(mech: Mechanism, y: Vec, dy: Vec) -> Array:
    """See :meth:`Robot.integrate`."""
    y, dy = _pair(as_finite_vectors(y, "y", mech.n_y), as_finite_vectors(dy, "dy", mech.m))
    if not mech.turning:
        return y + dy
    result = np.empty(y.shape)
    flat_y, flat_yd = mech.flat
    result[..., flat_y] = y[..., flat_y] + dy[..., flat_yd]
    for own, v in _turning(mech):
        q = y[..., own]
        result[..., own] = move(_pose(q), _twist(dy[..., v]))[..., -q.shape[-1] :]
    return result


def difference(mech: Mechanism, y0: Vec, y1: Vec) -> Array:
    """See :meth:`Robot.difference`."""
    y0, y1 = _pair(as_finite_vectors(y0, "y0", mech.n_y), as_finite_vectors(y1, "y1", mech.n_y))
    if not mech.turning:
        return y1 - y0
    result = np.empty((*y0.shape[:-1], mech.m))
    flat_y, flat_yd = mech.flat
    result[..., flat_yd] = y1[..., flat_y] - y0[..., flat_y]
    for own, v in _turning(mech):
        start, end = _pose(y0[..., own]), _pose(y1[..., own])
        back = conjugate(start[..., 3:])
        turned = product(back, end[..., 3:])
        moved = rotate(back, end[..., :3] - start[..., :3])
        result[..., v] = logarithm(turned, moved)[..., : v.stop - v.start]
    return result


def position_rate(mech: Mechanism, y: Array, yd: Array) -> Array:
    """dy/dt (n_y,) of velocities yd (m,); ``dynamics/motion.py`` traces the same."""
    if not mech.turning:
        return yd
    result = np.empty(mech.n_y)
    flat_y, flat_yd = mech.flat
    result[flat_y] = yd[flat_yd]
    for own, v in _turning(mech):
        q, twist = y[own], _twist(yd[v])
        turning = 0.5 * product(q[-4:], np.append(twist[:3], 0.0))
        moving = rotate(_pose(q)[3:], twist[3:])
        result[own] = np.concatenate([moving, turning])[-len(q) :]
    return result


def position_rate_changes(mech: Mechanism, y: Array, yd: Array) -> Array:
    """(n_y, n_y) changes of dy/dt with y at constant velocities: those of what turns freely."""
    result = np.zeros((mech.n_y, mech.n_y))
    for own, v in _turning(mech):
        q, twist, block = y[own], _twist(yd[v]), np.zeros((7, 7))
        T, unit = _pose_tangent(q), _pose(q)[3:]
        for k, e in enumerate(np.eye(4)):
            block[:3, 3 + k] = rotate(unit, np.cross(T[:3, 3 + k], twist[3:]))
            block[3:, 3 + k] = 0.5 * product(e, np.append(twist[:3], 0.0))
        result[own, own] = block[-len(q) :, -len(q) :]
    return result


def tangent(mech: Mechanism, y: Array) -> Array:
    """(m, n_y) velocities of changes of y: of quaternions too."""
    result = np.zeros((mech.m, mech.n_y))
    flat_y, flat_yd = mech.flat
    result[flat_yd, flat_y] = 1.0
    for own, v in _turning(mech):
        q = y[own]
        result[v, own] = _pose_tangent(q)[: v.stop - v.start, -len(q) :]
    return result


def tangent_rates(mech: Mechanism, y: Array) -> Array:
    """(n_y, m, n_y) changes of :func:`tangent` with each number of y."""
    result = np.zeros((mech.n_y, mech.m, mech.n_y))
    for own, v in _turning(mech):
        q, block = y[own], np.zeros((7, 6, 7))
        T, quaternion = _pose_tangent(q), q[-4:]
        for k, e in enumerate(np.eye(4)):
            block[3 + k, 3:, :3] = -np.cross(T[:3, 3 + k], T[3:, :3], axisb=0, axisc=0)
            turned = np.array([product(conjugate(e), other)[:3] for other in np.eye(4)]).T
            squared = float(quaternion @ quaternion)
            block[3 + k, :3, 3:] = 2.0 / squared * (turned - quaternion[k] * T[:3, 3:])
        result[own, v, own] = block[-len(q) :, : v.stop - v.start, -len(q) :]
    return result


def normalised(mech: Mechanism, y: Array) -> Array:
    """y with its quaternions brought back to length one."""
    if not mech.turning:
        return y
    result = y.copy()
    for own, _ in _turning(mech):
        turn = slice(own.stop - 4, own.stop)
        length = np.linalg.norm(y[turn])
        if length >= SHORTEST:  # others are for the program's own check to refuse
            result[turn] /= length
    return result


def _turning(mech: Mechanism) -> list[tuple[slice, slice]]:
    """Where the numbers of free flyers and balls are in y and in yd."""
    return [(mech.y.rows[b], mech.yd.rows[b]) for b in mech.turning]


def _pose(q: Array) -> Array:
    """(..., 7) of the positions of a free flyer or a ball, the quaternion at length one."""
    place = q[..., :3] if q.shape[-1] == 7 else np.zeros((*q.shape[:-1], 3))
    return np.concatenate([place, unit_quaternion(q[..., -4:])], axis=-1)


def _twist(v: Array) -> Array:
    """(..., 6) of their velocities."""
    return v if v.shape[-1] == 6 else np.concatenate([v, np.zeros(v.shape)], axis=-1)


def _pose_tangent(q: Array) -> Array:
    """(6, 7) body twists of changes of a pose, of its quaternion (of any length) too."""
    result, quaternion = np.zeros((6, 7)), q[-4:]
    back, squared = conjugate(quaternion), float(quaternion @ quaternion)
    result[3:, :3] = rotate(back / np.sqrt(squared), np.eye(3)).T
    # dQ = Q (omega, 0) / 2; changes of length, along Q itself, turn nothing.
    result[:3, 3:] = 2.0 / squared * np.array([product(back, e)[:3] for e in np.eye(4)]).T
    return result


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
    mech: Mechanism,
    branches: Mapping[int, Branch],
    rng: np.random.Generator,
    count: int | None,
    everywhere: bool = False,
) -> Array:
    """Uniform in the reachable boxes, or everywhere; see :meth:`Robot.random_independent`."""
    if not isinstance(rng, (np.random.Generator, np.random.RandomState)):
        raise InvalidInput(f"rng is {rng!r}; give a generator such as np.random.default_rng(0)")
    shape = () if count is None else (as_count(count, "count", 0),)
    y = np.zeros((*shape, mech.n_y))
    boxes: dict[int, tuple[float, float]] = {}
    for c, branch in branches.items():
        sides = zip(*branch.reachable_box(exact=everywhere), strict=True)
        boxes.update(zip(mech.components[c].independent, sides, strict=True))
    for b in mech.independent:
        joint, at = mech.tree.bodies[b].joint, mech.y.at[b]
        if joint.has_quaternion:
            own = mech.y.rows[b]
            y[..., own.start : own.stop - 4] = rng.uniform(-1.0, 1.0, (*shape, joint.n_q - 4))
            turn = rng.normal(size=(*shape, 4))
            turn /= np.linalg.norm(turn, axis=-1, keepdims=True)
            y[..., own.stop - 4 : own.stop] = turn
            continue
        reach = np.pi if joint.kind != PRISMATIC else 0.5
        low = joint.lower if np.isfinite(joint.lower) else -reach
        high = joint.upper if np.isfinite(joint.upper) else reach
        low, high = boxes.get(b, (low, high))
        y[..., at] = rng.uniform(low, high, shape)
    for c, branch in branches.items():
        if everywhere and not branch.reach_is_exact:
            slots = mech.y.slots(mech.components[c].independent)
            for row in y.reshape(-1, mech.n_y):
                row[slots] = branch.random(rng)
    return y
