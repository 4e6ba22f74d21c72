"""Figures from Pinocchio's spanning tree: forces and inertia projected by our G, and open loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot

from ..benchmark.loops import joint_names
from ..oracles.oracle import Oracle
from ..oracles.pinocchio_tree import PinocchioTree


def by_rows(function: Callable[..., Array], *arrays: Array) -> Array:
    """The results sample by sample: a batch would first compile a program of its own."""
    return np.array([function(*row) for row in zip(*arrays, strict=True)])


def projected_rnea(robot: Robot, urdf: str, y: Array, yd: Array, ydd: Array) -> Array:
    """tau_y (N, m) = G^T rnea(q, qd, qdd), the paper's projected RNEA."""
    states = [robot.state(*row) for row in zip(y, yd, ydd, strict=True)]
    q, qd, qdd = (np.array([getattr(s, part) for s in states]) for part in ("q", "qd", "qdd"))
    tau = by_rows(_tree(robot, urdf).inverse_dynamics_tree, q, qd, qdd)
    projected: Array = np.einsum("knm,kn->km", by_rows(robot.loop_jacobian, y), tau)
    return projected


def projected_osim(robot: Robot, urdf: str, links: Sequence[str], y: Array) -> Array:
    """(N, 36 k k): J M_y^-1 J^T of some links, with M and J of the tree by Pinocchio."""
    tree = _tree(robot, urdf)
    result = []
    for row in y:
        q, G = robot.state(row).q, robot.loop_jacobian(row)
        J = np.vstack([tree.jacobian(link, q) @ G for link in links])
        result.append((J @ np.linalg.solve(G.T @ tree.mass_matrix(q) @ G, J.T)).ravel())
    return np.array(result)


def largest_gap(oracle: Oracle, q: Array) -> float:
    """Over all rows of spanning positions (N, n): how far the loops are from closed [m, rad]."""
    return float(np.abs(by_rows(oracle.phi, q)).max())


def _tree(robot: Robot, urdf: str) -> PinocchioTree:
    return PinocchioTree(urdf, robot.mechanism.floating, names=joint_names(robot))
