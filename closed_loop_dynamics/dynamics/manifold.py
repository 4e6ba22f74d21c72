"""Rates of the positions y: the same as yd, but for the free flyer's pose (7) and twist (6).

Traced for the native integrator (``engine/stepper.py``); ``coordinates.py`` has the same in
NumPy, with the exponential and the logarithm of SE(3).
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..spatial import SX, cross, rotation_of_quaternion


def trace_kinematics(mech: Mechanism) -> tuple[SX, SX]:
    """CasADi functions (y, yd) -> dy/dt and y -> y with its quaternion normalised."""
    y, yd = ca.SX.sym("y", mech.n_y), ca.SX.sym("yd", mech.m)
    rate, unit = yd, y
    if mech.floating:
        quaternion, omega, linear = y[3:7], yd[:3], yd[3:6]
        v, s = quaternion[:3], quaternion[3]
        # dQ/dt = Q (omega, 0) / 2 and dp/dt = R linear: the twist is in the base frame.
        turning = 0.5 * ca.vertcat(s * omega + cross(v, omega), -ca.dot(v, omega))
        moving = rotation_of_quaternion(quaternion) @ linear
        rate = ca.vertcat(moving, turning, yd[6:])
        unit = ca.vertcat(y[:3], quaternion / ca.sqrt(ca.sumsqr(quaternion)), y[7:])
    return (
        ca.Function("position_rate", [y, yd], [ca.densify(rate)]),
        ca.Function("normalised", [y], [ca.densify(unit)]),
    )
