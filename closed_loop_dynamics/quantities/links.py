"""Poses, Jacobians and wrenches of links: NumPy around native results.

At the end, where the bodies and the two sides of every cut are at any spanning positions: these
need not close the loops, so that pictures can show measured joints as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import Array, Guess, Vec, as_finite_vectors
from ..closure.branch import Branch
from ..errors import InvalidInput, did_you_mean
from ..mechanism import Mechanism
from ..model.poses import joint_motion
from ..model.tree import Tree
from ..programs import Programs
from ..se3 import cross

#: Body, and the pose (4, 4) of the link in the body's frame.
Frame = tuple[int, Array]


def frame_of(tree: Tree, link: str) -> Frame:
    """Where a link is fixed.

    Raises:
        InvalidInput: there is no such link.
    """
    if not isinstance(link, str) or link not in tree.frames:
        raise InvalidInput(f"no link '{link}'; {did_you_mean(link, tree.frames)}")
    return tree.frames[link]


def link_pose(programs: Programs, link: str, y: Vec, guess: Guess) -> Array:
    """(..., 4, 4) see :meth:`Robot.pose`."""
    frame = frame_of(programs.mechanism.tree, link)
    return _pose(frame, programs.named("poses", guess, y))


def link_jacobian(programs: Programs, link: str, y: Vec, guess: Guess) -> Array:
    """(..., 6, m) see :meth:`Robot.jacobian`."""
    frame = frame_of(programs.mechanism.tree, link)
    return pose_and_jacobian(programs.mechanism, frame, programs.named("poses", guess, y))[1]


def pose_and_jacobian(
    mech: Mechanism, frame: Frame, poses: Mapping[str, Array]
) -> tuple[Array, Array]:
    """(..., 4, 4) and (..., 6, m) of a frame; ``poses`` of the program "poses"."""
    T = _pose(frame, poses)
    return T, _in_axes_of(T, _columns(mech, frame[0], T, poses) @ poses["G"])


def tree_jacobian(mech: Mechanism, body: int, poses: Mapping[str, Array]) -> Array:
    """(..., 6, n) Jacobian of a body in its own frame, per qd; ``poses`` of the program "poses"."""
    T = _pose((body, np.eye(4)), poses)
    return _in_axes_of(T, _columns(mech, body, T, poses))


def _pose(frame: Frame, poses: Mapping[str, Array]) -> Array:
    body, offset = frame
    R, p = poses["R"], poses["p"]
    T = np.zeros((*p.shape[:-2], 4, 4))
    T[..., :, :] = np.eye(4)
    if body >= 0:
        T[..., :3, :3] = R[..., body, :, :]
        T[..., :3, 3] = p[..., body, :]
    return np.asarray(T @ offset)


def _columns(mech: Mechanism, body: int, T: Array, poses: Mapping[str, Array]) -> Array:
    """(..., 6, n) velocity of the point at ``T`` on a body per qd, in the axes of the root."""
    at = T[..., :3, 3]
    J = np.zeros((*at.shape[:-1], 6, mech.n))
    path = mech.tree.path_to_root(body)
    if path:
        joints = [mech.joint(b) for b in path]
        S = np.concatenate([joint.S for joint in joints], axis=1).T[..., None]
        of = np.repeat(path, [joint.n_v for joint in joints])
        R, arm = poses["R"][..., of, :, :], at[..., None, :] - poses["p"][..., of, :]
        turning, sliding = (R @ S[:, :3])[..., 0], (R @ S[:, 3:])[..., 0]
        twists = np.concatenate([turning, sliding + cross(turning, arm)], axis=-1)
        J[..., mech.qd.slots(path)] = np.swapaxes(twists, -1, -2)
    return J


def _in_axes_of(T: Array, J: Array) -> Array:
    """Rows [angular; linear] of the root turned into the axes of a frame."""
    back = np.swapaxes(T[..., :3, :3], -1, -2)
    return np.concatenate([back @ J[..., :3, :], back @ J[..., 3:, :]], axis=-2)


def body_wrenches(mech: Mechanism, wrenches: Mapping[str, Vec]) -> Array:
    """Sum wrenches on links to wrenches on bodies in body frames; the root's are dropped.

    (6 bodies,), or (N, 6 bodies) when one of them is a batch.
    """
    if not isinstance(wrenches, Mapping):
        raise InvalidInput("wrenches is not a mapping from link names to 6-vectors")
    arrays = {link: as_finite_vectors(w, f"wrenches['{link}']", 6) for link, w in wrenches.items()}
    lengths = {w.shape[:-1] for w in arrays.values() if w.ndim == 2}
    if len(lengths) > 1:
        raise InvalidInput(f"wrenches: batches of different length {sorted(lengths)}")
    leading = lengths.pop() if lengths else ()
    total = np.zeros((*leading, len(mech.tree.bodies), 6))
    for link, wrench in arrays.items():
        body, offset = frame_of(mech.tree, link)
        if body < 0:
            continue
        R, p = offset[:3, :3], offset[:3, 3]
        moment, force = wrench[..., :3] @ R.T, wrench[..., 3:] @ R.T
        total[..., body, :3] += moment + np.cross(p, force)
        total[..., body, 3:] += force
    return total.reshape(*leading, total.shape[-2] * 6)


def body_poses(mech: Mechanism, q: Array) -> Array:
    """(..., bodies, 4, 4) poses of all bodies in the root frame at ``q`` (..., n_q)."""
    q = np.asarray(q, dtype=float)
    poses = np.empty((*q.shape[:-1], len(mech.tree.bodies), 4, 4))
    for b, body in enumerate(mech.tree.bodies):
        T = body.joint.placement @ joint_motion(body.joint, q[..., mech.q.at[b] :])
        poses[..., b, :, :] = T if body.parent < 0 else poses[..., body.parent, :, :] @ T
    return poses


def cut_points(
    branches: Mapping[int, Branch], poses: Sequence[Array] | Array
) -> list[tuple[Array, Array]]:
    """Both sides of each cut in the root frame; they coincide where the loop is closed.

    ``poses`` are those of one configuration, (bodies, 4, 4).
    """
    pairs = []
    for branch in branches.values():
        for cut in branch.closure.system.cuts:
            T_p = np.eye(4) if cut.predecessor < 0 else poses[cut.predecessor]
            T_s = np.eye(4) if cut.successor < 0 else poses[cut.successor]
            pairs.append(((T_p @ cut.frame_p)[:3, 3], (T_s @ cut.frame_s)[:3, 3]))
    return pairs
