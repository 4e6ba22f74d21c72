"""Cuts of a tree, and how many degrees of freedom are left when they are closed again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..model.poses import Poses
from ..model.tree import PRISMATIC, Tree

#: Two points are one; a column of K is zero [m].
COINCIDENT = 1e-5
#: Published dimensions are rounded: a planar loop is planar only to about this, relatively.
ROUNDED = 1e-4


@dataclass(frozen=True, eq=False)
class Tip:
    """The end of a leg.

    Attributes:
        joint: the joint (moving or fixed) whose child link is at the end.
        link: that link.
        body: the body it belongs to.
        point: (3,) where it is at q = 0 in the root frame [m].
    """

    joint: str
    link: str
    body: int
    point: Array


@dataclass(frozen=True, eq=False)
class Cut:
    """A leg's end and the link it was cut off from.

    Attributes:
        successor: name of that link.
        swing: a hinge of the successor that is part of the leg's end (cut: universal), or None.
        coincides: a link of the successor's body that lies at the same point, "" if there is none.
        normal: (3,) of the plane in which this loop moves, if the mechanism is not planar but the
            loop is; else None.
    """

    tip: Tip
    successor: str
    swing: int | None = None
    coincides: str = ""
    normal: Array | None = None


def mobility(tree: Tree, poses: Poses, cuts: Sequence[Cut], joints: Sequence[int]) -> int:
    """Degrees of freedom with the cuts closed: joints that a cut moves minus rank of K at q = 0."""
    K = constraints(tree, poses, cuts, joints)
    return int(np.count_nonzero(np.linalg.norm(K, axis=0) > COINCIDENT)) - rank(K)


def rank(K: Array) -> int:
    """Rank up to the rounding of published dimensions."""
    if not K.size:
        return 0
    return int(np.linalg.matrix_rank(K, tol=ROUNDED * float(np.linalg.norm(K, 2))))


def constraints(tree: Tree, poses: Poses, cuts: Sequence[Cut], joints: Sequence[int]) -> Array:
    """K (rows, joints) at q = 0: three translations per cut, one rotation more with a swing."""
    rows = []
    for cut in cuts:
        J = np.zeros((6, len(joints)))
        ends = ((cut.tip.body, 1.0), (tree.frames[cut.successor][0], -1.0))
        for body, sign in ends:
            for b in tree.path_to_root(body):
                if b in joints:
                    J[:, joints.index(b)] += sign * _motion(tree, poses, b, cut.tip.point)
        rows.append(J[3:])
        if cut.swing is not None:
            rows.append(locked_axis(tree, poses, cut)[None] @ J[:3])
    return np.vstack(rows) if rows else np.zeros((0, len(joints)))


def locked_axis(tree: Tree, poses: Poses, cut: Cut) -> Array:
    """(3,) in the root frame: the swing's axis, made normal to the rod."""
    assert cut.swing is not None
    rod = poses[cut.tip.body][:3, :3] @ tree.bodies[cut.tip.body].joint.axis
    hinge = poses[cut.swing][:3, :3] @ tree.bodies[cut.swing].joint.axis
    across = hinge - (hinge @ rod) * rod
    return np.asarray(across / np.linalg.norm(across))


def _motion(tree: Tree, poses: Poses, b: int, point: Array) -> Array:
    """(6,) [angular; linear] velocity at ``point`` per unit of joint ``b``."""
    axis = poses[b][:3, :3] @ tree.bodies[b].joint.axis
    if tree.bodies[b].joint.kind == PRISMATIC:
        return np.concatenate([np.zeros(3), axis])
    return np.concatenate([axis, np.cross(axis, point - poses[b][:3, 3])])
