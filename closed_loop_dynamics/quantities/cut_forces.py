"""What the cuts of one loop cluster carry: the multipliers of its constraints, as wrenches.

Along every joint that nobody drives the forces must cancel: K^T lambda = what the open tree lacks.
The kept rows of K determine lambda with the other rows at zero. Where rows repeat each other (a
planar loop cut in space: how its pins share a load across the plane depends on play and elasticity,
which a rigid model does not have), every lambda + N z will do; the shortest is taken, moments
counted as forces at the length of the loop, and what N moves is marked as not determined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..closure.cut_joint import CutJoint
from ..closure.numerical import NumericalClosure
from ..model.tree import Tree
from ..se3 import cross

#: Work of a repeated row along the motions (scaled K G): more, and it is no repetition to rounding.
REPEATED = 1e-10
#: A load that changes by less than this share of an undetermined one counts as determined.
MARKED = 1e-6


class CutLoad(NamedTuple):
    """What one cut carries, and what it might carry besides.

    Attributes:
        cut: the cut.
        axes: (N, 3, 3) of its predecessor frame in the root frame.
        point: (N, 3) of its successor frame in the root frame, where the wrench acts.
        wrench: (N, 1 + k, 6) [moment; force] on the successor in the axes of the root frame: the
            load, then k loads of size one [N m, or N at the loop's length] that nothing determines.
    """

    cut: CutJoint
    axes: Array
    point: Array
    wrench: Array

    def in_cut_frame(self) -> Array:
        """(N, 1 + k, 6) on the successor, in the axes of the predecessor's cut frame."""
        return turned_back(self.axes, self.wrench)

    def in_joints(self, poses: Mapping[str, Array]) -> Array:
        """(N, bodies, 1 + k, 6) by how much it changes what the joints of its loop transmit.

        In the frames of ``cut.bodies``: those on the predecessor's way carry more, on the
        successor's less.
        """
        R, p = (poses[key][:, self.cut.bodies] for key in "Rp")
        force = np.repeat(self.wrench[:, None, :, 3:], len(self.cut.bodies), axis=1)
        arm = self.point[:, None] - p
        moment = self.wrench[:, None, :, :3] + cross(arm[:, :, None], force)
        return turned_back(R, np.concatenate([moment, force], axis=-1)) * _signs(self.cut)


def _signs(cut: CutJoint) -> Array:
    """(bodies, 1, 1) 1.0 on the predecessor's way, -1.0 on the successor's."""
    return np.repeat([1.0, -1.0], [len(cut.chain_p), len(cut.chain_s)])[:, None, None]


def turned_back(R: Array, wrench: Array) -> Array:
    """(..., k, 6) wrenches of the root's axes in those of the frames ``R`` (..., 3, 3)."""
    return np.concatenate([wrench[..., :3] @ R, wrench[..., 3:] @ R], axis=-1)


def frame_at(poses: Mapping[str, Array], body: int, frame: Array) -> tuple[Array, Array]:
    """(N, 3, 3) axes and (N, 3) origin of a frame on a body; ``poses`` of the program "poses"."""
    if body < 0:
        count = len(poses["p"])
        return np.tile(frame[:3, :3], (count, 1, 1)), np.tile(frame[:3, 3], (count, 1))
    R = poses["R"][:, body]
    return R @ frame[:3, :3], poses["p"][:, body] + R @ frame[:3, 3]


def cut_loads(
    closure: NumericalClosure, poses: Mapping[str, Array], lacking: Array
) -> list[CutLoad]:
    """The loads of all cuts of a cluster.

    Args:
        lacking: (N, n) what the open tree's joints lack, local order [N or N m].
    """
    system, plan = closure.system, closure.plan
    geometry = [_directions(cut, poses) for cut in system.cuts]
    rows = [
        _row_block(system.tree, system.local, cut, poses, point, directions)
        for cut, (_, point, directions) in zip(system.cuts, geometry, strict=True)
    ]
    gears = np.zeros((len(lacking), len(system.couplings), len(system.joints)))
    for k, factors in enumerate(system.coupling_rows()):
        gears[:, k, list(factors)] = list(factors.values())
    sizes = system.row_sizes(plan.length)
    K = np.concatenate([*rows, gears], axis=1) * closure.sizes / sizes[:, None]
    multipliers = _multipliers(closure, K, lacking * closure.sizes) / sizes[:, None]
    loads, start = [], 0
    for cut, (axes, point, directions) in zip(system.cuts, geometry, strict=True):
        own = multipliers[:, start : start + directions.shape[1]]
        loads.append(CutLoad(cut, axes, point, np.swapaxes(own, 1, 2) @ directions))
        start += directions.shape[1]
    return loads


def _directions(cut: CutJoint, poses: Mapping[str, Array]) -> tuple[Array, Array, Array]:
    """Axes of P, origin of S, and (N, rows, 6) the unit wrench of every row about it, in the root.

    d(phi) = direction . relative velocity, as in ``closure/cut_kinematics`` where it is closed.
    """
    R_p, _ = frame_at(poses, cut.predecessor, cut.frame_p)
    R_s, point = frame_at(poses, cut.successor, cut.frame_s)
    if len(cut.translations) == 3:
        R_base, _ = frame_at(poses, cut.base, np.eye(4))
        forces = np.swapaxes(R_base @ cut.gap_axes.T, 1, 2)
    else:
        forces = _turned(R_p, cut.translations)
    if len(cut.rotations) == 1:
        moments = cross(R_p @ cut.direction(False), R_s @ cut.direction(True))[:, None]
    else:
        moments = _turned(R_p, cut.rotations)
    unit_forces = np.concatenate([np.zeros_like(forces), forces], axis=-1)
    unit_moments = np.concatenate([moments, np.zeros_like(moments)], axis=-1)
    return R_p, point, np.concatenate([unit_forces, unit_moments], axis=1)


def _turned(R: Array, vectors: tuple[Array, ...]) -> Array:
    """(N, k, 3) constant vectors in the axes of the root."""
    return np.swapaxes(R @ np.reshape(vectors, (-1, 3)).T, 1, 2)


def _row_block(
    tree: Tree,
    local: Mapping[int, int],
    cut: CutJoint,
    poses: Mapping[str, Array],
    point: Array,
    directions: Array,
) -> Array:
    """(N, rows, n) K of one cut: what each joint moves along the directions."""
    R, p = (poses[key][:, cut.bodies] for key in "Rp")
    S = np.array([tree.bodies[b].joint.S for b in cut.bodies])
    turning, sliding = (R @ S[:, :3])[..., 0], (R @ S[:, 3:])[..., 0]
    moving = sliding + cross(turning, point[:, None] - p)
    twists = np.concatenate([turning, moving], axis=-1) * -_signs(cut)[:, 0]
    K = np.zeros((*directions.shape[:2], len(local)))
    K[:, :, [local[b] for b in cut.bodies]] = directions @ np.swapaxes(twists, 1, 2)
    return K


def _multipliers(closure: NumericalClosure, K: Array, lacking: Array) -> Array:
    """(N, rows, 1 + k) the shortest lambda, and unit lambdas that do no work; all dimensionless."""
    plan = closure.plan
    kept, dropped, unknown = (list(x) for x in (plan.rows, plan.dropped, closure.unknown))
    independent = list(closure.system.independent)
    A = np.swapaxes(K[:, kept][:, :, unknown], 1, 2)
    K_r = np.swapaxes(K[:, dropped], 1, 2)
    solved = np.linalg.solve(A, np.concatenate([lacking[:, unknown, None], K_r[:, unknown]], 2))
    first, B = np.zeros((*K.shape[:2], 1)), solved[:, :, 1:]
    first[:, kept] = solved[:, :, :1]
    if not dropped:
        return first
    N = np.zeros((*K.shape[:2], len(dropped)))
    N[:, kept], N[:, dropped] = -B, np.eye(len(dropped))
    # Rows repeat each other up to rounded dimensions; what of them does work is not added.
    work = K_r[:, independent] - np.swapaxes(K[:, kept][:, :, independent], 1, 2) @ B
    _, s, Vt = np.linalg.svd(work, full_matrices=False)
    V = Vt * (s > REPEATED)[:, :, None]
    idle = N @ (np.eye(len(dropped)) - np.swapaxes(V, 1, 2) @ V)
    shortest = first - idle @ (np.linalg.pinv(idle, rcond=1e-9) @ first)
    return np.concatenate([shortest, N / np.linalg.norm(N, axis=1, keepdims=True)], axis=2)
