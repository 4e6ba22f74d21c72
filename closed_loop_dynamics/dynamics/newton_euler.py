"""Forces of the spanning tree's joints by Newton's and Euler's equations, body by body.

Luh, Walker and Paul 1980, in body frames, for joints of any number of velocities. The acceleration
of a body's points is a + U r, with a that of its origin and U = [wd] + [w][w]; so linear velocities
are not needed, and force and moment on the body follow from U and the second moments of its mass
(Khalil and Dombre 2002). It is the sum of spatial RNEA (Featherstone 2008) in fewer operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..engine.symbolic import ca
from ..spatial import SX, RigidInertia, Spatial, Subspace, Transform
from .joint_forces import joint_friction
from .motion import Motion, base_acceleration
from .regrouping import ROUNDING
from .springs import joint_spring, with_springs


class Moving(NamedTuple):
    """A frame in motion, in its own axes: angular velocity and acceleration, acceleration."""

    w: SX
    wd: SX
    a: SX

    @property
    def U(self) -> SX:
        """(3, 3): a + U r is the acceleration of the point r."""
        x, y, z = (self.w[k] for k in range(3))
        dx, dy, dz = (self.wd[k] for k in range(3))
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
        return ca.vertcat(
            ca.horzcat(-(yy + zz), xy - dz, xz + dy),
            ca.horzcat(xy + dz, -(xx + zz), yz - dx),
            ca.horzcat(xz - dy, yz + dx, -(xx + yy)),
        )

    def carried(self, X: Transform) -> Moving:
        """A frame that is fixed to this one where ``X`` says."""
        w, wd, a = self
        for R, p in X.steps:
            w, wd, a = R.T @ w, R.T @ wd, R.T @ (a + Moving(w, wd, a).U @ p)
        return Moving(w, wd, a)

    def driven(self, S: Subspace, qd: SX, qdd: SX) -> Moving:
        """A frame that moves relative to this one with the joint's velocities."""
        own, rate = S @ qd, S @ qdd
        return Moving(
            self.w + own.w,
            self.wd + rate.w + ca.cross(self.w, own.w),
            self.a + rate.v + ca.cross(2.0 * self.w + own.w, own.v),
        )

    def force_on(self, inertia: RigidInertia) -> Spatial:
        """What moves a body like this: [moment about the origin; force]."""
        U, h = self.U, inertia.h
        moment = ca.cross(h, self.a) + self._turning(inertia.rotational, U)
        return Spatial(moment, inertia.mass * self.a + U @ h)

    def _turning(self, inertia: SX, U: SX) -> SX:
        """I wd + w x I w."""
        if ca.sparsify(inertia).nnz() <= 1:  # a rotor
            return inertia @ self.wd + ca.cross(self.w, inertia @ self.w)
        # The integral of r x U r: with the second moments P, what makes U P unsymmetric.
        M = U @ second_moments(inertia)
        return ca.vertcat(M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1])


def second_moments(inertia: SX) -> SX:
    """P (3, 3), with I = tr(P) 1 - P; a zero of P is one again, not what roundings leave of it."""
    P = 0.5 * ca.trace(inertia) * ca.SX.eye(3) - inertia
    if not P.is_constant():
        return P
    numbers = np.asarray(ca.DM(P))
    clear = np.abs(numbers) > ROUNDING * np.max(np.abs(numbers))
    return ca.SX(np.where(clear, numbers, 0.0))


def frames_in_motion(
    motion: Motion, qdd: Mapping[int, SX], gravity: bool = True
) -> dict[int, Moving]:
    """Body -> its frame (-1: the root's, which gravity accelerates upwards)."""
    rest, root = ca.SX.zeros(3), base_acceleration(motion.mechanism).v
    moving = {-1: Moving(rest, rest, root if gravity else rest)}
    for i, body in enumerate(motion.mechanism.tree.bodies):
        carried = moving[body.parent].carried(motion.X[i])
        moving[i] = carried.driven(motion.S[i], motion.qd[i], qdd[i])
    return moving


def transmitted_forces(
    motion: Motion,
    inertia: Mapping[int, RigidInertia],
    qdd: dict[int, SX],
    wrenches: dict[int, Spatial] | None = None,
    gravity: bool = True,
) -> dict[int, Spatial]:
    """Body -> [moment; force] by which its joint moves it and all that hangs on it, in its frame.

    Loops are left open: no cut carries anything. ``wrenches`` act on the bodies, in body frames.
    Without ``gravity`` no springs between links pull either.
    """
    bodies = motion.mechanism.tree.bodies
    wrenches = with_springs(motion, wrenches) if gravity else wrenches
    # Outward: motions, and the forces that they take.
    moving, f = frames_in_motion(motion, qdd, gravity), dict[int, Spatial]()
    for i in range(len(bodies)):
        f[i] = moving[i].force_on(inertia[i])
        if wrenches and i in wrenches:
            f[i] = f[i] - wrenches[i]

    # Inward: accumulated at the parents.
    for i in reversed(range(len(bodies))):
        if bodies[i].parent >= 0:
            f[bodies[i].parent] = f[bodies[i].parent] + motion.X[i].force_to_parent(f[i])
    return f


def joint_forces(
    motion: Motion, f: Mapping[int, Spatial], qdd: Mapping[int, SX], springs: bool = True
) -> dict[int, SX]:
    """tau of every joint that transmits ``f``: along S, of friction, its rotor and its springs."""
    own = {i: joint_friction(motion, i) + motion.joints[i].rotor_inertia * qdd[i] for i in f}
    if springs:
        own = {i: own[i] + joint_spring(motion, i) for i in f}
    return {i: motion.S[i].dot(f[i]) + own[i] for i in f}


def tree_forces(
    motion: Motion,
    qdd: dict[int, SX] | None,
    wrenches: dict[int, Spatial] | None = None,
    gravity: bool = True,
) -> dict[int, SX]:
    """tau of every spanning-tree joint for accelerations ``qdd`` (None: zero).

    Without ``gravity`` there are no springs either: what depends on positions is left out.
    """
    if qdd is None:
        bodies = motion.mechanism.tree.bodies
        qdd = {i: ca.SX.zeros(body.joint.n_v) for i, body in enumerate(bodies)}
    f = transmitted_forces(motion, motion.grouped_inertia, qdd, wrenches, gravity)
    return joint_forces(motion, f, qdd, springs=gravity)
