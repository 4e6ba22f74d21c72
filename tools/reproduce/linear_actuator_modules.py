"""A robot as Paz and Mattila see it: a serial chain of modules, each with one actuator.

A module is a linear-actuator loop (three hinges and a cylinder, their Fig. 1) or a single driven
joint. This file finds the modules of a mechanism and attaches the paper's frames; the algorithms
are in ``linear_actuator_loop.py``. Vectors are [linear; angular], as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.closure.cut_joint import resolve
from closed_loop_dynamics.errors import InvalidInput
from closed_loop_dynamics.mechanism import Mechanism
from closed_loop_dynamics.model.poses import body_poses
from closed_loop_dynamics.model.tree import FLOATING, PRISMATIC, REVOLUTE
from closed_loop_dynamics.se3 import axis_rotation, inverse, pose

from .linear_actuator_algebra import hat, spatial_inertia

#: How far a loop may be from what the paper assumes: planar, cylinder aimed at its pin [m, rad].
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class LoopModule:
    """A linear-actuator loop in the frames of Fig. 1.

    z is the normal of the loop, on the side that makes q, q1 and q2 negative. Sigma_Bc is the frame
    of the carrier, Sigma_E that of the arm. The paper's bodies at B0 and E are part of the carrier
    and of the arm here.

    Attributes:
        place: of the stroke in x.
        L, L1: hinge to foot, hinge to pin; x0 = Lc0 + Lc: foot to pin at x = 0.
        Lc0, Lc: foot to Sigma_B4 at x = 0, Sigma_B4 to pin.
        hinge, foot: (4, 4) poses of Sigma_B1 and Sigma_B3 in Sigma_Bc at q = q1 = 0.
        E: (4, 4) pose of Sigma_E in Sigma_B1.
        M_B1, M_B3, M_B4: (6, 6) inertias of arm, barrel and rod.
    """

    place: int
    L: float
    L1: float
    Lc0: float
    Lc: float
    hinge: Array
    foot: Array
    E: Array
    M_B1: Array
    M_B3: Array
    M_B4: Array


@dataclass(frozen=True, eq=False)
class SerialModule:
    """A single driven joint; Sigma_B4 is its link's frame, and Sigma_E the same.

    Attributes:
        place: of the joint in x.
        placement: (4, 4) pose of Sigma_B4 in Sigma_Bc at x = 0.
        slides: prismatic, not revolute.
        axis: (3,) unit axis.
        M_B4: (6, 6) inertia.
    """

    place: int
    placement: Array
    slides: bool
    axis: Array
    M_B4: Array

    def pose(self, x: float) -> Array:
        """(4, 4) pose of Sigma_B4 in Sigma_Bc."""
        if self.slides:
            return self.placement @ pose(np.eye(3), x * self.axis)
        return self.placement @ pose(axis_rotation(self.axis, x), np.zeros(3))

    @property
    def screw(self) -> Array:
        """s_B4 (6,)."""
        nothing = np.zeros(3)
        return np.concatenate([self.axis, nothing] if self.slides else [nothing, self.axis])


Module = LoopModule | SerialModule


def find_modules(mech: Mechanism, share: float = 0.5) -> list[Module]:
    """The modules from the base outwards.

    Args:
        share: where on the cylinder Sigma_B4 sits at x = 0 (0: foot, 1: pin); the paper's L_c0/x0.

    Raises:
        InvalidInput: the robot is not a chain of such modules; says where.
    """
    modules: list[Module] = []
    carrier = -1
    for cluster in mech.clusters:
        if cluster.parent != carrier:
            _refuse(mech, cluster.bodies[0], "the modules do not form one serial chain")
        if len(cluster.bodies) == 1:
            modules.append(_serial(mech, cluster.bodies[0]))
            carrier = cluster.bodies[0]
        else:
            module, carrier = _loop(mech, cluster.components, carrier, share)
            modules.append(module)
    return modules


def _refuse(mech: Mechanism, body: int, why: str) -> NoReturn:
    raise InvalidInput(
        f"joint '{mech.joint_name(body)}': {why}; the formulation of Paz and Mattila takes "
        "linear-actuator loops with the cylinder as the independent and driven joint, and single "
        "driven joints, one on the other; use Robot.forward_dynamics"
    )


def _check(mech: Mechanism, body: int, condition: bool, why: str) -> None:
    if not condition:
        _refuse(mech, body, why)


def _driven(mech: Mechanism, body: int) -> int:
    """The joint's place in x, which must be its place in u as well."""
    _check(mech, body, body in mech.independent and body in mech.actuator, "is not driven")
    place = mech.independent.index(body)
    _check(mech, body, mech.actuator.index(body) == place, "has another place in u than in y")
    extras = {name for entry in mech.entries for name in entry.actuators}
    _check(mech, body, mech.joint_name(body) not in extras, "has friction or a rotor")
    return place


def _inertia(mech: Mechanism, body: int, frame: Array) -> Array:
    """(6, 6) inertia of a body in a frame given in the body frame."""
    b = mech.tree.bodies[body]
    R, p = frame[:3, :3], frame[:3, 3]
    # Parallel axes twice: I_p = I_0 + [h][p] + [p][h] - m [p][p] with h = m c about the old origin.
    H, P = hat(b.first_moment), hat(p)
    I = b.inertia + H @ P + P @ H - b.mass * P @ P
    return spatial_inertia(b.mass, R.T @ (b.first_moment - b.mass * p), R.T @ I @ R)


def _serial(mech: Mechanism, body: int) -> SerialModule:
    joint = mech.tree.bodies[body].joint
    _check(mech, body, joint.kind != FLOATING, "is a floating base")
    place, slides = _driven(mech, body), joint.kind == PRISMATIC
    return SerialModule(place, joint.placement, slides, joint.axis, _inertia(mech, body, np.eye(4)))


def _loop(
    mech: Mechanism, components: tuple[int, ...], carrier: int, share: float
) -> tuple[LoopModule, int]:
    """The module, and the arm's body on which the next one stands."""
    component = mech.components[components[0]]
    first = component.joints[0]
    _check(mech, first, len(components) == 1 and len(component.loops) == 1, "is not in one loop")
    cut = resolve(mech.tree, component.entry, component.loops[0])
    sides = sorted(
        ((cut.chain_p, cut.frame_p), (cut.chain_s, cut.frame_s)), key=lambda side: len(side[0])
    )
    four = [len(chain) for chain, _ in sides] == [1, 2]
    _check(mech, first, four, "is not in a loop of four links")
    ((arm,), pin), ((barrel, rod), _) = sides
    kinds = [mech.tree.bodies[b].joint.kind for b in (arm, barrel, rod)]
    _check(mech, first, kinds == [REVOLUTE, REVOLUTE, PRISMATIC], "is not in an RRPR loop")
    place = _driven(mech, rod)

    # Points and axes in the carrier's frame, all joints at zero.
    poses = body_poses(mech.tree)
    if carrier >= 0:
        poses = {b: inverse(poses[carrier]) @ T for b, T in poses.items()}
    normal = poses[arm][:3, :3] @ mech.tree.bodies[arm].joint.axis
    slide = poses[rod][:3, :3] @ mech.tree.bodies[rod].joint.axis
    H, C = poses[arm][:3, 3], poses[barrel][:3, 3]
    T = (poses[arm] @ pin)[:3, 3]
    turns = poses[barrel][:3, :3] @ mech.tree.bodies[barrel].joint.axis
    flat = np.linalg.norm(np.cross(normal, turns)) < TOLERANCE and abs(normal @ slide) < TOLERANCE
    _check(mech, arm, bool(flat), "is not in a planar loop")
    lever, strut, span = (_in_plane(v, normal) for v in (T - H, H - C, T - C))
    x0 = float(np.linalg.norm(span))
    aimed = np.linalg.norm(span - x0 * slide) < TOLERANCE
    _check(mech, rod, bool(aimed), "does not point from its foot to its pin")
    if normal @ np.cross(strut, span) > 0.0:  # q1 is negative, Eq. 2b
        normal = -normal

    L, L1 = float(np.linalg.norm(strut)), float(np.linalg.norm(lever))
    resting = _frame(strut / L, normal)
    arm_frame = inverse(poses[arm]) @ pose(_frame(lever / L1, normal), H)
    along = pose(_frame(slide, normal), C)
    rod_frame = inverse(poses[rod]) @ along @ pose(np.eye(3), np.array([share * x0, 0.0, 0.0]))
    module = LoopModule(
        place,
        L,
        L1,
        share * x0,
        (1.0 - share) * x0,
        pose(resting, H),
        pose(resting, C),
        inverse(arm_frame),
        _inertia(mech, arm, arm_frame),
        _inertia(mech, barrel, inverse(poses[barrel]) @ along),
        _inertia(mech, rod, rod_frame),
    )
    return module, arm


def _in_plane(vector: Array, normal: Array) -> Array:
    return np.asarray(vector - normal * (normal @ vector))


def _frame(x: Array, z: Array) -> Array:
    """(3, 3) axes with the given x and z."""
    return np.column_stack([x, np.cross(z, x), z])
