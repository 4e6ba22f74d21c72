"""Independent truth for constrained dynamics: Pinocchio's spanning tree plus explicit loop rows.

Vectors are ordered by joint *name*: ``oracle.names`` is the order of the entries of q, qd, qdd and
tau, chosen with ``names=`` or :meth:`Oracle.reordered`.

Sign conventions: K qdd = k = -Kdot qd and M qdd + C = tau + tau_wrenches + K^T lambda.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from .cut_rows import CutRows, cut_rows, skew
from .files import Array, Coupling, Cut, read_coupling, read_cut, read_submechanisms
from .pinocchio_tree import PinocchioTree

RANK_TOLERANCE = 1e-8
WORLD_ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


@dataclass(frozen=True, eq=False)
class _Loop:
    """A cut joint in the Pinocchio model: two operational frames and the rows between them."""

    name: str
    predecessor: int
    successor: int
    rows: CutRows


class Oracle(PinocchioTree):
    """Spanning-tree dynamics with loop constraints, solved as one big KKT system.

    Args:
        urdf: path or XML text; mimic tags become coupling rows.
        submechanisms: path or YAML text; its ``loop_constraints`` and ``couplings`` are used.
        floating_base: put a free flyer under the root link.
        names: order of the moving joints in all vectors; default: document order of the URDF.
        couplings: further items as in the file's ``couplings`` (e.g. linear transmissions).
        loops: further items as in the file's ``loop_constraints``.
    """

    def __init__(
        self,
        urdf: str | Path,
        submechanisms: str | Path | None = None,
        floating_base: bool = False,
        *,
        names: Sequence[str] | None = None,
        couplings: Iterable[Mapping[str, Any]] = (),
        loops: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(urdf, floating_base, names=names)
        cuts, file_couplings = read_submechanisms(submechanisms)
        self._loops = [self._attach(cut) for cut in [*cuts, *map(read_cut, loops)]]
        self._couplings: list[Coupling] = [
            *file_couplings,
            *self.description.couplings,
            *map(read_coupling, couplings),
        ]
        self.data = self.model.createData()  # with the frames of the cuts

    def reordered(self, names: Sequence[str]) -> Oracle:
        """The same robot with its vectors in the order of ``names``."""
        twin = copy.copy(self)
        twin.data = self.model.createData()
        twin.set_order(names)
        return twin

    # Loop constraints --------------------------------------------------------------------------

    def phi(self, q: Array) -> Array:
        """(n_c,) residual of all cut joints, then of all couplings."""
        self._place(q)
        parts = [loop.rows.residual(*self._relative_pose(loop)) for loop in self._loops]
        rows = [q[self.q_columns([c.joint])[0]] - self._coupled(c, q) for c in self._couplings]
        return np.concatenate([*parts, np.array(rows, dtype=float)])

    def K(self, q: Array) -> Array:
        """(n_c, nv) exact derivative of phi."""
        pin.computeJointJacobians(self.model, self.data, self.to_pinocchio_q(q))
        parts = [self.from_pinocchio_v(self._loop_jacobian(loop)) for loop in self._loops]
        return np.vstack([*parts, self._coupling_jacobian()])

    def kdot_qd(self, q: Array, qd: Array) -> Array:
        """(n_c,) Kdot qd, exact: phi'' of the motion with qdd = 0."""
        v = self.to_pinocchio_v(qd)
        pin.forwardKinematics(self.model, self.data, self.to_pinocchio_q(q), v, 0.0 * v)
        parts = [self._loop_second_rate(loop) for loop in self._loops]
        return np.concatenate([*parts, np.zeros(len(self._couplings))])

    def k(self, q: Array, qd: Array) -> Array:
        """(n_c,) right-hand side of K qdd = k."""
        return -self.kdot_qd(q, qd)

    def _attach(self, cut: Cut) -> _Loop:
        """Add the cut frames P and S to the model as operational frames."""
        common = None if cut.cut_joint is None else self.description.child_link[cut.cut_joint]
        ids = []
        for link, own in (
            (cut.predecessor, cut.predecessor_frame),
            (cut.successor, cut.successor_frame),
        ):
            frame = self.model.frames[self.frame_id(link)]
            if own is not None:
                placement = frame.placement * pin.SE3(own[:3, :3], own[:3, 3])
            elif common is not None:
                placement = self._placement_at_zero(frame.parentJoint, common)
            else:
                raise ValueError(f"no cut frame for {link!r}: give cut_joint or both frames")
            name = f"cut_{len(self.model.frames)}"
            kind = pin.FrameType.OP_FRAME
            added = pin.Frame(name, frame.parentJoint, self.frame_id(link), placement, kind)
            ids.append(self.model.addFrame(added))
        name = f"{cut.predecessor}~{cut.successor}"
        return _Loop(name, ids[0], ids[1], cut_rows(cut.axes))

    def _placement_at_zero(self, joint: int, link: str) -> Any:
        """Pose of ``link`` in the frame of Pinocchio joint ``joint`` when all joints are zero."""
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, pin.neutral(self.model))
        return data.oMi[joint].actInv(data.oMf[self.frame_id(link)])

    def _place(self, q: Array) -> None:
        pin.forwardKinematics(self.model, self.data, self.to_pinocchio_q(q))

    def _frame_pose(self, frame: int) -> Any:
        return pin.updateFramePlacement(self.model, self.data, frame)

    def _relative_pose(self, loop: _Loop) -> tuple[Array, Array]:
        """R (3, 3) and e (3,) of S seen from P, at the configuration placed last."""
        relative = self._frame_pose(loop.predecessor).actInv(self._frame_pose(loop.successor))
        return relative.rotation, relative.translation

    def _loop_jacobian(self, loop: _Loop) -> Array:
        """(k, nv) rows in Pinocchio's column order."""
        P, S = self._frame_pose(loop.predecessor), self._frame_pose(loop.successor)
        J_P, J_S = (
            pin.getFrameJacobian(self.model, self.data, frame, WORLD_ALIGNED)
            for frame in (loop.predecessor, loop.successor)
        )
        world_to_P = P.rotation.T
        distance = S.translation - P.translation
        J_w = world_to_P @ (J_S[3:] - J_P[3:])
        J_e = world_to_P @ (J_S[:3] - J_P[:3] + skew(distance) @ J_P[3:])
        R = world_to_P @ S.rotation
        return loop.rows.angular_map(R) @ J_w + loop.rows.translation @ J_e

    def _loop_second_rate(self, loop: _Loop) -> Array:
        """(k,) phi'' from the frame velocities and accelerations computed last."""
        (P, v_P, a_P), (S, v_S, a_S) = (
            (
                self._frame_pose(frame),
                pin.getFrameVelocity(self.model, self.data, frame, WORLD_ALIGNED),
                pin.getFrameClassicalAcceleration(self.model, self.data, frame, WORLD_ALIGNED),
            )
            for frame in (loop.predecessor, loop.successor)
        )
        world_to_P = P.rotation.T
        omega, alpha = v_P.angular, a_P.angular
        d = S.translation - P.translation
        d_rate, d_second = v_S.linear - v_P.linear, a_S.linear - a_P.linear
        w = world_to_P @ (v_S.angular - omega)
        # d/dt (R_P^T x) = R_P^T (x' - omega × x)
        w_rate = world_to_P @ (a_S.angular - alpha - np.cross(omega, v_S.angular - omega))
        e_rate_world = d_rate - np.cross(omega, d)
        e_second = world_to_P @ (
            d_second - np.cross(alpha, d) - np.cross(omega, d_rate) - np.cross(omega, e_rate_world)
        )
        return loop.rows.second_rate(world_to_P @ S.rotation, w, w_rate, e_second)

    def _coupled(self, coupling: Coupling, q: Array) -> float:
        columns = self.q_columns(coupling.terms)
        return float(np.dot(list(coupling.terms.values()), q[columns]) + coupling.offset)

    def _coupling_jacobian(self) -> Array:
        rows = np.zeros((len(self._couplings), self.nv))
        for row, coupling in zip(rows, self._couplings, strict=True):
            row[self.columns([coupling.joint])] = 1.0
            row[self.columns(coupling.terms)] = -np.array(list(coupling.terms.values()))
        return rows

    # The whole system --------------------------------------------------------------------------

    def constraint_rows(self, q: Array, frozen: Iterable[str] = ()) -> Array:
        """(n_c + len(frozen), nv) K with one unit row per frozen joint below it."""
        return np.vstack([self.K(q), np.eye(self.nv)[self.columns(frozen)]])

    def forward_dynamics(
        self,
        q: Array,
        qd: Array,
        tau_tree: Array,
        frozen: Sequence[str] = (),
        wrenches: Mapping[str, Array] | None = None,
    ) -> tuple[Array, Array]:
        """Solve M qdd + C = tau + tau_wrenches + K^T lambda together with K qdd = k.

        The KKT system is solved in the null space of K, found by SVD of the row-normalised K: rows
        may be redundant, and M may be singular where the constraints make it regular.

        Returns:
            qdd (nv,) and the minimum-norm lambda (n_c + len(frozen),), frozen rows last.
        """
        rows = self.constraint_rows(q, frozen)
        right = np.concatenate([self.k(q, qd), np.zeros(len(frozen))])
        force = tau_tree + self.wrench_forces(q, wrenches) - self.nonlinear_effects(q, qd)
        M = self.mass_matrix(q)

        scale = np.linalg.norm(rows, axis=1)
        scale[scale < RANK_TOLERANCE] = 1.0  # rows of a planar loop may vanish up to rounding
        U, s, Vt = np.linalg.svd(rows / scale[:, None])
        rank = int(np.sum(s > RANK_TOLERANCE * max(1.0, s[0]))) if s.size else 0
        particular = Vt[:rank].T @ (U[:, :rank].T @ (right / scale) / s[:rank])
        N = Vt[rank:].T
        free = np.linalg.solve(N.T @ M @ N, N.T @ (force - M @ particular))
        qdd = particular + N @ free
        lam = U[:, :rank] @ (Vt[:rank] @ (M @ qdd - force) / s[:rank]) / scale
        return qdd, lam

    # Loads inside ------------------------------------------------------------------------------

    def carried(
        self,
        q: Array,
        qd: Array,
        qdd: Array,
        cuts: Mapping[str, Array],
        wrenches: Mapping[str, Array],
    ) -> tuple[Array, Array]:
        """Forces tau (nv,) of the open tree, and wrenches (joints, 6) that its joints transmit.

        Joints in Pinocchio's order, [moment; force] on the child in the child's frame.

        Args:
            cuts: ``predecessor~successor`` -> [moment; force] on the successor at the origin of S,
                in the axes of P; the predecessor is pushed back at the same place.
            wrenches: link -> [moment; force] at its origin in its frame.
        """
        model, data = self.model, self.data
        self._place(q)
        outer = [pin.Force.Zero() for _ in model.joints]

        def push(frame: int, place: Any, wrench: Array) -> None:
            joint = model.frames[frame].parentJoint
            at = data.oMi[joint].actInv(place)
            outer[joint] += at.act(pin.Force(wrench[3:], wrench[:3]))

        for link, wrench in wrenches.items():
            push(self.frame_id(link), self._frame_pose(self.frame_id(link)), np.asarray(wrench))
        for loop in self._loops:
            P, S = self._frame_pose(loop.predecessor), self._frame_pose(loop.successor)
            place, wrench = pin.SE3(P.rotation, S.translation), np.asarray(cuts[loop.name])
            push(loop.successor, place, wrench)
            push(loop.predecessor, place, -wrench)
        vectors = (self.to_pinocchio_q(q), self.to_pinocchio_v(qd), self.to_pinocchio_v(qdd))
        forces = pin.StdVec_Force()
        forces.extend(outer)
        tau = self.from_pinocchio_v(pin.rnea(model, data, *vectors, forces))
        joints = [np.concatenate([f.angular, f.linear]) for f in list(data.f)[1:]]
        return tau, np.array(joints)

    def cut_wrenches(self, q: Array, multipliers: Array) -> dict[str, Array]:
        """Cut -> [moment; force] as in :meth:`carried` of the multipliers of its rows."""
        self._place(q)
        found, start = {}, 0
        for loop in self._loops:
            R, _ = self._relative_pose(loop)
            own = multipliers[start : start + len(loop.rows.translation)]
            start += len(own)
            moment, force = loop.rows.angular_map(R).T @ own, loop.rows.translation.T @ own
            found[loop.name] = np.concatenate([moment, force])
        return found
