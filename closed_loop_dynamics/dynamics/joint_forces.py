"""Friction of the joints.

It comes from the submechanism file (``actuators``, ``joint_friction``) as constants, or as inputs
of programs that take the dynamic parameters (``dynamics/parameters``).
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..spatial import SX
from .motion import Motion, joint_model


def joint_friction(motion: Motion, body: int) -> SX:
    """Viscous and Coulomb friction force that the joint must overcome."""
    _, viscous, coulomb = motion.joints[body]
    force = ca.SX(0.0)
    if not viscous.is_zero():
        force = force + viscous * motion.qd[body]
    if not coulomb.is_zero():
        force = force + coulomb * coulomb_direction(motion, body)
    return force


def friction_slope(motion: Motion, body: int) -> SX:
    """d(friction)/d(qd) of a joint."""
    _, viscous, coulomb = motion.joints[body]
    if coulomb.is_zero():
        return viscous
    direction = coulomb_direction(motion, body)
    speed = joint_model(motion.mechanism, body).coulomb_speed
    return viscous + coulomb * (1.0 - direction * direction) / speed


def coulomb_direction(motion: Motion, body: int) -> SX:
    """tanh(qd / coulomb_speed): the sign of qd, smooth, so that rest is an ordinary state."""
    speed = joint_model(motion.mechanism, body).coulomb_speed
    return ca.tanh(motion.qd[body] / speed)


def smooth_friction(motion: Motion, coefficients: SX) -> dict[int, SX]:
    """Friction forces on every body's joint, for integration: viscous and smoothed Coulomb.

    ``coefficients`` (2 n): viscous, then Coulomb, both in the order of qd.
    """
    mech = motion.mechanism
    viscous, coulomb = coefficients[: mech.n], coefficients[mech.n :]
    forces: dict[int, SX] = {}
    for b in mech.spanning:
        rows = mech.qd.rows[b]
        direction = coulomb_direction(motion, b)
        forces[b] = viscous[rows] * motion.qd[b] + coulomb[rows] * direction
    return forces
