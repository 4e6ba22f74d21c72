"""Pinocchio's spanning tree, projected by our G: an independent reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pinocchio as pin

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot

#: Our base velocity [angular; linear] as places in Pinocchio's [linear; angular].
BASE = [3, 4, 5, 0, 1, 2]


def by_rows(function: Callable[..., Array], *arrays: Array) -> Array:
    """The results sample by sample: a batch would first compile a program of its own."""
    return np.array([function(*row) for row in zip(*arrays, strict=True)])


def projected_rnea(robot: Robot, urdf: str, y: Array, yd: Array, ydd: Array) -> Array:
    """tau_y (N, m) = G^T rnea(q, qd, qdd), the paper's projected RNEA."""
    states = [robot.state(*row) for row in zip(y, yd, ydd, strict=True)]
    q, qd, qdd = (np.array([getattr(s, part) for s in states]) for part in ("q", "qd", "qdd"))
    tau = _rnea(robot, urdf, q, qd, qdd)
    projected: Array = np.einsum("knm,kn->km", by_rows(robot.loop_jacobian, y), tau)
    return projected


def projected_osim(robot: Robot, urdf: str, links: Sequence[str], y: Array) -> Array:
    """(N, 36 k k): J M_y^-1 J^T of some links, with M and J of the tree by Pinocchio."""
    tree = _Tree(robot, urdf)
    model, data, at = tree.model, tree.data, tree.v_at
    frames = [model.getFrameId(link, pin.FrameType.BODY) for link in links]
    result = []
    for row in y:
        q, G = tree.positions(robot.state(row).q), robot.loop_jacobian(row)
        M = np.triu(pin.crba(model, data, q))
        M = (M + np.triu(M, 1).T)[np.ix_(at, at)]
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        J = [pin.getFrameJacobian(model, data, f, pin.LOCAL)[BASE][:, at] @ G for f in frames]
        stacked = np.vstack(J)
        result.append((stacked @ np.linalg.solve(G.T @ M @ G, stacked.T)).ravel())
    return np.array(result)


class _Tree:
    """The tree, and where our joints are in its vectors."""

    def __init__(self, robot: Robot, urdf: str) -> None:
        floating = robot.mechanism.floating
        root = (pin.JointModelFreeFlyer(),) if floating else ()
        self.model = pin.buildModelFromXML(urdf, *root)
        self.data = self.model.createData()
        names = robot.names.spanning[1 if floating else 0 :]
        joints = [self.model.joints[self.model.getJointId(name)] for name in names]
        if len(joints) + 6 * floating != self.model.nv or any(joint.nq != 1 for joint in joints):
            raise ValueError(f"{robot!r}: Pinocchio's tree has other joints")
        self.q_at = [*range(7 if floating else 0), *(joint.idx_q for joint in joints)]
        self.v_at = [*(BASE if floating else ()), *(joint.idx_v for joint in joints)]

    def positions(self, q: Array) -> Array:
        """(nq,) from ours."""
        theirs = np.empty(self.model.nq)
        theirs[self.q_at] = q
        return theirs

    def vector(self, values: Array) -> Array:
        """(nv,) from ours."""
        theirs = np.empty(self.model.nv)
        theirs[self.v_at] = values
        return theirs


def _rnea(robot: Robot, urdf: str, q: Array, qd: Array, qdd: Array) -> Array:
    tree = _Tree(robot, urdf)
    rows = zip(map(tree.positions, q), map(tree.vector, qd), map(tree.vector, qdd), strict=True)
    return np.array([pin.rnea(tree.model, tree.data, *row)[tree.v_at] for row in rows])
