"""Centroidal quantities: centre of mass, momentum about it, and the energy of the whole robot.

Orin, Goswami and Lee 2013: h_G = A_G qd by composite inertias; with loops A_G G. Momenta are
[angular; linear] about the centre of mass in the axes of the root frame (world, for a floating
base). Reflected rotor inertia (``actuators`` of the file) has energy, but no place in the momentum:
it is a number at a joint, not a body. Rotors that are bodies of the tree count in both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.symbolic import ca
from ..spatial import SX, Spatial, Transform, cross, skew
from .joint_forces import rotor_inertia
from .motion import Motion, rigid_inertia
from .outward import velocities
from .projection import loop_jacobian


def body_poses(motion: Motion) -> tuple[dict[int, SX], dict[int, SX]]:
    """Orientation R and origin p of every body in the root frame."""
    R: dict[int, SX] = {}
    p: dict[int, SX] = {}
    for i, body in enumerate(motion.mechanism.tree.bodies):
        R_i, p_i = motion.X[i].matrix
        if body.parent >= 0:
            p_i = p[body.parent] + R[body.parent] @ p_i
            R_i = R[body.parent] @ R_i
        R[i], p[i] = R_i, p_i
    return R, p


def center_of_mass(motion: Motion) -> tuple[SX, SX]:
    """(3, 1) in the root frame [m], and the mass of all moving bodies [kg]."""
    R, p = body_poses(motion)
    mass, first_moment = ca.SX(0.0), ca.SX(np.zeros(3))
    for i in R:
        body = rigid_inertia(motion.mechanism, i)
        mass += body.mass
        first_moment += R[i] @ body.h + body.mass * p[i]
    return first_moment / mass, mass


def momentum_and_energy(motion: Motion) -> list[SX]:
    """Centre of mass (3), its velocity (3), h_G (6), kinetic and potential energy (2)."""
    mech, bodies = motion.mechanism, motion.mechanism.tree.bodies
    v, _ = velocities(motion)
    h: dict[int, Spatial] = {-1: Spatial.zero()}
    kinetic = ca.SX(0.0)
    for i in range(len(bodies)):
        h[i] = rigid_inertia(mech, i).apply(v[i])
        kinetic += 0.5 * rotor_inertia(mech, i) * ca.sumsqr(motion.qd[i])
        kinetic += 0.5 * v[i].dot(h[i])
    for i in reversed(range(len(bodies))):
        h[bodies[i].parent] = h[bodies[i].parent] + motion.X[i].force_to_parent(h[i])
    (com, mass), root = center_of_mass(motion), h[-1]
    about_com = ca.vertcat(root.w - cross(com, root.v), root.v)
    potential = -mass * ca.dot(ca.SX(np.array(mech.gravity)), com)
    return [com, root.v / mass, about_com, kinetic, potential]


def centroidal_matrix(motion: Motion) -> SX:
    """A_G (6, m): h_G = A_G yd."""
    mech, bodies = motion.mechanism, motion.mechanism.tree.bodies
    R, p = body_poses(motion)
    composite: dict[int, Any] = {i: rigid_inertia(mech, i) for i in range(len(bodies))}
    A = ca.SX(6, mech.n)
    for i in reversed(range(len(bodies))):
        parent = bodies[i].parent
        if parent >= 0:
            composite[parent] = composite[parent] + motion.X[i].inertia_to_parent(composite[i])
        to_root = Transform(((R[i], p[i]),))
        for k, S in enumerate(motion.S[i].columns):
            A[:, mech.qd.at[i] + k] = to_root.force_to_parent(composite[i].apply(S)).stacked
    A = A @ loop_jacobian(motion)
    com, _ = center_of_mass(motion)
    return ca.vertcat(A[:3, :] - skew(com) @ A[3:, :], A[3:, :])
