"""Poses, Jacobians and wrenches of links: NumPy around native results.

At the end, where the bodies and the two sides of every cut are at any spanning positions: these
need not close the loops, so that pictures can show measured joints as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

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
    frames = Frames(programs.mechanism, [frame_of(programs.mechanism.tree, link)])
    return frames.poses(programs.named("poses", guess, y))[..., 0, :, :]


def link_jacobian(programs: Programs, link: str, y: Vec, guess: Guess) -> Array:
    """(..., 6, m) see :meth:`Robot.jacobian`."""
    frames = Frames(programs.mechanism, [frame_of(programs.mechanism.tree, link)])
    return frames.jacobians(programs.named("poses", guess, y))[..., 0, :, :]


def tree_jacobian(mech: Mechanism, body: int, poses: Mapping[str, Array]) -> Array:
    """(..., 6, n) Jacobian of a body in its own frame, per qd; ``poses`` of the program "poses"."""
    per_qd = {"R": poses["R"], "p": poses["p"], "G": np.eye(mech.n)}
    return Frames(mech, [(body, np.eye(4))]).jacobians(per_qd)[..., 0, :, :]


class Frames:
    """Frames on bodies, with the joints that move them; all frames are computed at once.

    What is called ``found`` is what the program "poses" gives, with any leading axes.
    """

    def __init__(self, mech: Mechanism, frames: Sequence[Frame]) -> None:
        self._mech, self._bodies = mech, np.array([body for body, _ in frames])
        self._offsets = np.array([offset for _, offset in frames])

    @cached_property
    def _columns(self) -> tuple[Array, Array, list[int], Array]:
        """Per column of qd that moves a frame: S (k, 6, 1), body, slot; which frame (L, k, 1)."""
        paths = [self._mech.tree.path_to_root(int(body)) for body in self._bodies]
        moving = sorted({b for path in paths for b in path})
        joints = [self._mech.joint(b) for b in moving]
        of = np.repeat(np.array(moving, dtype=int), [joint.n_v for joint in joints])
        S = np.concatenate([np.zeros((6, 0)), *(joint.S for joint in joints)], axis=1)
        moves = np.array([np.isin(of, path) for path in paths])
        return S.T[..., None], of, self._mech.qd.slots(moving), moves[..., None]

    def poses(self, found: Mapping[str, Array]) -> Array:
        """(..., L, 4, 4) in the root frame."""
        p, some = found["p"], self._bodies >= 0
        T = np.zeros((*p.shape[:-2], len(self._bodies), 4, 4))
        T[...] = np.eye(4)
        T[..., some, :3, :3] = found["R"][..., self._bodies[some], :, :]
        T[..., some, :3, 3:] = p[..., self._bodies[some], :, None]
        return np.asarray(T @ self._offsets)

    def jacobians(self, found: Mapping[str, Array], T: Array | None = None) -> Array:
        """(..., L, 6, m) per yd, in the axes of the frames; ``T``: :meth:`poses`, where known."""
        T = self.poses(found) if T is None else T
        S, of, slots, moves = self._columns
        R = found["R"][..., of, :, :]
        turning, sliding = (R @ S[:, :3])[..., None, :, :, 0], (R @ S[:, 3:])[..., None, :, :, 0]
        arms = T[..., :, None, :3, 3] - found["p"][..., None, of, :]
        linear = sliding + cross(turning, arms)
        twists = np.stack([np.broadcast_to(turning, linear.shape), linear], axis=-3)
        twists = twists * moves[:, None]  # (..., L, 2, k, 3), in the axes of the root
        J = np.swapaxes(twists @ T[..., None, :3, :3], -1, -2)
        return np.asarray(J.reshape(*J.shape[:-3], 6, len(of)) @ found["G"][..., None, slots, :])


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
