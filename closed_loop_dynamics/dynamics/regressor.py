"""The inverse-dynamics regressor in minimal coordinates: tau_y = W(y, yd, ydd) pi, exactly.

Kane's form: the wrench of a body is linear in its parameters, f_i = A_i pi_i, and reaches tau_y
through the body's partial velocities, v_i = J_i yd, so W_i = J_i^T A_i (Atkeson, An and Hollerbach
1986 for A_i). Loops enter with J_i = X_i J_parent + S_i G_i alone. The columns of a joint follow
from its row of G. The order of pi is that of ``dynamics/parameters``.
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..spatial import SX, Spatial
from .actuation import actuator_forces
from .joint_forces import coulomb_direction
from .motion import Motion, base_acceleration
from .outward import accelerations, velocities
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
    rows_of_G = _rows_of_G(motion)
    J = _partial_velocities(motion, rows_of_G)
    v, c = velocities(motion)
    a = accelerations(motion, c, qdd, base_acceleration(mech))
    for i in range(len(mech.tree.bodies)):
        A = body_regressor(v[i], a[i])
        for k, partial in J[i].items():
            W[k, len(BODY) * i : len(BODY) * (i + 1)] = partial.stacked.T @ A
    start = len(BODY) * len(mech.tree.bodies)
    for j, b in enumerate(jointed(mech)):
        columns = [qdd[b], motion.qd[b], coulomb_direction(motion, b)]
        for k, G_bk in rows_of_G[b].items():
            for i, column in enumerate(columns):
                W[k, start + len(JOINT) * j + i] = G_bk * column
    return ca.densify(W)


def body_regressor(v: Spatial, a: Spatial) -> SX:
    """A (6, 10): [moment; force] of a body that moves with v and accelerates with a, per pi."""
    classical = a.v + ca.cross(v.w, v.v)  # of the frame's origin, gravity included
    W = ca.skew(v.w)
    inertia = _inertia_map(a.w) + W @ _inertia_map(v.w)
    moment = ca.horzcat(ca.SX.zeros(3), -ca.skew(classical), inertia)
    force = ca.horzcat(classical, ca.skew(a.w) + W @ W, ca.SX.zeros(3, 6))
    return ca.vertcat(moment, force)


def _inertia_map(w: SX) -> SX:
    """(3, 6) L with I w = L (I_xx, I_xy, I_yy, I_xz, I_yz, I_zz)."""
    zero = ca.SX(0.0)
    return ca.vertcat(
        ca.horzcat(w[0], w[1], zero, w[2], zero, zero),
        ca.horzcat(zero, w[0], w[1], zero, w[2], zero),
        ca.horzcat(zero, zero, zero, w[0], w[1], w[2]),
    )


def _rows_of_G(motion: Motion) -> dict[int, dict[int, SX]]:
    """Body -> {independent velocity -> (n_v, 1) velocities of the joint per unit of it}."""
    mech = motion.mechanism
    result: dict[int, dict[int, SX]] = {}
    for c, component in enumerate(mech.components):
        G, slots = ca.sparsify(motion.loops[c].G), mech.yd.slots(component.independent)
        for b, rows in mech.velocities(component.joints).rows.items():
            blocks = {at: G[rows, k] for k, at in enumerate(slots)}
            result[b] = {at: ca.densify(block) for at, block in blocks.items() if block.nnz()}
    return result


def _partial_velocities(motion: Motion, rows_of_G: dict[int, dict[int, SX]]) -> PartialVelocities:
    J: PartialVelocities = {-1: {}}
    for i, body in enumerate(motion.mechanism.tree.bodies):
        X, S = motion.X[i], motion.S[i]
        J[i] = {k: X.motion_to_child(partial) for k, partial in J[body.parent].items()}
        for k, G_ik in rows_of_G[i].items():
            J[i][k] = J[i].get(k, Spatial.zero()) + S @ G_ik
    return J
