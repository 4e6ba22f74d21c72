"""Forward dynamics by the two methods the papers compare with, for checks and benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..dynamics.lagrange import constraint_rows, solve_lagrange
from ..engine.program import as_vectors
from ..errors import InvalidInput, did_you_mean
from ..model.tree import Array
from .links import link_jacobian

if TYPE_CHECKING:
    from ..robot import Robot

METHODS = ("cluster_aba", "projection", "lagrange")


def forward_dynamics_by(
    robot: Robot,
    method: str,
    y: ArrayLike,
    yd: ArrayLike,
    tau_u: ArrayLike,
    wrenches: Mapping[str, ArrayLike] | None,
    guess: ArrayLike | None,
) -> Array:
    """ydd by ``"projection"`` (M_y ydd = tau_y - C_y) or ``"lagrange"`` (KKT on the tree)."""
    if method not in METHODS:
        raise InvalidInput(f"method '{method}'; {did_you_mean(method, METHODS)}")
    mech = robot.mechanism
    y, yd = as_vectors(y, "y", mech.n_y), as_vectors(yd, "yd", mech.m)
    tau_u = as_vectors(tau_u, "tau_u", mech.p)
    if y.ndim == 2 or yd.ndim == 2 or tau_u.ndim == 2:
        count = max(len(a) for a in (y, yd, tau_u) if a.ndim == 2)
        Y, YD, TAU = (np.broadcast_to(a, (count, a.shape[-1])) for a in (y, yd, tau_u))
        samples = zip(Y, YD, TAU, strict=True)
        return np.array(
            [forward_dynamics_by(robot, method, *sample, wrenches, guess) for sample in samples]
        )
    G_u = robot.actuator_jacobian(y, guess)
    if method == "projection":
        zero = np.zeros(mech.m)
        bias = robot.generalized_forces(y, yd, zero, wrenches, guess)
        return np.asarray(np.linalg.solve(robot.mass_matrix(y, guess), G_u.T @ tau_u - bias))
    return _lagrange(robot, y, yd, tau_u, wrenches, guess)


def _lagrange(robot: Robot, y: Array, yd: Array, tau_u: Array, wrenches: Any, guess: Any) -> Array:
    mech, n = robot.mechanism, robot.n
    rows = constraint_rows(mech)
    flat = robot._run("lagrange", guess, y, yd)
    parts = np.split(flat, np.cumsum([n * n, n, rows, rows * n]))
    M, C, phi = parts[0].reshape(n, n), parts[1], parts[2]
    K, k = parts[3].reshape(n, rows).T, parts[4]
    tau = np.zeros(n)
    tau[robot.actuator_rows[1]] = tau_u
    if wrenches:
        for link, wrench in wrenches.items():
            tau += _tree_jacobian(robot, link, y, guess).T @ np.asarray(wrench, dtype=float)
    qd = robot.loop_jacobian(y, guess) @ yd
    time = max(_time_constants(robot), default=0.0)
    solution = solve_lagrange(M, C, phi, K, k, tau, qd, time)
    rows_y = [
        at + i
        for b in mech.independent
        for at, size in [(mech.qd_at[b], 6 if mech.floating and b == 0 else 1)]
        for i in range(size)
    ]
    return solution.qdd[rows_y]


def _time_constants(robot: Robot) -> list[float]:
    """Baumgarte parameters of the file."""
    return [
        axis.baumgarte
        for entry in robot.mechanism.entries
        for loop in entry.loops
        for axis in loop.axes
        if axis.baumgarte
    ]


def _tree_jacobian(robot: Robot, link: str, y: Array, guess: Any) -> Array:
    """(6, n) Jacobian of a link with respect to qd, in the link frame."""
    values = robot._run("poses", guess, y).copy()
    start = 12 * len(robot.mechanism.tree.bodies)
    identity = np.eye(robot.n).ravel()
    widened = np.concatenate([values[:start], identity])
    return link_jacobian(robot.mechanism, robot._frame(link), widened, robot.n)
