"""A robot's spanning tree in Pinocchio, with vectors in the order of the caller's joint names.

With a floating base the base entries come first: positions [x, y, z, qx, qy, qz, qw], velocities,
forces and accelerations [angular; linear] in the base link's frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from .cut_points import closing_frames
from .files import Array, Cut, read_urdf

# Base velocity [angular; linear] as positions in Pinocchio's [linear; angular].
BASE_VELOCITY = [3, 4, 5, 0, 1, 2]


class PinocchioTree:
    """The tree: no loop and no coupling holds it.

    Args:
        urdf: path or XML text.
        floating_base: put a free flyer under the root link.
        names: order of the moving joints in all vectors; default: document order of the URDF.
    """

    def __init__(
        self, urdf: str | Path, floating_base: bool = False, *, names: Sequence[str] | None = None
    ) -> None:
        self.description = read_urdf(urdf)
        self.floating_base = floating_base
        self.model = build_model(self.description.xml, floating_base)
        self.model.gravity.linear = np.array([0.0, 0.0, -9.81])
        self.data = self.model.createData()
        self.set_order(self.description.joints if names is None else names)

    # Vectors by name ---------------------------------------------------------------------------

    def set_order(self, names: Sequence[str]) -> None:
        """From now on vectors are in the order of ``names``."""
        base = 1 if self.floating_base else 0
        known = set(list(self.model.names)[1 + base :])
        if set(names) != known or len(names) != len(known):
            raise ValueError(f"names must be a permutation of the moving joints {sorted(known)}")
        joints = [self.model.joints[self.model.getJointId(name)] for name in names]
        self.names = tuple(names)
        self._q_index = np.array([*range(7 * base), *(j.idx_q for j in joints)], dtype=int)
        self._v_index = np.array([*BASE_VELOCITY[: 6 * base], *(j.idx_v for j in joints)], int)

    @property
    def base_dof(self) -> int:
        """Velocity entries of the base: 6 with a floating base, else 0."""
        return 6 if self.floating_base else 0

    @property
    def nq(self) -> int:
        """Length of q."""
        return int(self.model.nq)

    @property
    def nv(self) -> int:
        """Length of qd, qdd and tau."""
        return int(self.model.nv)

    def columns(self, names: Iterable[str]) -> list[int]:
        """Entries of ``names`` in velocity vectors (base excluded)."""
        return [self.base_dof + self.names.index(name) for name in names]

    def q_columns(self, names: Iterable[str]) -> list[int]:
        """Entries of ``names`` in position vectors (base excluded)."""
        return [self.nq - self.nv + column for column in self.columns(names)]

    def neutral(self) -> Array:
        """(nq,) all joints at zero, base at the origin."""
        return np.asarray(pin.neutral(self.model))[self._q_index]

    def to_pinocchio_q(self, q: Array) -> Array:
        """(..., nq) positions in Pinocchio's order."""
        return _scatter(q, self._q_index)

    def to_pinocchio_v(self, v: Array) -> Array:
        """(..., nv) velocities, accelerations or forces in Pinocchio's order."""
        return _scatter(v, self._v_index)

    def from_pinocchio_q(self, q: Array) -> Array:
        """(..., nq) positions in the order of ``names``."""
        return np.asarray(q)[..., self._q_index]

    def from_pinocchio_v(self, v: Array) -> Array:
        """(..., nv) velocities, accelerations or forces in the order of ``names``."""
        return np.asarray(v)[..., self._v_index]

    def integrate(self, q: Array, step: Array) -> Array:
        """(nq,) configuration reached from q with the constant velocity ``step`` in unit time."""
        moved = pin.integrate(self.model, self.to_pinocchio_q(q), self.to_pinocchio_v(step))
        return self.from_pinocchio_q(moved)

    # Links and forces --------------------------------------------------------------------------

    def frame_id(self, link: str) -> int:
        """Pinocchio's number of a link."""
        if not self.model.existFrame(link, pin.FrameType.BODY):
            raise KeyError(f"no link {link!r} in the URDF")
        return int(self.model.getFrameId(link, pin.FrameType.BODY))

    def pose(self, link: str, q: Array) -> Array:
        """(4, 4) pose of a link in the world."""
        pin.forwardKinematics(self.model, self.data, self.to_pinocchio_q(q))
        placed = pin.updateFramePlacement(self.model, self.data, self.frame_id(link))
        return np.asarray(placed.homogeneous)

    def jacobian(self, link: str, q: Array) -> Array:
        """(6, nv) Jacobian of the link origin, [angular; linear] in the link frame."""
        q_pin, frame = self.to_pinocchio_q(q), self.frame_id(link)
        J = pin.computeFrameJacobian(self.model, self.data, q_pin, frame, pin.LOCAL)
        return np.vstack([J[3:], J[:3]])[:, self._v_index]

    def mass_matrix(self, q: Array) -> Array:
        """(nv, nv) inertia matrix of the spanning tree."""
        M = np.triu(pin.crba(self.model, self.data, self.to_pinocchio_q(q)))
        return np.asarray((M + np.triu(M, 1).T)[np.ix_(self._v_index, self._v_index)])

    def nonlinear_effects(self, q: Array, qd: Array) -> Array:
        """(nv,) Coriolis, centrifugal and gravity forces of the tree."""
        q_pin, v_pin = self.to_pinocchio_q(q), self.to_pinocchio_v(qd)
        return self.from_pinocchio_v(pin.nonLinearEffects(self.model, self.data, q_pin, v_pin))

    def inverse_dynamics_tree(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(nv,) tree forces without any loop constraint."""
        vectors = (self.to_pinocchio_q(q), self.to_pinocchio_v(qd), self.to_pinocchio_v(qdd))
        return self.from_pinocchio_v(pin.rnea(self.model, self.data, *vectors))

    def wrench_forces(self, q: Array, wrenches: Mapping[str, Array] | None) -> Array:
        """(nv,) generalised force of wrenches [moment; force] at link origins in link frames."""
        total = np.zeros(self.nv)
        for link, wrench in (wrenches or {}).items():
            total += self.jacobian(link, q).T @ np.asarray(wrench, dtype=float)
        return total

    def energy(self, q: Array, qd: Array) -> float:
        """Kinetic plus potential energy [J]."""
        q_pin, v_pin = self.to_pinocchio_q(q), self.to_pinocchio_v(qd)
        kinetic = pin.computeKineticEnergy(self.model, self.data, q_pin, v_pin)
        return float(kinetic + pin.computePotentialEnergy(self.model, self.data, q_pin))

    # Contacts ----------------------------------------------------------------------------------

    def point_contacts(self, cuts: Iterable[Cut]) -> Any:
        """Pinocchio's own loop constraints: a 3-D contact for every point that closes a cut.

        Empty where there is a cut that points do not hold. Every cut needs both of its frames.
        """
        contacts = pin.StdVec_RigidConstraintModel()
        for cut in cuts:
            pairs = closing_frames(cut)
            if pairs is None:
                return pin.StdVec_RigidConstraintModel()
            for pair in pairs:
                ends = []
                for link, own in zip((cut.predecessor, cut.successor), pair, strict=True):
                    frame = self.model.frames[self.frame_id(link)]
                    ends += [frame.parentJoint, frame.placement * pin.SE3(own)]
                kind = pin.ContactType.CONTACT_3D
                contacts.append(pin.RigidConstraintModel(kind, self.model, *ends, pin.LOCAL))
        return contacts


def build_model(urdf: str | Path, floating_base: bool) -> Any:
    """Pinocchio's model of a URDF (path or text), as Pinocchio reads it."""
    base = [pin.JointModelFreeFlyer()] if floating_base else []
    if isinstance(urdf, Path):
        return pin.buildModelFromUrdf(str(urdf), *base)
    return pin.buildModelFromXML(urdf, *base)


def _scatter(values: Array, index: Array) -> Array:
    result = np.empty(np.shape(values))
    result[..., index] = values
    return result
