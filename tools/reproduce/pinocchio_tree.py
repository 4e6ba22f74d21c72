"""Spanning tree and loops of a robot in Pinocchio: figures that owe nothing to this package.

A loop is two points, one on each side of its cut, that must meet. That is all of it for pins of
planar loops; for other cuts the points still show whether a configuration is assembled.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import yaml

from closed_loop_dynamics.arrays import Array

WORLD_ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
#: Singular values of K below this are redundant equations.
RANK = 1e-9


class PinocchioTree:
    """All vectors are (N, n) in the order of ``names``, which are joints with one coordinate."""

    def __init__(self, urdf: str, submechanisms: str, names: tuple[str, ...]) -> None:
        self._model = pin.buildModelFromXML(urdf)
        self._columns = [self._model.joints[self._model.getJointId(name)].idx_v for name in names]
        entries = yaml.safe_load(submechanisms)["submechanisms"]
        loops = [loop for entry in entries for loop in entry.get("loop_constraints", ())]
        self._cuts = [self._cut(loop) for loop in loops]
        self._data = self._model.createData()

    def _cut(self, loop: dict[str, str]) -> tuple[int, int]:
        """The two points of a cut: at q = 0 both are at the origin of the cut joint's frame."""
        data = self._model.createData()
        pin.framesForwardKinematics(self._model, data, pin.neutral(self._model))
        at = data.oMf[self._model.getFrameId(loop["cut_joint"])]
        ids = []
        for side in ("predecessor_body", "successor_body"):
            body = self._model.getFrameId(loop[side])
            joint = self._model.frames[body].parentJoint
            kind, name = pin.FrameType.OP_FRAME, f"point_{len(self._model.frames)}"
            frame = pin.Frame(name, joint, body, data.oMi[joint].actInv(at), kind)
            ids.append(self._model.addFrame(frame))
        return ids[0], ids[1]

    def _scattered(self, values: Array) -> Array:
        result = np.zeros_like(values)
        result[..., self._columns] = values
        return result

    def gaps(self, q: Array) -> Array:
        """(N,) largest distance of two points that should meet [m]."""
        result = []
        for each in self._scattered(q):
            pin.framesForwardKinematics(self._model, self._data, each)
            at = self._data.oMf
            result.append(
                [np.linalg.norm(at[a].translation - at[b].translation) for a, b in self._cuts]
            )
        return np.max(np.array(result), axis=1)

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(N, n) forces of the tree without loops."""
        rows = zip(*(self._scattered(v) for v in (q, qd, qdd)), strict=True)
        found = [pin.rnea(self._model, self._data, *row).copy() for row in rows]
        return np.array(found)[:, self._columns]

    def forward_dynamics(self, q: Array, qd: Array, tau: Array) -> Array:
        """(N, n) accelerations: M qdd + h = tau + K^T lambda with K qdd = -Kdot qd."""
        rows = zip(*(self._scattered(v) for v in (q, qd, tau)), strict=True)
        return np.array([self._accelerations(*row) for row in rows])[:, self._columns]

    def _accelerations(self, q: Array, v: Array, tau: Array) -> Array:
        model, data = self._model, self._data
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        pin.computeJointJacobians(model, data, q)
        K = np.vstack([self._jacobian(a) - self._jacobian(b) for a, b in self._cuts])
        k = -np.concatenate([self._drift(a) - self._drift(b) for a, b in self._cuts])
        M = np.triu(pin.crba(model, data, q))
        M = M + np.triu(M, 1).T
        force = tau - pin.nonLinearEffects(model, data, q, v)
        # In the null space N of K, whose rows across the plane of a loop are redundant.
        U, s, Vt = np.linalg.svd(K)
        rank = int(np.sum(s > RANK))
        particular = Vt[:rank].T @ (U[:, :rank].T @ k / s[:rank])
        N = Vt[rank:].T
        free = np.linalg.solve(N.T @ M @ N, N.T @ (force - M @ particular))
        return np.asarray(particular + N @ free)

    def _jacobian(self, frame: int) -> Array:
        pin.updateFramePlacement(self._model, self._data, frame)
        J = pin.getFrameJacobian(self._model, self._data, frame, WORLD_ALIGNED)
        return np.asarray(J[:3])

    def _drift(self, frame: int) -> Array:
        a = pin.getFrameClassicalAcceleration(self._model, self._data, frame, WORLD_ALIGNED)
        return np.asarray(a.linear)
