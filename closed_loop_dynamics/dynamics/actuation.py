"""Between independent joints and actuators, component by component.

Forces: G_u^T tau_u = tau_y. As many actuators as degrees of freedom: a small linear solve. More:
the solution of minimum norm. Fewer: forward only (the map from tau_y back does not exist).
Velocities: G_u yd = ud, with more actuators in the sense of least squares.
"""

from __future__ import annotations

import numpy as np

from ..closure.small_linear import solve_small
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..spatial import SX
from .actuation_rank import rank_margin
from .motion import Motion


def underactuated(mech: Mechanism) -> list[int]:
    """Components with fewer actuators than degrees of freedom (the free flyer left aside)."""
    parts = mech.components
    return [c for c in mech.drivable if len(parts[c].active) < len(parts[c].independent)]


def determined(mech: Mechanism) -> list[int]:
    """Components with as many actuators as degrees of freedom, or more."""
    parts = mech.components
    return [c for c in mech.drivable if len(parts[c].active) >= len(parts[c].independent)]


def needs_solve(mech: Mechanism) -> list[int]:
    """Components whose actuator map can lose rank."""
    parts = mech.components
    return [c for c in determined(mech) if parts[c].active != parts[c].independent]


def actuator_jacobian(motion: Motion, c: int) -> SX:
    """G_u of a component."""
    component = motion.mechanism.components[c]
    rows = [component.joints.index(b) for b in component.active]
    return motion.loops[c].G[rows, :]


def independent_forces(motion: Motion, tau_u: SX) -> SX:
    """tau_y = G_u^T tau_u (m, 1)."""
    mech = motion.mechanism
    G_u = motion.jacobian(range(len(mech.components)), mech.actuator, mech.independent)
    return ca.densify(G_u.T @ tau_u)


def actuator_forces(motion: Motion, tau_y: SX) -> tuple[SX, list[SX]]:
    """tau_u (p, 1), and one check per component of :func:`needs_solve`; columns go side by side."""
    mech = motion.mechanism
    result = ca.SX(np.zeros((mech.p, tau_y.shape[1])))
    slot = {b: i for i, b in enumerate(mech.actuator)}
    checks = []
    for c in determined(mech):
        component = mech.components[c]
        local = tau_y[[mech.yd.at[b] for b in component.independent], :]
        if component.active == component.independent:
            forces = local
        else:
            G_u = actuator_jacobian(motion, c)
            if len(component.active) == len(component.independent):
                forces, det = solve_small(ca.densify(G_u.T), ca.densify(local))
            else:
                inner, det = solve_small(ca.densify(G_u.T @ G_u), ca.densify(local))
                forces = G_u @ inner
            checks.append(rank_margin(mech, c, G_u, det))
        result[[slot[b] for b in component.active], :] = forces
    return result, checks


def encoder_step(motion: Motion, u: SX, ud: SX) -> tuple[SX, SX, list[SX]]:
    """(m, 1) Newton step towards encoders that read ``u`` (p, 1), velocities of ``ud``, checks.

    Components with fewer actuators than degrees of freedom do not move; who asks has to know.
    """
    mech = motion.mechanism
    away = u - ca.vertcat(ca.SX(0, 1), *(motion.q[b] for b in mech.actuator))
    rates = ca.horzcat(away, ud)
    result = ca.SX(np.zeros((mech.m, 2)))
    slot = {b: i for i, b in enumerate(mech.actuator)}
    checks = []
    for c in determined(mech):
        component = mech.components[c]
        found = rates[[slot[b] for b in component.active], :]
        if component.active != component.independent:
            G_u = ca.densify(actuator_jacobian(motion, c))
            square = len(component.active) == len(component.independent)
            A, B = (G_u, found) if square else (G_u.T @ G_u, G_u.T @ found)
            found, det = solve_small(ca.densify(A), ca.densify(B))
            checks.append(rank_margin(mech, c, G_u, det))
        result[[mech.yd.at[b] for b in component.independent], :] = found
    return result[:, 0], result[:, 1], checks


def geometric_stiffness(motion: Motion, tau_u: SX) -> SX:
    """d(G_u^T tau_u)/dy at constant tau_u, (m, m): the sum of tau_u,k d2u_k/dy2.

    The loop bias is the quadratic form g_k = yd^T (d2q_k/dy2) yd, so its second derivative in yd
    is what is wanted, exactly and for every kind of closure.
    """
    mech = motion.mechanism
    g_u = motion.stacked(motion.bias)[[mech.qd.at[b] for b in mech.actuator], :]
    return 0.5 * ca.hessian(ca.dot(tau_u, g_u), motion.yd)[0]
