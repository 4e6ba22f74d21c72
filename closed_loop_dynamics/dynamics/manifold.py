"""Rates of the positions y: the same as yd, but for the free flyer's pose (7) and twist (6).

Traced for the native integrator (``engine/stepper.py``); ``coordinates.py`` has the same in
NumPy, with the exponential and the logarithm of SE(3).
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..spatial import SX
from .joints import normalised, position_rate


def trace_kinematics(mech: Mechanism) -> tuple[SX, SX]:
    """CasADi functions (y, yd) -> dy/dt and y -> y with its quaternion normalised."""
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
