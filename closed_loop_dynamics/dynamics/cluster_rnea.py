"""Cluster RNEA: inverse dynamics of the closed-loop robot in one outward and one inward pass.

Chignoli et al., C-RNEA, and the modular RNEA of Kumar and Mueller 2019. A cluster's motion subspace
is S_C = X_intra diag(S_i) G; multiplying G in at the ends (qd = G yd, qdd = G ydd + g going out,
tau_y = G^T tau coming in) costs less than forming it, and is the same sum.
"""

from __future__ import annotations

from ..spatial import SX, Spatial
from .motion import Motion
from .newton_euler import tree_forces


def cluster_rnea(
    motion: Motion, ydd: SX | None, wrenches: dict[int, Spatial] | None = None, gravity: bool = True
) -> SX:
    """tau_y (m, 1) [N or N m] of the motion with independent accelerations ``ydd``.

    ``ydd=None`` with velocities gives the bias C_y (g counts); without velocities,
    gravity and springs.
    """
    qdd = motion.bias if ydd is None else motion.accelerations(ydd)
    return motion.reduce(tree_forces(motion, qdd, wrenches, gravity))
