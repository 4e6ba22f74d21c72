"""What a joint adds by itself: friction and reflected rotor inertia.

Both come from the submechanism file (``actuators``, ``joint_friction``) as constants, or as inputs
of programs that take the dynamic parameters (``dynamics/parameters``).
"""

from __future__ import annotations

from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..model.submechanism import ActuatorModel, JointFriction
from ..spatial import SX
from .motion import Motion

_SMOOTH = JointFriction()


def joint_model(mech: Mechanism, body: int) -> JointFriction:
    """What the file says about the joint of a body (zeros when nothing)."""
    name = mech.joint_name(body)
    models = (entry.joint_model(name) for entry in mech.entries)
    return next((model for model in models if model is not None), _SMOOTH)


def joint_friction(motion: Motion, body: int) -> SX:
    """Viscous and Coulomb friction force that the joint must overcome."""
    model = joint_model(motion.mechanism, body)
    viscous, coulomb = ca.SX(model.viscous_friction), ca.SX(model.coulomb_friction)
    if motion.parameters is not None:
        _, viscous, coulomb = motion.parameters.joints[body]
    force = ca.SX(0.0)
    if not viscous.is_zero():
        force = force + viscous * motion.qd[body]
    if not coulomb.is_zero():
        force = force + coulomb * coulomb_direction(motion, body)
    return force


def coulomb_direction(motion: Motion, body: int) -> SX:
    """tanh(qd / coulomb_speed): the sign of qd, smooth, so that rest is an ordinary state."""
    speed = joint_model(motion.mechanism, body).coulomb_speed
    return ca.tanh(motion.qd[body] / speed)


def rotor_inertia(mech: Mechanism, body: int) -> float:
    """Inertia of the rotor as the joint feels it, gear_ratio^2 * I [kg m^2 or kg]."""
    model = joint_model(mech, body)
    return model.reflected_inertia if isinstance(model, ActuatorModel) else 0.0


def joint_inertia(motion: Motion, body: int) -> SX:
    """The same, or what the program was given in its place."""
    if motion.parameters is None:
        return ca.SX(rotor_inertia(motion.mechanism, body))
    return motion.parameters.joints[body][0]


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
