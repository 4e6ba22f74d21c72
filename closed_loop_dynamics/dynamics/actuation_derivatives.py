"""Derivatives of the forces in independent and in actuator coordinates: the loops' own share.

Forces of the tree reach the independent coordinates through G^T, those of the actuators through
G_u^T, and both change with y. As G_u^T tau_u = G^T tau,

    G_u^T dtau_u = G^T dtau + d(G^T)(tau - Q^T tau_u)

where tau - Q^T tau_u are the forces on the joints that the loops' constraints must hold: one
curvature for both (``closure/closure.py``). With more actuators than degrees of freedom tau_u is
the solution of minimum norm, G_u z, and z changes with G_u as well.
"""

from __future__ import annotations

from ..closure.small_linear import solve_small
from ..engine.symbolic import ca
from ..spatial import SX
from .actuation import actuator_forces, actuator_jacobian, determined
from .cluster_rnea_derivatives import ForceDerivatives
from .loop_rates import curvature, rate_at
from .motion import Motion


def with_curvature(motion: Motion, forces: ForceDerivatives, tau_u: SX | None = None) -> SX:
    """dtau_y/dy (m, m) of the tree's forces, or, with ``tau_u`` (p, 1) constant, of
    tau_y - G_u^T tau_u."""
    mech = motion.mechanism
    left = dict(forces.tree)
    if tau_u is not None:
        left.update({b: left[b] - tau_u[k] for k, b in enumerate(mech.actuator)})
    dy = ca.SX(forces.dy)
    for c, component in enumerate(mech.components):
        if mech.closures[c].constant_jacobian is None:
            at = mech.yd.slots(component.independent)
            dy[at, at] = dy[at, at] + curvature(motion, c, left)
    return dy


def actuator_force_derivatives(
    motion: Motion, forces: ForceDerivatives
) -> tuple[SX, SX, SX, list[SX]]:
    """dtau_u/dy, dtau_u/dyd, dtau_u/dydd (p, m), and the checks of inverse dynamics."""
    mech, m = motion.mechanism, motion.mechanism.m
    tau_y = motion.reduce(forces.tree)
    tau_u, checks = actuator_forces(motion, tau_y)
    dy = with_curvature(motion, forces, tau_u)
    turned = ca.SX(mech.p, m)
    for c in determined(mech):
        component = mech.components[c]
        if len(component.active) == len(component.independent) or (
            mech.closures[c].constant_jacobian is not None
        ):
            continue
        G_u, at = ca.densify(actuator_jacobian(motion, c)), mech.yd.slots(component.independent)
        z, _ = solve_small(ca.densify(G_u.T @ G_u), ca.densify(tau_y[at]))
        own = rate_at(motion, c, z)[[component.joints.index(b) for b in component.active], :]
        turned[[mech.actuator.index(b) for b in component.active], at] = own
        dy[at, at] = dy[at, at] - G_u.T @ own
    found, _ = actuator_forces(motion, ca.densify(ca.horzcat(dy, forces.dyd, forces.dydd)))
    return found[:, :m] + turned, found[:, m : 2 * m], found[:, 2 * m :], checks
