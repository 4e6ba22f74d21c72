"""Forward dynamics by the two methods the papers compare with, for checks and benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, as_finite_vectors, as_rows
from ..dynamics.lagrange import constraint_rows, solve_lagrange
from ..errors import InvalidInput, SingularInertia, did_you_mean
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
    arrays = [
        as_finite_vectors(y, "y", mech.n_y),
        as_finite_vectors(yd, "yd", mech.m),
        as_finite_vectors(tau_u, "tau_u", mech.p),
        robot.body_wrenches(wrenches or {}),
    ]
    one: Callable[..., Array] = _projection if method == "projection" else _lagrange
    if guess is not None:
        arrays.append(as_finite_vectors(guess, "guess", mech.n_q))
    rows = as_rows(method, arrays)
    try:
        if rows is None:
            return one(robot, *arrays)
        results = [one(robot, *sample) for sample in zip(*rows, strict=True)]
        return np.array(results).reshape(len(rows[0]), robot.m)
    except np.linalg.LinAlgError:
        raise SingularInertia(
            "the reduced inertia is not positive definite; report() names the links"
        ) from None


def _projection(
    robot: Robot, y: Array, yd: Array, tau_u: Array, wrenches: Array, guess: Array | None = None
) -> Array:
    zero = np.zeros(robot.m)
    bias = robot.run("generalized_forces_wrenches", guess, y, yd, zero, wrenches)
    tau_y = robot.actuator_jacobian(y, guess).T @ tau_u
    L = np.linalg.cholesky(robot.mass_matrix(y, guess))
    return np.asarray(np.linalg.solve(L.T, np.linalg.solve(L, tau_y - bias)))


def _lagrange(
    robot: Robot, y: Array, yd: Array, tau_u: Array, wrenches: Array, guess: Array | None = None
) -> Array:
    mech, n = robot.mechanism, robot.n
    rows = constraint_rows(mech)
    flat = robot.run("lagrange", guess, y, yd)
    parts = np.split(flat, np.cumsum([n * n, n, rows, rows * n]))
    M, C, phi = parts[0].reshape(n, n), parts[1], parts[2]
    K, k = parts[3].reshape(n, rows).T, parts[4]
    tau = _wrench_forces(robot, y, wrenches, guess)
    tau[robot.actuator_rows[1]] += tau_u
    qd = robot.loop_jacobian(y, guess) @ yd
    time = max(_time_constants(robot), default=0.0)
    qdd = solve_lagrange(M, C, phi, K, k, tau, qd, time)
    if not np.all(np.isfinite(qdd)):
        raise np.linalg.LinAlgError
    return qdd[mech.qd.slots(mech.independent)]


def _time_constants(robot: Robot) -> list[float]:
    """Baumgarte parameters of the file."""
    return [
        axis.baumgarte
        for entry in robot.mechanism.entries
        for loop in entry.loops
        for axis in loop.axes
        if axis.baumgarte
    ]


def _wrench_forces(robot: Robot, y: Array, wrenches: Array, guess: ArrayLike | None) -> Array:
    """Tree forces (n,) of wrenches on bodies."""
    tau = np.zeros(robot.n)
    acting = [b for b in range(len(robot.mechanism.tree.bodies)) if np.any(wrenches[6 * b :][:6])]
    if acting:
        values = robot.run("poses", guess, y)
        start = 12 * len(robot.mechanism.tree.bodies)
        widened = np.concatenate([values[:start], np.eye(robot.n).ravel()])
        for b in acting:
            J = link_jacobian(robot.mechanism, (b, np.eye(4)), widened, robot.n)
            tau += J.T @ wrenches[6 * b : 6 * b + 6]
    return tau
