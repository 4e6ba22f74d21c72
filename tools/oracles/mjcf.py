"""A robot in MJCF as MuJoCo computes it: its M, its forces, and the rows of its own equalities.

Vectors are in the order of ``names``; a free joint first, as (angular, linear) in its own frame,
and positions as the package writes them. Balls in loops are told as three angles, in the order of
their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from .files import Array

STEP = 1e-6


class MjcfOracle:
    """MuJoCo's model of a file, and the tree's coordinates ``v`` = E qd of MuJoCo's velocities."""

    def __init__(self, source: str | Path, names: Sequence[str]) -> None:
        text = isinstance(source, str)
        load = mujoco.MjModel.from_xml_string if text else mujoco.MjModel.from_xml_path
        self.model = load(str(source))
        self.data = mujoco.MjData(self.model)
        self.names = list(names)
        kinds = [int(kind) for kind in self.model.jnt_type]
        self.free = kinds[:1] == [mujoco.mjtJoint.mjJNT_FREE]
        self._joints = [self.model.joint(j).name for j in range(int(self.free), self.model.njnt)]

    def place(self, q: Array, qd: Array) -> Array:
        """Set MuJoCo's state; E (nv, n) of its velocities over ``qd``."""
        m, d = self.model, self.data
        at_q, at_v = (7, 6) if self.free else (0, 0)
        places = {name: i for i, name in enumerate(self.names[int(self.free) :])}
        E = np.zeros((m.nv, len(qd)))
        if self.free:
            R = Rotation.from_quat(q[3:7]).as_matrix()
            d.qpos[:7] = q[[0, 1, 2, 6, 3, 4, 5]]
            E[:3, 3:6], E[3:6, :3] = R, np.eye(3)
        for name in self._joints:
            joint = m.joint(name)
            if joint.type[0] == mujoco.mjtJoint.mjJNT_BALL:
                three = sorted(places[f"{name}_{axis}"] for axis in "XYZ")
                order = "".join(self.names[int(self.free) + i][-1] for i in three)
                turn = Rotation.from_euler(order, q[[at_q + i for i in three]])
                d.qpos[joint.qposadr[0] : joint.qposadr[0] + 4] = turn.as_quat()[[3, 0, 1, 2]]
                later = np.eye(3)  # of the hinges behind, seen from the ball's own frame
                axes = np.eye(3)[["XYZ".index(letter) for letter in order]]
                for i, axis in zip(three[::-1], axes[::-1], strict=True):
                    E[joint.dofadr[0] : joint.dofadr[0] + 3, at_v + i] = later.T @ axis
                    later = Rotation.from_rotvec(axis * q[at_q + i]).as_matrix() @ later
            else:
                d.qpos[joint.qposadr[0]] = q[at_q + places[name]]
                E[joint.dofadr[0], at_v + places[name]] = 1.0
        d.qvel[:] = E @ qd
        mujoco.mj_forward(m, d)
        return E

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Residual and Jacobian over qd of MuJoCo's equalities."""
        E = self.place(q, np.zeros(len(self._zero(q))))
        count = self.data.ne
        J = np.zeros((self.data.nefc, self.model.nv))
        for i, direction in enumerate(np.eye(self.model.nv)):
            column = np.zeros(self.data.nefc)
            mujoco.mj_mulJacVec(self.model, self.data, column, direction)
            J[:, i] = column
        return self.data.efc_pos[:count].copy(), J[:count] @ E

    def mass_matrix(self, q: Array) -> Array:
        """(n, n) of the tree, armature included."""
        E = self.place(q, np.zeros(len(self._zero(q))))
        M = np.array([self._times(direction) for direction in np.eye(self.model.nv)])
        return np.asarray(E.T @ M @ E)

    def forces(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """(n,) bias of the tree at qdd = 0, and the passive forces (damping, springs)."""
        E = self.place(q, qd)
        bias = self.data.qfrc_bias.copy()
        passive = self.data.qfrc_passive.copy()
        extra = self._times(self._rate_of_E(q, qd) @ qd)  # v = E qd moves on with E
        return E.T @ (bias + extra), E.T @ passive

    def _rate_of_E(self, q: Array, qd: Array) -> Array:
        ahead, behind = (self.place(self.moved(q, qd, s * STEP), qd) for s in (1.0, -1.0))
        self.place(q, qd)
        return np.asarray(ahead - behind) / (2.0 * STEP)

    def moved(self, q: Array, qd: Array, time: float) -> Array:
        """Where constant velocities lead."""
        if not self.free:
            return q + time * qd
        turn = Rotation.from_quat(q[3:7])
        result = q.copy()
        result[:3] += time * turn.apply(qd[3:6])
        result[3:7] = (turn * Rotation.from_rotvec(time * qd[:3])).as_quat()
        result[7:] += time * qd[6:]
        return result

    def _times(self, direction: Array) -> Array:
        result = np.zeros(self.model.nv)
        mujoco.mj_mulM(self.model, self.data, result, direction)
        return result

    def _zero(self, q: Array) -> Array:
        return q[1:] if self.free else q
