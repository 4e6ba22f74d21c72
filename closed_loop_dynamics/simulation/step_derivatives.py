"""``Robot.step_derivatives``: how the end of some Runge-Kutta steps changes with where they begin.

The derivatives of the four stages, each with those of forward dynamics, summed as the stages are:
exact for the numbers that ``Robot.step`` gives, not for the motion that these approximate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..mechanism import Mechanism
from ..quantities.coordinates import (
    normalised,
    position_rate,
    position_rate_changes,
    tangent,
)

#: (y, yd) -> ydd, dydd_dy, dydd_dyd, dydd_dtau, all of N samples.
Dynamics = Callable[[Array, Array], list[Array]]


class StepDerivatives(NamedTuple):
    """Of the state z = (y, yd) after the steps, (N, ...) of a batch; changes of y are velocities.

    Attributes:
        y, yd: that state itself.
        dz_dz: (2m, 2m) by the state before; dz_dtau: (2m, p) by the actuator forces.
        dz_dh: (2m,) by the length of every step.
    """

    y: Array
    yd: Array
    dz_dz: Array
    dz_dtau: Array
    dz_dh: Array


def step_derivatives(
    mech: Mechanism, y: Array, yd: Array, h: float, steps: int, dynamics: Dynamics
) -> StepDerivatives:
    """Of ``steps`` steps of length ``h`` from y (N, n_y) and yd (N, m)."""
    m, p = mech.m, mech.p
    D = np.tile(np.eye(2 * m, 2 * m + p + 1), (len(y), 1, 1))  # by z, tau, h
    if len(y):
        y = _each(normalised, mech, y)
        for _ in range(steps):
            y, yd, D = _step(mech, y, yd, h, D, dynamics)
    return StepDerivatives(y, yd, D[..., : 2 * m], D[..., 2 * m : -1], D[..., -1])


def _step(
    mech: Mechanism, y: Array, yd: Array, h: float, D: Array, dynamics: Dynamics
) -> tuple[Array, Array, Array]:
    """One step; ``D`` (N, 2m, columns) are changes of the state before it, and after it."""
    m, n_y = mech.m, mech.n_y
    z = np.concatenate([y, yd], axis=-1)
    S = np.concatenate([_speeds(mech, y) @ D[:, :m], D[:, m:]], axis=1)  # of all numbers of z
    slopes: list[tuple[Array, Array]] = []
    for length in (0.0, 0.5, 0.5, 1.0):
        at, moved = z, S
        if length:
            k, dk = slopes[-1]
            at, moved = z + length * h * k, S + length * h * dk
            moved[..., -1] += length * k
        slopes.append(_rates(mech, at[:, :n_y], at[:, n_y:], moved, dynamics))
    (k1, d1), (k2, d2), (k3, d3), (k4, d4) = slopes
    mean = (k1 + 2.0 * (k2 + k3) + k4) / 6.0
    z = z + h * mean
    S = S + h / 6.0 * (d1 + 2.0 * (d2 + d3) + d4)
    S[..., -1] += mean
    changes = [_each(tangent, mech, z[:, :n_y]) @ S[:, :n_y], S[:, n_y:]]
    return _each(normalised, mech, z[:, :n_y]), z[:, n_y:], np.concatenate(changes, axis=1)


def _rates(
    mech: Mechanism, y: Array, yd: Array, moved: Array, dynamics: Dynamics
) -> tuple[Array, Array]:
    """dz/dt, and its changes while the numbers of z change by ``moved`` (N, n_y + m, columns)."""
    m, n_y = mech.m, mech.n_y
    ydd, by_y, by_yd, by_tau = dynamics(y, yd)
    dy, dyd = moved[:, :n_y], moved[:, n_y:]
    changes = by_y @ (_each(tangent, mech, y) @ dy) + by_yd @ dyd
    changes[..., 2 * m : -1] += by_tau
    drate = _speeds(mech, y) @ dyd + _each(position_rate_changes, mech, y, yd) @ dy
    rate = np.concatenate([_each(position_rate, mech, y, yd), ydd], axis=-1)
    return rate, np.concatenate([drate, changes], axis=1)


def _speeds(mech: Mechanism, y: Array) -> Array:
    """(N, n_y, m) dy/dt of unit velocities."""
    columns = [[position_rate(mech, row, axis) for axis in np.eye(mech.m)] for row in y]
    return np.swapaxes(np.reshape(columns, (len(y), mech.m, mech.n_y)), 1, 2)


def _each(function: Callable[..., Array], mech: Mechanism, *rows: Array) -> Array:
    """A function of one sample, of all of them."""
    return np.array([function(mech, *row) for row in zip(*rows, strict=True)])
