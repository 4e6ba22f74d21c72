"""The whole tree in one frame: what changes of motion need, in coordinates that all bodies share.

The frame is that of the root, or that of the free flyer at this instant. In it, a displacement of a
body is the same vector for everything that hangs on it, and forces and inertias of a subtree are
plain sums.

With r the places of a body's mass, what its inertia becomes in motion is Sigma, the integral of
(dr/dt) r^T dm = v h^T + [w] P, and its momentum p = m v + w x h. The matrix B of Echeandia and
Wensing 2021, as Singh, Russo and Wensing 2022 use it, is made of them alone:

    B x = [ (tr(Sigma) 1 - Sigma) x_w ;  -p x x_w ]

so that it has three columns, not six, and adds up over subtrees in twelve numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engine.symbolic import ca
from ..spatial import SX, RigidInertia, Spatial, Subspace
from .motion import Motion, base_acceleration


@dataclass(frozen=True)
class Carried:
    """What a joint carries: of one body, or the sum over several that hang on it.

    Attributes:
        inertia: m, h, I; sigma: (3, 3); momentum: (3,) linear; force: that the motion takes.
    """

    inertia: RigidInertia
    sigma: SX
    momentum: SX
    force: Spatial

    @staticmethod
    def of(inertia: RigidInertia, v: Spatial, a: Spatial) -> Carried:
        """One body at velocity ``v`` and acceleration ``a``."""
        h = inertia.h
        P = 0.5 * ca.trace(inertia.rotational) * ca.SX(np.eye(3)) - inertia.rotational
        sigma = v.v @ h.T + ca.skew(v.w) @ P
        momentum = inertia.mass * v.v + ca.cross(v.w, h)
        spin = ca.vertcat(
            sigma[2, 1] - sigma[1, 2], sigma[0, 2] - sigma[2, 0], sigma[1, 0] - sigma[0, 1]
        )
        return Carried(
            inertia, sigma, momentum, inertia.apply(a) + v.cross_force(Spatial(spin, momentum))
        )

    def __add__(self, other: Carried) -> Carried:
        return Carried(
            self.inertia + other.inertia,
            self.sigma + other.sigma,
            self.momentum + other.momentum,
            self.force + other.force,
        )

    def without_force(self, wrench: Spatial) -> Carried:
        """The same with a wrench that acts on it from outside."""
        return Carried(self.inertia, self.sigma, self.momentum, self.force - wrench)

    # Columns: pairs (3, k) of the angular and linear parts of k vectors side by side.

    def inertial(self, x: Spatial) -> Spatial:
        """I x."""
        H, mass = ca.skew(self.inertia.h), self.inertia.mass
        return Spatial(self.inertia.rotational @ x.w + H @ x.v, mass * x.v - H @ x.w)

    @property
    def _B(self) -> tuple[SX, SX]:
        """The two blocks of B that are not zero."""
        return ca.trace(self.sigma) * ca.SX(np.eye(3)) - self.sigma, ca.skew(-self.momentum)

    def coriolis(self, x: Spatial) -> Spatial:
        """B x."""
        upper, lower = self._B
        return Spatial(upper @ x.w, lower @ x.w)

    def coriolis_rows(self, x: Spatial) -> SX:
        """(3, k) B^T x: what it makes of angular displacements only."""
        upper, lower = self._B
        return upper.T @ x.w + lower.T @ x.v


@dataclass(frozen=True)
class OneFrame:
    """The moving tree.

    Attributes:
        S: body -> its joint's columns.
        shift, drift: body -> the columns v_p x S and a_p x S + v_p x (v_p x S), with the velocity
            and the acceleration of its parent body: what displacements of the joint change in
            velocities and accelerations beyond it (psi' and psi'' of Singh et al. 2022).
        mean_shift: v x S with the mean of both bodies' velocities: what velocities of the joint
            change in accelerations beyond it, halved. The same as shift for a single axis.
        own: body -> what it carries without its children.
        pose: body -> its orientation and origin; -1: the root.
    """

    S: dict[int, Spatial]
    shift: dict[int, Spatial]
    drift: dict[int, Spatial]
    mean_shift: dict[int, Spatial]
    own: dict[int, Carried]
    pose: dict[int, tuple[SX, SX]]


def in_one_frame(
    motion: Motion, qdd: dict[int, SX], wrenches: dict[int, Spatial] | None = None
) -> OneFrame:
    """The tree of ``motion`` with accelerations ``qdd``; ``wrenches`` act on bodies, in their
    frames and turning with them."""
    mech = motion.mechanism
    root = (ca.SX(np.eye(3)), ca.SX.zeros(3))
    pose = {-1: root}
    v = {-1: Spatial.zero()}
    a = {-1: base_acceleration(mech)}
    frame = OneFrame({}, {}, {}, {}, {}, pose)
    for i, body in enumerate(mech.tree.bodies):
        R, p = pose[body.parent]
        if i == 0 and mech.floating:
            a[-1] = motion.X[0].motion_to_child(a[-1])
            R_0, p_0 = motion.X[0].matrix
            pose[-1] = R_0.T, -(R_0.T @ p_0)
        else:
            for R_step, p_step in motion.X[i].steps:
                R, p = R @ R_step, p + R @ p_step
        pose[i] = R, p
        v_p, a_p, S = v[body.parent], a[body.parent], _placed(motion.S[i], R, p)
        shift = crossed(v_p, S)
        v[i] = v_p + combined(S, motion.qd[i])
        a[i] = a_p + combined(S, qdd[i]) + combined(shift, motion.qd[i])
        frame.S[i], frame.shift[i] = S, shift
        single = S.w.shape[1] == 1
        frame.mean_shift[i] = shift if single else crossed((v_p + v[i]) * 0.5, S)
        frame.drift[i] = crossed(a_p, S) + crossed(v_p, shift)
        frame.own[i] = Carried.of(motion.grouped_inertia[i].moved(R, p), v[i], a[i])
        if wrenches and i in wrenches:
            pushed = R @ wrenches[i].v
            turned = R @ wrenches[i].w + ca.cross(p, pushed)
            frame.own[i] = frame.own[i].without_force(Spatial(turned, pushed))
    return frame


def _placed(S: Subspace, R: SX, p: SX) -> Spatial:
    """The columns of S seen from the frame in which its body has the pose (R, p)."""
    w = R @ ca.horzcat(*(column.w for column in S.columns))
    v = R @ ca.horzcat(*(column.v for column in S.columns))
    return Spatial(w, v + ca.skew(p) @ w)


def crossed(v: Spatial, x: Spatial) -> Spatial:
    """v x X of motions, column by column."""
    W, V = ca.skew(v.w), ca.skew(v.v)
    return Spatial(W @ x.w, W @ x.v + V @ x.w)


def combined(x: Spatial, factors: SX) -> Spatial:
    """X c: the columns combined; ``factors`` (k, j)."""
    return Spatial(x.w @ factors, x.v @ factors)


def projected(x: Spatial, f: Spatial) -> SX:
    """X^T F (k, j) of motions and forces."""
    return x.w.T @ f.w + x.v.T @ f.v


def crossed_forces(x: Spatial, f: Spatial) -> Spatial:
    """X x* f of motions and one force, column by column."""
    N, F = ca.skew(-f.w), ca.skew(-f.v)
    return Spatial(N @ x.w + F @ x.v, F @ x.w)
