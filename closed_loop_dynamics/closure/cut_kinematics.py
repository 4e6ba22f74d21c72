"""Cut-joint constraints to second order: phi, K = dphi/dq and the K̇ q̇ that moving joints add.

All rows are made of vectors that a chain of joints carries: the point of the cut, and directions of
its frame (Mueller 2022, appendix A). A hinge with the unit axis a turns what it carries:
d(R x) = (a x R x) dq. Written out this way K and K̇ q̇ are exact, also where other rotations of the
cut joint are free, and they share their operations with phi; differentiating phi costs twice that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca
from ..model.tree import PRISMATIC, Tree
from ..spatial import SX, rotation, sx
from .cut_joint import CutJoint


class Moved(NamedTuple):
    """Some numbers (k, 1) that joints move: their value, its derivative (k, n), its rate in time,
    and its bias, the second derivative in time (while no joint accelerates, unless they are told
    to). Behind them, how value, rate and bias change (k, d) in d directions."""

    value: SX
    jacobian: SX
    rate: SX
    bias: SX
    dvalue: SX
    drate: SX
    dbias: SX

    def through(self, T: SX) -> Moved:
        """T times the numbers."""
        return Moved(*(T @ part for part in self))

    def minus(self, other: Moved) -> Moved:
        """The difference."""
        return Moved(*(a - b for a, b in zip(self, other, strict=True)))

    def dot(self, other: Moved) -> Moved:
        """The scalar product of two vectors."""
        a, b = self.value.T, other.value.T
        rate = a @ other.rate + b @ self.rate
        bias = a @ other.bias + 2.0 * (self.rate.T @ other.rate) + b @ self.bias
        dvalue = a @ other.dvalue + b @ self.dvalue
        drate = a @ other.drate + b @ self.drate
        drate += self.rate.T @ other.dvalue + other.rate.T @ self.dvalue
        dbias = a @ other.dbias + self.bias.T @ other.dvalue + b @ self.dbias
        dbias += other.bias.T @ self.dvalue
        dbias += 2.0 * (self.rate.T @ other.drate + other.rate.T @ self.drate)
        jacobian = a @ other.jacobian + b @ self.jacobian
        return Moved(a @ other.value, jacobian, rate, bias, dvalue, drate, dbias)


def stacked(rows: Sequence[Moved]) -> Moved:
    """All rows, one below the other."""
    return Moved(*(ca.vertcat(*part) for part in zip(*rows, strict=True)))


@dataclass(frozen=True, eq=False)
class CutMotion:
    """The joints that move cuts: ``local`` maps a body to its place in q, qd and qdd (n, 1).

    Where nothing is ``moving`` no rates and no biases are traced: they are zero. ``dq`` and ``dqd``
    (n, d) are directions in which q and qd change, while qdd does not.
    """

    tree: Tree
    local: dict[int, int]
    q: SX
    qd: SX
    qdd: SX
    dq: SX
    dqd: SX
    moving: bool = True

    def rows(self, cut: CutJoint) -> Moved:
        """phi of one cut joint: translations [m] first, then rotations [-].

        Three rotations locked: the skew part of the relative rotation. Two: the free axis of S
        stays normal to two directions of P. One: a direction of P stays normal to one of S
        (universal joint). All so that d(phi) = axis . omega when closed.
        """
        rows: list[Moved] = []
        point_p, point_s = cut.frame_p[:3, 3], cut.frame_s[:3, 3]
        gap = self._carried(cut.chain_s, point_s, 1.0).minus(
            self._carried(cut.chain_p, point_p, 1.0)
        )
        if len(cut.translations) == 3:
            # All of the gap: which axes it is written in does not matter; the base's are cheapest.
            rows.append(gap.through(sx(cut.gap_axes)))
        else:
            rows += [self._of_p(cut, axis).dot(gap) for axis in cut.translations]
        axes = cut.rotations
        if len(axes) == 3:
            halves = [self._of_p(cut, 0.5 * e) for e in np.eye(3)]
            turned = [self._of_s(cut, e) for e in np.eye(3)]
            for axis in axes:  # half of the sum of (axis x e) . R e, R being the rotation to S
                across = np.cross(axis, np.eye(3))
                pairs = np.argwhere(across)
                parts = stacked([halves[i].dot(turned[j]) for j, i in pairs])
                rows.append(parts.through(sx(across[across != 0.0][None])))
        elif axes:
            free, held = cut.direction(False), self._of_s(cut, cut.direction(True))
            normals = [np.cross(a, free) for a in axes] if len(axes) == 2 else [-free]
            rows += [self._of_p(cut, direction).dot(held) for direction in normals]
        return stacked(rows)

    def cosine(self, cut: CutJoint) -> SX:
        """Of the angle that a cut with two or three rotations locked is turned by."""
        if len(cut.rotations) == 2:
            free = cut.direction(False), cut.direction(True)
            return self._of_p(cut, free[0]).value.T @ self._of_s(cut, free[1]).value
        turned = [self._of_p(cut, e).value.T @ self._of_s(cut, e).value for e in np.eye(3)]
        return 0.5 * (turned[0] + turned[1] + turned[2] - 1.0)

    def _of_p(self, cut: CutJoint, direction: Array) -> Moved:
        return self._carried(cut.chain_p, cut.frame_p[:3, :3] @ direction, 0.0)

    def _of_s(self, cut: CutJoint, direction: Array) -> Moved:
        return self._carried(cut.chain_s, cut.frame_s[:3, :3] @ direction, 0.0)

    def _carried(self, chain: Sequence[int], vector: Array, point: float) -> Moved:
        """A point (1.0) or a direction (0.0) of the last body, in the base frame."""
        rest, still = ca.SX.zeros(3), ca.SX.zeros(3, self.dq.shape[1])
        value, K, rate, bias = sx(vector), ca.SX.zeros(3, self.q.shape[0]), rest, rest
        dvalue, drate, dbias = still, still, still
        for b in reversed(chain):
            joint, i = self.tree.bodies[b].joint, self.local[b]
            a, q = sx(joint.axis), self.q[i]
            own = point * a
            if joint.kind == PRISMATIC:
                R, value = None, value + own * q
            else:
                R = rotation(joint.axis, q)
                value = R @ value if b != chain[-1] else _turned(joint.axis, q, vector)
                K, own = R @ K, ca.cross(a, value)
            placed = sx(joint.placement[:3, :3])
            if self.moving:
                qd, qdd, dq, dqd = self.qd[i], self.qdd[i], self.dq[i, :], self.dqd[i, :]
                dvalue = own @ dq + (dvalue if R is None else R @ dvalue)
                if R is not None:
                    A, rate, bias = ca.skew(a), R @ rate, R @ bias
                    twice = 2.0 * ca.cross(a, rate) + 2.0 * qd * ca.cross(a, own)  # dbias/dqd
                    dbias = R @ dbias + ca.cross(a, bias) @ dq + twice @ dqd
                    drate = R @ drate + ca.cross(a, rate) @ dq
                    aside = A @ dvalue
                    dbias += 2.0 * qd * (A @ drate) + (qd * qd) * (A @ aside) + qdd * aside
                    drate += qd * aside
                    bias = bias + qd * (2.0 * ca.cross(a, rate) + qd * ca.cross(a, own))
                drate, dbias = placed @ (drate + own @ dqd), placed @ dbias
                dvalue = placed @ dvalue
                rate, bias = placed @ (rate + qd * own), placed @ (bias + own * qdd)
            K[:, i] = own
            value, K = placed @ value + point * sx(joint.placement[:3, 3]), placed @ K
        return Moved(value, K, rate, bias, dvalue, drate, dbias)


def _turned(axis: Array, angle: SX, x: Array) -> SX:
    """A constant vector, turned about a unit axis: without the rotation's matrix."""
    along = axis * float(axis @ x)
    return ca.cos(angle) * sx(x - along) + sx(along) + ca.sin(angle) * sx(np.cross(axis, x))
