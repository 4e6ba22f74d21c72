"""What a joint adds by itself: friction and rotor inertia (``actuators`` of the file)."""

from __future__ import annotations

from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..model.submechanism import ActuatorModel
from ..spatial import SX
from .motion import Motion

#: Speed at which smoothed dry friction has reached 76 % of its value [rad/s or m/s].
STICTION_SPEED = 1e-2


def _actuator(mech: Mechanism, body: int) -> ActuatorModel | None:
    name = mech.joint_name(body)
    return next((e.actuators[name] for e in mech.entries if name in e.actuators), None)


def joint_friction(motion: Motion, body: int) -> SX:
    """Viscous and Coulomb friction force that the joint must overcome."""
    model = _actuator(motion.mechanism, body)
    if model is None or motion.yd is None:
        return ca.SX(0.0)
    qd = motion.qd[body]
    force = ca.SX(0.0)
    if model.viscous_friction:
        force = force + model.viscous_friction * qd
    if model.coulomb_friction:
        force = force + model.coulomb_friction * ca.sign(qd)
    return force


def rotor_inertia(mech: Mechanism, body: int) -> float:
    """Inertia of the rotor as the joint feels it [kg m^2 or kg]."""
    model = _actuator(mech, body)
    return 0.0 if model is None else model.rotor_inertia


def smooth_friction(motion: Motion, coefficients: SX) -> dict[int, SX]:
    """Friction forces on every body's joint, for integration: viscous and smoothed Coulomb.

    ``coefficients`` (2 n): viscous, then Coulomb, both in the order of qd.
    """
    mech = motion.mechanism
    viscous, coulomb = coefficients[: mech.n], coefficients[mech.n :]
    forces: dict[int, SX] = {}
    for b in mech.spanning:
        at, size = mech.qd_at[b], 6 if mech.floating and b == 0 else 1
        rows, qd = slice(at, at + size), motion.qd[b]
        forces[b] = viscous[rows] * qd + coulomb[rows] * ca.tanh(qd / STICTION_SPEED)
    return forces
