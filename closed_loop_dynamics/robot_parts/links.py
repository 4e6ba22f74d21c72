"""Poses, Jacobians, wrenches of links, random configurations: NumPy around native results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, as_count, as_finite_vectors
from ..errors import InvalidInput
from ..mechanism import Mechanism
from ..model.tree import FLOATING, PRISMATIC

if TYPE_CHECKING:
    from ..robot import Robot

Frame = tuple[int, Array]


def _rotation(values: Array, body: int) -> Array:
    start = 12 * body
    return values[..., start : start + 9].reshape(*values.shape[:-1], 3, 3)


def _position(values: Array, body: int) -> Array:
    return values[..., 12 * body + 9 : 12 * body + 12]


def _body_pose(values: Array, body: int) -> Array:
    T = np.zeros((*values.shape[:-1], 4, 4))
    T[..., :, :] = np.eye(4)
    if body >= 0:
        T[..., :3, :3] = _rotation(values, body)
        T[..., :3, 3] = _position(values, body)
    return T


def link_pose(mech: Mechanism, frame: Frame, values: Array) -> Array:
    """(..., 4, 4) pose of a link from the output of the ``poses`` program."""
    body, offset = frame
    return np.asarray(_body_pose(values, body) @ offset)


def link_jacobian(
    mech: Mechanism, frame: Frame, values: Array, columns: int | None = None
) -> Array:
    """(..., 6, m) [angular; linear] in the link frame.

    ``values`` end with G; ``columns`` is its width when it is not m.
    """
    T = link_pose(mech, frame, values)
    R, at = T[..., :3, :3], T[..., :3, 3]
    width = mech.m if columns is None else columns
    G = values[..., 12 * len(mech.tree.bodies) :].reshape(*values.shape[:-1], mech.n, width)
    tree_part = np.zeros((*values.shape[:-1], 6, mech.n))
    for b in mech.tree.path_to_root(frame[0]) if frame[0] >= 0 else []:
        joint, column = mech.tree.bodies[b].joint, mech.qd_at[b]
        R_b, p_b = _rotation(values, b), _position(values, b)
        if joint.kind == FLOATING:
            tree_part[..., :3, column : column + 3] = R_b
            arm = (at - p_b)[..., None, :]
            moved = np.cross(np.swapaxes(R_b, -1, -2), arm)
            tree_part[..., 3:, column : column + 3] = np.swapaxes(moved, -1, -2)
            tree_part[..., 3:, column + 3 : column + 6] = R_b
            continue
        axis = R_b @ joint.axis
        if joint.kind == PRISMATIC:
            tree_part[..., 3:, column] = axis
        else:
            tree_part[..., :3, column] = axis
            tree_part[..., 3:, column] = np.cross(axis, at - p_b)
    back = np.swapaxes(R, -1, -2)
    world = tree_part @ G
    return np.concatenate([back @ world[..., :3, :], back @ world[..., 3:, :]], axis=-2)


def gather_wrenches(
    mech: Mechanism, wrenches: Mapping[str, ArrayLike], frame_of: Callable[[str], Frame]
) -> Array:
    """Sum wrenches on links to wrenches on bodies in body frames; the root's are dropped."""
    if not isinstance(wrenches, Mapping):
        raise InvalidInput("wrenches is not a mapping from link names to 6-vectors")
    arrays = {link: as_finite_vectors(w, f"wrenches['{link}']", 6) for link, w in wrenches.items()}
    lengths = {w.shape[:-1] for w in arrays.values() if w.ndim == 2}
    if len(lengths) > 1:
        raise InvalidInput(f"wrenches: batches of different length {sorted(lengths)}")
    leading = lengths.pop() if lengths else ()
    total = np.zeros((*leading, 6 * len(mech.tree.bodies)))
    for link, wrench in arrays.items():
        body, offset = frame_of(link)
        if body < 0:
            continue
        R, p = offset[:3, :3], offset[:3, 3]
        moment, force = wrench[..., :3] @ R.T, wrench[..., 3:] @ R.T
        total[..., 6 * body : 6 * body + 3] += moment + np.cross(p, force)
        total[..., 6 * body + 3 : 6 * body + 6] += force
    return total


def random_independent(robot: Robot, rng: np.random.Generator, count: int | None) -> Array:
    """Uniform in the reachable boxes; see :meth:`Robot.random_independent`."""
    if not isinstance(rng, (np.random.Generator, np.random.RandomState)):
        raise InvalidInput(f"rng is {rng!r}; give a generator such as np.random.default_rng(0)")
    mech = robot.mechanism
    shape = () if count is None else (as_count(count, "count", 0),)
    y = np.zeros((*shape, mech.n_y))
    boxes: dict[int, tuple[float, float]] = {}
    for c, branch in robot.branches.items():
        lower, upper = branch.reachable_box()
        for k, b in enumerate(mech.components[c].independent):
            boxes[b] = (float(lower[k]), float(upper[k]))
    for b in mech.independent:
        joint, at = mech.tree.bodies[b].joint, mech.y_at[b]
        if joint.kind == FLOATING:
            y[..., at : at + 3] = rng.uniform(-1.0, 1.0, (*shape, 3))
            quaternion = rng.normal(size=(*shape, 4))
            y[..., at + 3 : at + 7] = quaternion / np.linalg.norm(
                quaternion, axis=-1, keepdims=True
            )
            continue
        reach = np.pi if joint.kind != PRISMATIC else 0.5
        low = joint.lower if np.isfinite(joint.lower) else -reach
        high = joint.upper if np.isfinite(joint.upper) else reach
        low, high = boxes.get(b, (low, high))
        y[..., at] = rng.uniform(low, high, shape)
    return y
