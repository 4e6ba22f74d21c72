"""The dynamic parameters pi of a robot as a vector, in which the equations of motion are linear.

Per body ten inertial parameters in the body frame, in the order that Pinocchio uses too,

    m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz        (h = m c, I about the origin)

then per joint three: reflected rotor inertia, viscous and Coulomb friction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..spatial import SX, RigidInertia
from .motion import JointParameters, Motion, joint_numbers

BODY = ("m", "h_x", "h_y", "h_z", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz", "I_zz")
JOINT = ("rotor_inertia", "viscous_friction", "coulomb_friction")
#: Row and column of the six entries of I.
INERTIA_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


def jointed(mech: Mechanism) -> list[int]:
    """Bodies whose joints have parameters: those of one velocity."""
    return mech.scalar_joints(range(len(mech.tree.bodies)))


def parameter_count(mech: Mechanism) -> int:
    """Length of pi."""
    return len(BODY) * len(mech.tree.bodies) + len(JOINT) * len(jointed(mech))


def parameter_names(mech: Mechanism) -> tuple[str, ...]:
    """``"shank.m"``, ..., ``"knee.viscous_friction"``: links first, then joints."""
    bodies = [f"{body.link}.{word}" for body in mech.tree.bodies for word in BODY]
    joints = [f"{mech.joint_name(b)}.{word}" for b in jointed(mech) for word in JOINT]
    return (*bodies, *joints)


def body_parameters(mass: float, first_moment: Array, inertia: Array) -> Array:
    """(10,) of one body; ``inertia`` (3, 3) about the origin."""
    entries = [inertia[i, j] for i, j in INERTIA_ENTRIES]
    return np.array([mass, *first_moment, *entries], dtype=float)


def model_parameters(mech: Mechanism) -> Array:
    """pi as the model files say."""
    parts = [body_parameters(b.mass, b.first_moment, b.inertia) for b in mech.tree.bodies]
    parts += [np.array(joint_numbers(mech, b)) for b in jointed(mech)]
    return np.concatenate(parts) if parts else np.zeros(0)


@dataclass(frozen=True, eq=False)
class ParameterView:
    """A vector pi by name; all arrays are views of it and keep its leading axes.

    Attributes:
        bodies: (bodies, 10) all inertial parameters of each body.
        mass: (bodies,) [kg]; first_moment: (bodies, 3) m c [kg m] in the body frame.
        inertia: (bodies, 6) about the body's origin [kg m^2], see ``INERTIA_ENTRIES``.
        rotor_inertia, viscous_friction, coulomb_friction: (joints,) in the order of ``jointed``.
    """

    bodies: Array
    mass: Array
    first_moment: Array
    inertia: Array
    rotor_inertia: Array
    viscous_friction: Array
    coulomb_friction: Array


def parameter_view(mech: Mechanism, pi: Array) -> ParameterView:
    """``pi`` (..., parameters) of a robot by name."""
    leading, count, start = pi.shape[:-1], len(jointed(mech)), len(BODY) * len(mech.tree.bodies)
    bodies = pi[..., :start].reshape(*leading, len(mech.tree.bodies), len(BODY))
    joints = pi[..., start:].reshape(*leading, count, len(JOINT))
    return ParameterView(
        bodies,
        bodies[..., 0],
        bodies[..., 1:4],
        bodies[..., 4:],
        *(joints[..., k] for k in range(len(JOINT))),
    )


def add_friction(mech: Mechanism, pi: Array, coefficients: Array) -> Array:
    """pi with more friction: ``coefficients`` (2 n) viscous, then Coulomb, in the order of qd."""
    result = pi.copy()
    view = parameter_view(mech, result)
    places = [mech.qd.at[b] for b in jointed(mech)]
    viscous, coulomb = coefficients.reshape(2, mech.n)[:, places]
    view.viscous_friction[...] += viscous
    view.coulomb_friction[...] += coulomb
    return result


def with_parameters(motion: Motion, pi: SX) -> Motion:
    """The same motion of a robot whose parameters are the symbols ``pi``."""
    mech = motion.mechanism
    inertia = {}
    for i in range(len(mech.tree.bodies)):
        own = pi[len(BODY) * i : len(BODY) * (i + 1)]
        I = ca.SX(3, 3)
        for k, (row, column) in enumerate(INERTIA_ENTRIES):
            I[row, column] = I[column, row] = own[4 + k]
        inertia[i] = RigidInertia(own[0], own[1:4], I)
    start = len(BODY) * len(mech.tree.bodies)
    joints = {b: JointParameters(*[ca.SX(0.0)] * len(JOINT)) for b in inertia}
    for k, b in enumerate(jointed(mech)):
        own = pi[start + len(JOINT) * k : start + len(JOINT) * (k + 1)]
        joints[b] = JointParameters(own[0], own[1], own[2])
    return replace(motion, inertia=inertia, joints=joints, grouped_inertia=inertia)
