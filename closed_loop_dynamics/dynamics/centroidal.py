"""Centroidal quantities: centre of mass, momentum about it, and the energy of the whole robot.

Orin, Goswami and Lee 2013: h_G = A_G qd by composite inertias; with loops A_G G. Momenta are
[angular; linear] about the centre of mass in the axes of the root frame (world, for a floating
base). Reflected rotor inertia (``actuators`` of the file) has energy, but no place in the momentum:
it is a number at a joint, not a body. Rotors that are bodies of the tree count in both.
"""

from __future__ import annotations

import numpy as np

from ..engine.symbolic import ca
from ..spatial import SX, Spatial, Transform
from .motion import Motion
from .outward import body_poses, velocities
from .projection import composite_inertias, loop_jacobian
from .springs import spring_energy


def center_of_mass(motion: Motion) -> SX:
    """(3, 1) in the root frame [m]."""
    R, p = body_poses(motion)
    mass, first_moment = ca.SX(0.0), ca.SX(np.zeros(3))
    for i, body in motion.inertia.items():
        mass += body.mass
        first_moment += R[i] @ body.h + body.mass * p[i]
    return first_moment / mass


def momentum_and_energy(motion: Motion) -> dict[str, SX]:
    """Centre of mass (3), its velocity (3), h_G (6), kinetic and potential energy (2)."""
    mech, bodies = motion.mechanism, motion.mechanism.tree.bodies
    v, _ = velocities(motion)
    h: dict[int, Spatial] = {-1: Spatial.zero()}
    kinetic = ca.SX(0.0)
    for i in range(len(bodies)):
        h[i] = motion.inertia[i].apply(v[i])
        kinetic += 0.5 * motion.joints[i].rotor_inertia * ca.sumsqr(motion.qd[i])
        kinetic += 0.5 * v[i].dot(h[i])
    for i in reversed(range(len(bodies))):
        h[bodies[i].parent] = h[bodies[i].parent] + motion.X[i].force_to_parent(h[i])
    com, mass, root = center_of_mass(motion), sum(body.mass for body in bodies), h[-1]
    return {
        "center_of_mass": com,
        "velocity": root.v / mass,
        "momentum": ca.vertcat(root.w - ca.cross(com, root.v), root.v),
        "kinetic": kinetic,
        "potential": -mass * ca.dot(ca.SX(np.array(mech.gravity)), com) + spring_energy(motion),
    }


def centroidal_matrix(motion: Motion) -> SX:
    """A_G (6, m): h_G = A_G yd."""
    mech, (R, p) = motion.mechanism, body_poses(motion)
    A = ca.SX(6, mech.n)
    for i, composite in composite_inertias(motion, motion.inertia).items():
        to_root = Transform(((R[i], p[i]),))
        for k, S in enumerate(motion.S[i].columns):
            A[:, mech.qd.at[i] + k] = to_root.force_to_parent(composite.apply(S)).stacked
    A = A @ loop_jacobian(motion)
    com = center_of_mass(motion)
    return ca.vertcat(A[:3, :] - ca.skew(com) @ A[3:, :], A[3:, :])
