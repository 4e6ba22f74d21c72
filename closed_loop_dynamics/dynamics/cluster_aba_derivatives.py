"""Derivatives of forward dynamics, from those of inverse dynamics at its solution.

Differentiating ID(y, yd, FD(y, yd, tau_u)) = G_u^T tau_u gives (Carpentier and Mansard 2018)

    dydd/dx = -M_y^-1 d(ID - G_u^T tau_u)/dx,    dydd/dtau_u = M_y^-1 G_u^T

and M_y^-1 = W^T D^-1 W comes in the factors of ``innovations.py``: W has entries only between a
joint and those further inwards, D is a block per cluster, and M_y is never inverted.
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..spatial import SX, Spatial
from .actuation import independent_forces
from .actuation_derivatives import with_curvature
from .articulated import articulate
from .cluster_aba import cluster_aba
from .cluster_rnea_derivatives import cluster_rnea_derivatives
from .innovations import apply_inverse
from .motion import Motion


def cluster_aba_derivatives(
    motion: Motion, tau_u: SX, wrenches: dict[int, Spatial] | None = None
) -> tuple[SX, SX, SX, list[SX]]:
    """dydd/dy (m, m), dydd/dyd (m, m), dydd/dtau_u (m, p), and the pivot checks of D."""
    mech, m = motion.mechanism, motion.mechanism.m
    ydd, pivots = cluster_aba(motion, independent_forces(motion, tau_u), wrenches)
    forces = cluster_rnea_derivatives(motion, ydd, wrenches)
    G_u = motion.jacobian(range(len(mech.components)), mech.actuator, mech.independent)
    right = ca.horzcat(-with_curvature(motion, forces, tau_u), -forces.dyd, G_u.T)
    found = apply_inverse(articulate(motion), right)
    return found[:, :m], found[:, m : 2 * m], found[:, 2 * m :], pivots
