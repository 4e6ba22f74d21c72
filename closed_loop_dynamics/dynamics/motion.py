"""Positions and velocities of the spanning tree from the independent coordinates, traced.

This is where q = gamma(y), qd = G yd and qdd = G ydd + g enter; the algorithms next door only see
their results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..closure.closure import Linearised
from ..closure.numerical import CLOSURE_TOLERANCE
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..model.submechanism import ActuatorModel, JointFriction
from ..spatial import SX, RigidInertia, Spatial, Subspace, Transform, sx
from .joints import joint_checks, joint_transform, normalised, position_rate
from .regrouping import regrouped


class JointParameters(NamedTuple):
    """What a joint adds by itself: reflected inertia of its rotor, viscous and Coulomb friction."""

    rotor_inertia: SX
    viscous: SX
    coulomb: SX


@dataclass(frozen=True)
class Motion:
    """A traced state.

    Attributes:
        q: body -> position (n_q, 1) of its joint; qd: body -> velocity (n_v, 1), zeros at rest.
        loops: component -> G, g, checks.
        X: body -> transform to the parent body; S: body -> motion subspace (6, n_v) of its joint.
        yd: the independent velocities, None when the motion has positions only.
        inertia, joints: of every body and its joint, the model's numbers or what the program is
            given (``dynamics/parameters``).
        grouped_inertia: for what is in joint coordinates, the same dynamics for less work
            (``dynamics/regrouping``).
    """

    mechanism: Mechanism
    q: dict[int, SX]
    qd: dict[int, SX]
    loops: dict[int, Linearised]
    X: dict[int, Transform]
    S: dict[int, Subspace]
    yd: SX | None
    inertia: dict[int, RigidInertia]
    joints: dict[int, JointParameters]
    grouped_inertia: dict[int, RigidInertia]

    def reduce(self, tree_forces: dict[int, SX]) -> SX:
        """tau_y = G^T tau, (m, 1)."""
        mech = self.mechanism
        result = ca.SX(np.zeros(mech.m))
        for c, component in enumerate(mech.components):
            tau = ca.vertcat(*(tree_forces[b] for b in component.joints))
            result[mech.yd.slots(component.independent)] = self.loops[c].G.T @ tau
        return result

    def accelerations(self, ydd: SX) -> dict[int, SX]:
        """qdd = G ydd + g per body."""
        mech = self.mechanism
        result: dict[int, SX] = {}
        for c, component in enumerate(mech.components):
            loop = self.loops[c]
            qdd = loop.G @ ydd[mech.yd.slots(component.independent)] + loop.g
            for b, rows in mech.velocities(component.joints).rows.items():
                result[b] = qdd[rows]
        return result

    def jacobian(
        self, components: Sequence[int], bodies: Sequence[int], independent: Sequence[int]
    ) -> SX:
        """G of some components, rows in the order of ``bodies``, columns of ``independent``."""
        G = {c: self.loops[c].G for c in components}
        return self.arranged(G, components, bodies, independent)

    def arranged(
        self,
        blocks_of: Mapping[int, SX],
        components: Sequence[int],
        bodies: Sequence[int],
        independent: Sequence[int],
    ) -> SX:
        """Component -> a matrix shaped like its G, as one matrix like :meth:`jacobian`."""
        mech = self.mechanism
        parts = [mech.components[c] for c in components]
        blocks = ca.diagcat(*(ca.sparsify(blocks_of[c]) for c in components))
        rows = mech.velocities(b for part in parts for b in part.joints)
        columns = mech.velocities(b for part in parts for b in part.independent)
        return blocks[rows.slots(bodies), columns.slots(independent)]

    @property
    def bias(self) -> dict[int, SX]:
        """g per body: qdd while ydd = 0."""
        return self.accelerations(ca.SX.zeros(self.mechanism.m))

    def stacked(self, values: dict[int, SX]) -> SX:
        """Per-body values as one vector in the order of q (or qd)."""
        return ca.vertcat(*(values[b] for b in self.mechanism.spanning))

    @property
    def checks(self) -> list[SX]:
        """Values that must be positive: of the joints' positions, then loops, then functions."""
        mech = self.mechanism
        placed = [check for b in mech.turning for check in joint_checks(mech.joint(b), self.q[b])]
        closed = [check for c in mech.loops + mech.functions for check in self.loops[c].checks]
        return placed + closed

    @property
    def slopes(self) -> list[SX]:
        """Rows of G of the Newton unknowns, row by row, for the seeds."""
        return [ca.vec(self.loops[c].slope.T) for c in self.mechanism.numerical]


def trace_motion(
    mech: Mechanism, y: SX, x: SX, yd: SX | None, tolerance: float = CLOSURE_TOLERANCE
) -> Motion:
    """Close the loops symbolically: ``x`` are the unknowns that the Newton loops have found.

    ``tolerance`` is what they may leave of max|phi| [m, rad].
    """
    q: dict[int, SX] = {}
    qd: dict[int, SX] = {}
    loops: dict[int, Linearised] = {}
    for c, (component, closure) in enumerate(zip(mech.components, mech.closures, strict=True)):
        y_local = y[mech.y.slots(component.independent)]
        start = mech.x_at[c]
        q_local = closure.assemble(y_local, x[start : start + closure.n_x])
        yd_local = None if yd is None else yd[mech.yd.slots(component.independent)]
        loops[c] = closure.linearise(q_local, yd_local, tolerance)
        G = loops[c].G
        qd_local = ca.SX.zeros(G.shape[0]) if yd_local is None else G @ yd_local
        for b, rows in mech.positions(component.joints).rows.items():
            q[b] = q_local[rows]
        for b, rows in mech.velocities(component.joints).rows.items():
            qd[b] = qd_local[rows]
    bodies = range(len(mech.tree.bodies))
    X = {b: joint_transform(mech.joint(b), q[b]) for b in bodies}
    S = {b: Subspace.of(mech.joint(b).S) for b in bodies}
    inertia = {b: rigid_inertia(mech, b) for b in bodies}
    joints = {b: JointParameters(*map(ca.SX, joint_numbers(mech, b))) for b in bodies}
    grouped = {b: RigidInertia(*map(ca.SX, moved)) for b, moved in enumerate(regrouped(mech.tree))}
    return Motion(mech, q, qd, loops, X, S, yd, inertia, joints, grouped)


def trace_kinematics(mech: Mechanism) -> tuple[SX, SX]:
    """CasADi functions (y, yd) -> dy/dt and y -> y with its quaternions normalised.

    dy/dt is yd but for the poses and twists of free flyers and balls. For the native integrator
    (``engine/rk4.py``); ``quantities/coordinates.py`` has the same in NumPy.
    """
    y, yd = ca.SX.sym("y", mech.n_y), ca.SX.sym("yd", mech.m)
    rate, unit = ca.SX.zeros(mech.n_y), ca.SX.zeros(mech.n_y)
    for b in mech.independent:
        joint, own = mech.joint(b), mech.y.rows[b]
        rate[own] = position_rate(joint, y[own], yd[mech.yd.rows[b]])
        unit[own] = normalised(joint, y[own])
    return (
        ca.Function("position_rate", [y, yd], [ca.densify(rate)]),
        ca.Function("normalised", [y], [ca.densify(unit)]),
    )


def rigid_inertia(mech: Mechanism, body: int) -> RigidInertia:
    """Inertia of one body as constants."""
    b = mech.tree.bodies[body]
    return RigidInertia(ca.SX(b.mass), ca.SX(b.first_moment), ca.SX(b.inertia))


def joint_model(mech: Mechanism, body: int) -> JointFriction:
    """What the file says about the joint of a body (zeros when nothing)."""
    name = mech.joint_name(body)
    models = (entry.joint_model(name) for entry in mech.entries)
    return next((model for model in models if model is not None), JointFriction())


def joint_numbers(mech: Mechanism, body: int) -> tuple[float, float, float]:
    """:class:`JointParameters` of the model; rotors as the joint feels them [kg m^2 or kg]."""
    model = joint_model(mech, body)
    rotor = model.reflected_inertia if isinstance(model, ActuatorModel) else 0.0
    return rotor, model.viscous_friction, model.coulomb_friction


def base_acceleration(mech: Mechanism) -> Spatial:
    """Gravity enters as an upward acceleration of the root."""
    return Spatial(sx(np.zeros(3)), sx(-np.array(mech.gravity)))
