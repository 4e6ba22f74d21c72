"""Derivatives of state, inverse and forward dynamics, by name.

Columns are those of yd: with a floating base, derivatives by y are along the directions of
``Robot.integrate`` (the body twist of the base), as y itself has a quaternion. Wrenches and
actuator forces stay what they are, in their own frames. See docs/derivatives.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..arrays import Array


class ForceDerivatives(NamedTuple):
    """Of actuator forces (p rows) or of independent forces (m rows).

    Attributes:
        dtau_dy, dtau_dyd, dtau_dydd: (p or m, m); the last is G_u^-T M_y, or M_y.
    """

    dtau_dy: Array
    dtau_dyd: Array
    dtau_dydd: Array


class AccelerationDerivatives(NamedTuple):
    """Of the independent accelerations.

    Attributes:
        dydd_dy, dydd_dyd: (m, m); dydd_dtau: (m, p) = M_y^-1 G_u^T.
    """

    dydd_dy: Array
    dydd_dyd: Array
    dydd_dtau: Array


class StateDerivatives(NamedTuple):
    """Of q, qd and qdd, each (n, m); of positions q, the velocities qd that they would have.

    Second derivatives are symmetric, so that G and its rates along the motion say it all.

    Attributes:
        dq_dy: G, which is dqd_dyd and dqdd_dydd too.
        dqd_dy: dG/dt; dqdd_dy: d2G/dt2; dqdd_dyd: 2 dG/dt.
    """

    dq_dy: Array
    dqd_dy: Array
    dqdd_dy: Array
    dqdd_dyd: Array

    @staticmethod
    def of(found: Mapping[str, Array]) -> StateDerivatives:
        """From the outputs of its program."""
        return StateDerivatives(found["G"], found["Gd"], found["Gdd"], 2.0 * found["Gd"])
