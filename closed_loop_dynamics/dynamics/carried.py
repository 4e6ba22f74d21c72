"""What a joint carries, in the frame of its body: what changes of motion need of a subtree.

With r the places of its mass, seen from the origin of the frame, and dr/dt their velocities,
seen from that moving origin, the inertia of a subtree becomes in motion Sigma, the integral of
2 (dr/dt) r^T dm, and its momentum p, that of 2 (dr/dt) dm. The matrix B of Echeandia and Wensing
2021, as Singh, Russo and Wensing 2022 use it, is made of them alone; twice it is

    2 B x = [ (tr(Sigma) 1 - Sigma) x_w ;  -p x x_w ]

so that it has three columns, not six. An axis of the joint is a coordinate axis here, and its
products with I and B are single columns of these. A velocity that all masses have in common changes
no force: each frame leaves out that of its own origin, and linear velocities are not needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..engine.symbolic import ca
from ..spatial import SX, RigidInertia, Spatial, Transform, turned
from .motion import Motion
from .newton_euler import Moving, frames_in_motion, second_moments


class Inward(NamedTuple):
    """From the frame of a body to that of its parent body, whose origin moves otherwise.

    Attributes:
        away: (3, 1) twice the velocity of the body's origin, seen from the parent body's.
    """

    X: Transform
    away: SX

    @staticmethod
    def of(motion: Motion, body: int, parent: Moving) -> Inward:
        """From ``body``, where the frame of its parent body is in motion."""
        X = motion.X[body]
        R, p = X.matrix
        own = R @ (motion.S[body] @ motion.qd[body]).v
        return Inward(X, ca.cross(2.0 * parent.w, p) + 2.0 * own)


@dataclass(frozen=True)
class Carried:
    """Of one body, or the sum over several that hang on it.

    Attributes:
        inertia: m, h, I; sigma: (3, 3); momentum: (3, 1); force: that the motion takes.
    """

    inertia: RigidInertia
    sigma: SX
    momentum: SX
    force: Spatial

    @staticmethod
    def of(inertia: RigidInertia, moving: Moving) -> Carried:
        """One body."""
        twice = 2.0 * moving.w
        sigma = ca.skew(twice) @ second_moments(inertia.rotational)
        return Carried(inertia, sigma, ca.cross(twice, inertia.h), moving.force_on(inertia))

    def __add__(self, other: Carried) -> Carried:
        return Carried(
            self.inertia + other.inertia,
            self.sigma + other.sigma,
            self.momentum + other.momentum,
            self.force + other.force,
        )

    def moved(self, inward: Inward) -> Carried:
        """The same, seen from the parent body."""
        inertia, sigma, momentum = self.inertia, self.sigma, self.momentum
        for R, p in reversed(inward.X.steps):
            inertia, momentum = inertia.moved(R, p), R @ momentum
            sigma = turned(R, sigma) + momentum @ p.T
        sigma = sigma + inward.away @ inertia.h.T
        momentum = momentum + inertia.mass * inward.away
        return Carried(inertia, sigma, momentum, inward.X.force_to_parent(self.force))

    # Columns: pairs (3, k) of the angular and linear parts of k vectors side by side.

    def inertial(self, x: Spatial) -> Spatial:
        """I x."""
        H, mass = ca.skew(self.inertia.h), self.inertia.mass
        return Spatial(self.inertia.rotational @ x.w + H @ x.v, mass * x.v - H @ x.w)

    @property
    def _B(self) -> tuple[SX, SX]:
        """The two blocks of 2 B that are not zero."""
        return ca.trace(self.sigma) * ca.SX(np.eye(3)) - self.sigma, ca.skew(-self.momentum)

    def coriolis(self, x: Spatial) -> Spatial:
        """2 B x."""
        upper, lower = self._B
        return Spatial(upper @ x.w, lower @ x.w)

    def coriolis_rows(self, x: Spatial) -> SX:
        """(3, k) 2 B^T x: what it makes of angular displacements only."""
        upper, lower = self._B
        return upper.T @ x.w + lower.T @ x.v


class Axes(NamedTuple):
    """The columns S of a joint and their rates, in the frame of its body (k of them).

    Attributes:
        shift, drift: v_p x S and a_p x S + v_p x (v_p x S), with the velocity and the acceleration
            of the parent body: what displacements of the joint change in velocities and
            accelerations beyond it (psi' and psi'' of Singh et al. 2022). For a single axis, which
            both bodies hold, those of the body itself are the same.
        twice: 2 v_p x S.
        sum_shift: (v_p + v) x S: what velocities of the joint change in accelerations beyond it.
    """

    S: Spatial
    shift: Spatial
    drift: Spatial
    twice: Spatial
    sum_shift: Spatial

    @staticmethod
    def of(motion: Motion, body: int, parent: Moving, own: Moving) -> Axes:
        """Of the joint between two frames in motion."""
        S = motion.S[body].stacked
        if S.w.shape[1] == 1:
            still = ca.SX.zeros(3)
            twice = crossed(Spatial(2.0 * own.w, still), S)
            at, v, sum_shift = own, Spatial(own.w, still), twice
        else:
            at = parent.carried(motion.X[body])
            v = Spatial(at.w, -(motion.S[body] @ motion.qd[body]).v)
            twice = crossed(v * 2.0, S)
            sum_shift = crossed(Spatial(at.w + own.w, v.v), S)
        shift = crossed(v, S)
        drift = at.U @ S.v + ca.skew(at.a) @ S.w + 2.0 * (ca.skew(v.v) @ shift.w)
        return Axes(S, shift, Spatial(at.U @ S.w, drift), twice, sum_shift)


@dataclass(frozen=True)
class MovingTree:
    """Body -> the axes of its joint, the way to its parent body, what it carries by itself."""

    axes: dict[int, Axes]
    inward: dict[int, Inward]
    own: dict[int, Carried]

    @staticmethod
    def of(
        motion: Motion, qdd: dict[int, SX], wrenches: dict[int, Spatial] | None = None
    ) -> MovingTree:
        """With accelerations ``qdd``; ``wrenches`` act on bodies, in their frames and turning
        with them."""
        moving, tree = frames_in_motion(motion, qdd), MovingTree({}, {}, {})
        for b, body in enumerate(motion.mechanism.tree.bodies):
            tree.axes[b] = Axes.of(motion, b, moving[body.parent], moving[b])
            tree.inward[b] = Inward.of(motion, b, moving[body.parent])
            tree.own[b] = Carried.of(motion.grouped_inertia[b], moving[b])
            if wrenches and b in wrenches:
                left = tree.own[b].force - wrenches[b]
                tree.own[b] = replace(tree.own[b], force=left)
        return tree


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
