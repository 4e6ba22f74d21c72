"""The inverse-dynamics regressor in minimal coordinates: tau_y = W(y, yd, ydd) pi, exactly.

Kane's form: the wrench of a body is linear in its parameters, f_i = A_i pi_i, and reaches tau_y
through the body's partial velocities, v_i = J_i yd, so W_i = J_i^T A_i (Atkeson, An and Hollerbach
1986 for A_i). Loops enter with J_i = X_i J_parent + S_i G_i alone. The columns of a joint follow
from its row of G. The order of pi is that of ``dynamics/parameters``.
"""

from __future__ import annotations

import numpy as np

from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..model.tree import FLOATING
from ..spatial import SX, Spatial, cross, skew
from .actuation import actuator_forces
from .joint_forces import coulomb_direction
from .motion import Motion, base_acceleration
from .parameters import BODY, JOINT, jointed, parameter_count

#: Body -> {independent velocity -> partial velocity of the body in its own frame}.
PartialVelocities = dict[int, dict[int, Spatial]]


def regressor(motion: Motion, ydd: SX) -> tuple[SX, list[SX]]:
    """W (p, parameters), and the checks of the actuators' map."""
    return actuator_forces(motion, generalized_regressor(motion, ydd))


def generalized_regressor(motion: Motion, ydd: SX) -> SX:
    """W_y (m, parameters)."""
    mech = motion.mechanism
    W = ca.SX(mech.m, parameter_count(mech))
    qdd = motion.accelerations(ydd)
    rows_of_G = {b: _row(motion, b) for b in jointed(mech)}
    J = _partial_velocities(motion, rows_of_G)
    for i, (v, a) in enumerate(_velocities_and_accelerations(motion, qdd)):
        A = body_regressor(v, a)
        for k, partial in J[i].items():
            W[k, len(BODY) * i : len(BODY) * (i + 1)] = partial.stacked.T @ A
    start = len(BODY) * len(mech.tree.bodies)
    for j, b in enumerate(jointed(mech)):
        columns = [qdd[b], motion.qd[b], coulomb_direction(motion, b)]
        for k, G_bk in rows_of_G[b].items():
            for c in range(len(JOINT)):
                W[k, start + len(JOINT) * j + c] = G_bk * columns[c]
    return ca.densify(W)


def body_regressor(v: Spatial, a: Spatial) -> SX:
    """A (6, 10): [moment; force] of a body that moves with v and accelerates with a, per pi."""
    classical = a.v + cross(v.w, v.v)  # of the frame's origin, gravity included
    W = skew(v.w)
    zero = ca.SX(np.zeros((3, 6)))
    moment = ca.horzcat(
        ca.SX(np.zeros(3)), -skew(classical), _inertia_map(a.w) + W @ _inertia_map(v.w)
    )
    force = ca.horzcat(classical, skew(a.w) + W @ W, zero)
    return ca.vertcat(moment, force)


def _inertia_map(w: SX) -> SX:
    """(3, 6) L with I w = L (I_xx, I_xy, I_yy, I_xz, I_yz, I_zz)."""
    zero = ca.SX(0.0)
    return ca.vertcat(
        ca.horzcat(w[0], w[1], zero, w[2], zero, zero),
        ca.horzcat(zero, w[0], w[1], zero, w[2], zero),
        ca.horzcat(zero, zero, zero, w[0], w[1], w[2]),
    )


def _row(motion: Motion, body: int) -> dict[int, SX]:
    """Row of G of a joint: independent velocity -> qd per unit of it."""
    mech = motion.mechanism
    c = next(c for c, component in enumerate(mech.components) if body in component.joints)
    component, G = mech.components[c], ca.sparsify(motion.loops[c].G)
    i = component.joints.index(body)
    return {
        mech.v_at[y]: G[i, k]
        for k, y in enumerate(component.independent)
        if G.sparsity().has_nz(i, k)
    }


def _partial_velocities(motion: Motion, rows_of_G: dict[int, dict[int, SX]]) -> PartialVelocities:
    mech: Mechanism = motion.mechanism
    J: PartialVelocities = {-1: {}}
    for i, body in enumerate(mech.tree.bodies):
        X, S = motion.X[i], motion.S[i]
        J[i] = {k: X.motion_to_child(partial) for k, partial in J[body.parent].items()}
        if body.joint.kind == FLOATING:
            J[i] = {k: Spatial.of(ca.SX(np.eye(6)[:, k])) for k in range(6)}
            continue
        for k, G_ik in rows_of_G[i].items():
            J[i][k] = J[i].get(k, Spatial.zero()) + S * G_ik
    return J


def _velocities_and_accelerations(
    motion: Motion, qdd: dict[int, SX]
) -> list[tuple[Spatial, Spatial]]:
    """Of every body, in body frames; gravity is an acceleration of the root."""
    mech = motion.mechanism
    v: dict[int, Spatial] = {-1: Spatial.zero()}
    a: dict[int, Spatial] = {-1: base_acceleration(mech)}
    for i, body in enumerate(mech.tree.bodies):
        X = motion.X[i]
        free = body.joint.kind == FLOATING
        vJ = Spatial.of(motion.qd[i]) if free else motion.S[i] * motion.qd[i]
        aJ = Spatial.of(qdd[i]) if free else motion.S[i] * qdd[i]
        v[i] = X.motion_to_child(v[body.parent]) + vJ
        a[i] = X.motion_to_child(a[body.parent]) + aJ
        if not free:
            a[i] = a[i] + v[i].cross_motion(vJ)
    return [(v[i], a[i]) for i in range(len(mech.tree.bodies))]
