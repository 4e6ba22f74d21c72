"""Positions and velocities of the spanning tree from the independent coordinates, traced.

This is where q = gamma(y), qd = G yd and qdd = G ydd + g enter; the algorithms next door only see
their results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..closure.closure import Linearised
from ..closure.cut_joint import joint_pose
from ..closure.numerical import CLOSURE_TOLERANCE
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..model.tree import FLOATING, PRISMATIC
from ..spatial import SX, RigidInertia, Spatial, Transform, rotation, rotation_of_quaternion, sx

if TYPE_CHECKING:
    from .parameters import Parameters

#: Smallest squared norm of a quaternion that still names a direction.
QUATERNION = 1e-12


@dataclass(frozen=True)
class Motion:
    """A traced state.

    Attributes:
        q: body -> position (scalar, or 7 for the free flyer); qd: body -> velocity.
        loops: component -> G, g, checks.
        X: body -> transform to the parent body; S: body -> joint axis as a motion vector.
        yd: the independent velocities, None when the motion has positions only.
        parameters: inertias and friction as symbols, None when the model's numbers count.
    """

    mechanism: Mechanism
    q: dict[int, SX]
    qd: dict[int, SX]
    loops: dict[int, Linearised]
    X: dict[int, Transform]
    S: dict[int, Spatial]
    yd: SX | None
    parameters: Parameters | None = None

    def inertia(self, body: int) -> RigidInertia:
        """Inertia of one body: the model's, or what the program was given."""
        if self.parameters is not None:
            return self.parameters.bodies[body]
        return rigid_inertia(self.mechanism, body)

    def reduce(self, tree_forces: dict[int, SX]) -> SX:
        """tau_y = G^T tau, (m, 1)."""
        mech = self.mechanism
        result = ca.SX(np.zeros(mech.m))
        for c, component in enumerate(mech.components):
            if mech.is_floating(c):
                result[:6] = tree_forces[0]
                continue
            local = ca.vertcat(*(tree_forces[b] for b in component.joints))
            reduced = self.loops[c].G.T @ local
            for k, body in enumerate(component.independent):
                result[mech.v_at[body]] = reduced[k]
        return result

    def local_velocities(self, c: int, vector: SX) -> SX:
        """The part of an (m, 1) vector that belongs to component ``c``."""
        mech = self.mechanism
        return ca.vertcat(*(vector[mech.v_at[b]] for b in mech.components[c].independent))

    def accelerations(self, ydd: SX) -> dict[int, SX]:
        """qdd = G ydd + g per body."""
        mech = self.mechanism
        result: dict[int, SX] = {}
        for c, component in enumerate(mech.components):
            if mech.is_floating(c):
                result[0] = ydd[:6]
                continue
            local = self.loops[c].G @ self.local_velocities(c, ydd) + self.loops[c].g
            for i, b in enumerate(component.joints):
                result[b] = local[i]
        return result

    def stacked(self, values: dict[int, SX]) -> SX:
        """Per-body values as one vector in the order of q (or qd)."""
        return ca.vertcat(*(values[b] for b in self.mechanism.spanning))

    @property
    def checks(self) -> list[SX]:
        """Values that must be positive: the quaternion's norm, then loops, then functions."""
        mech = self.mechanism
        upright = [ca.sumsqr(self.q[0][3:]) - QUATERNION] if mech.floating else []
        closed = [check for c in mech.loops + mech.functions for check in self.loops[c].checks]
        return upright + closed

    @property
    def slopes(self) -> list[SX]:
        """Rows of G of the Newton unknowns, row by row, for the seeds."""
        return [ca.vec(self.loops[c].slope.T) for c in self.mechanism.numerical]


def trace_motion(mech: Mechanism, y: SX, x: SX, yd: SX | None) -> Motion:
    """Close the loops symbolically: ``x`` are the unknowns that the Newton loops have found."""
    q: dict[int, SX] = {}
    qd: dict[int, SX] = {}
    loops: dict[int, Linearised] = {}
    for c, (component, closure) in enumerate(zip(mech.components, mech.closures, strict=True)):
        if mech.is_floating(c):
            q[0] = y[:7]
            if yd is not None:
                qd[0] = yd[:6]
            continue
        y_local = ca.vertcat(*(y[mech.y_at[b]] for b in component.independent))
        start = mech.x_at[c]
        q_local = closure.assemble(y_local, x[start : start + closure.n_x])
        qd_of = None
        if yd is not None:
            yd_local = ca.vertcat(*(yd[mech.v_at[b]] for b in component.independent))

            def qd_of(G: SX, yd_local: SX = yd_local) -> SX:
                return G @ yd_local

        loops[c] = closure.linearise(q_local, qd_of, CLOSURE_TOLERANCE)
        qd_local = qd_of(loops[c].G) if qd_of is not None else None
        for i, b in enumerate(component.joints):
            q[b] = q_local[i]
            if qd_local is not None:
                qd[b] = qd_local[i]
    X = {b: _transform(mech, b, q[b]) for b in range(len(mech.tree.bodies))}
    S = {b: _axis(mech, b) for b in range(len(mech.tree.bodies))}
    return Motion(mech, q, qd, loops, X, S, yd)


def _transform(mech: Mechanism, body: int, q: SX) -> Transform:
    joint = mech.tree.bodies[body].joint
    placement = sx(joint.placement[:3, :3]), sx(joint.placement[:3, 3])
    if joint.kind == FLOATING:
        return Transform((placement, (rotation_of_quaternion(q[3:]), q[:3])))
    if joint.kind == PRISMATIC:
        return Transform((joint_pose(mech.tree, body, q),))
    return Transform((placement, (rotation(joint.axis, q), sx(np.zeros(3)))))


def _axis(mech: Mechanism, body: int) -> Spatial:
    joint = mech.tree.bodies[body].joint
    zero = sx(np.zeros(3))
    if joint.kind == PRISMATIC:
        return Spatial(zero, sx(joint.axis))
    return Spatial(sx(joint.axis), zero)


def rigid_inertia(mech: Mechanism, body: int) -> RigidInertia:
    """Inertia of one body as constants."""
    b = mech.tree.bodies[body]
    return RigidInertia(ca.SX(b.mass), ca.SX(b.first_moment), ca.SX(b.inertia))


def base_acceleration(mech: Mechanism) -> Spatial:
    """Gravity enters as an upward acceleration of the root."""
    return Spatial(sx(np.zeros(3)), sx(-np.array(mech.gravity)))
