"""Pinocchio's inverse dynamics of a spanning tree, in our order: an independent reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from ..robot import Robot

Array = NDArray[np.float64]
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


def _rnea(robot: Robot, urdf: str, q: Array, qd: Array, qdd: Array) -> Array:
    floating = robot.mechanism.floating
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    model = pin.buildModelFromXML(urdf, *root)
    data = model.createData()
    names = robot.names.spanning[1 if floating else 0 :]
    joints = [model.joints[model.getJointId(name)] for name in names]
    if len(joints) + 6 * floating != model.nv or any(joint.nq != 1 for joint in joints):
        raise ValueError(f"{robot!r}: Pinocchio's tree has other joints")
    q_at = [*range(7 if floating else 0), *(joint.idx_q for joint in joints)]
    v_at = [*(BASE if floating else ()), *(joint.idx_v for joint in joints)]
    tau = np.empty_like(qd)
    for row in range(len(q)):
        theirs = (np.empty(model.nq), np.empty(model.nv), np.empty(model.nv))
        theirs[0][q_at], theirs[1][v_at], theirs[2][v_at] = q[row], qd[row], qdd[row]
        tau[row] = pin.rnea(model, data, *theirs)[v_at]
    return tau
