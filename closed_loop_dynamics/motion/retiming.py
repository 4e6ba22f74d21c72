"""The fastest motion along a path: time-optimal parameterisation within the actuators' limits.

TOPP-RA (Pham and Pham 2018) by the package ``toppra``. Speeds of independent joints and actuators
bound ds/dt; inverse dynamics, linear in d²s/dt² and (ds/dt)², bounds the rest. Friction is neither:
what it takes at the highest speed that is allowed there is kept in reserve.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError
from ..model.joint_limits import Limits
from ..robot import Robot
from .trajectory import Points

#: Steps of the path at which limits are looked at.
STEPS = 400
#: Share of the limits that is used: between two steps a little more is.
SHARE = 0.98
#: Of (ds/dt)², where nothing limits it.
FASTEST = 1e8
#: Points of a path that are nearer to each other, as shares of its size, are one.
SAME = 1e-9


class NotRetimed(ClosedLoopError):
    """There is no fastest motion along a path; the text says why."""


def retimed(robot: Robot, path: Array, period: float) -> Points:
    """The fastest motion from rest to rest along a smooth curve through (N, m) positions.

    Args:
        period: spacing of the result [s]; its last step is shorter.

    Raises:
        NotRetimed: fewer than two different points, no effort limits, too little effort to hold it.
    """
    import toppra
    from toppra.algorithm import TOPPRA
    from toppra.constraint import LinearConstraint

    logging.getLogger("toppra").setLevel(logging.ERROR)  # it warns of its own grid
    size = np.where(np.ptp(path, axis=0) > 0.0, np.ptp(path, axis=0), 1.0)
    steps = np.linalg.norm(np.diff(path, axis=0) / size, axis=1)
    moved = np.concatenate([[True], steps > SAME])
    if np.count_nonzero(moved) < 2:
        raise NotRetimed("a path needs two different points")
    s = np.concatenate([[0.0], np.cumsum(steps[moved[1:]])])
    curve = toppra.SplineInterpolator(s, path[moved])
    limits = LinearConstraint()
    limits.compute_constraint_params = lambda way, grid: _coefficients(robot, way, grid)
    grid = np.linspace(0.0, s[-1], STEPS + 1)
    found = TOPPRA([limits], curve, gridpoints=grid, parametrizer="ParametrizeConstAccel")
    motion = found.compute_trajectory(0.0, 0.0)
    if motion is None:
        raise NotRetimed("the actuators' efforts do not suffice for any motion along the path")
    times = np.append(np.arange(0.0, motion.duration - 1e-9, period), motion.duration)
    y, yd, ydd = (np.asarray(motion(times, order)) for order in range(3))
    return Points(times, y, yd, ydd)


def _coefficients(robot: Robot, path: Any, grid: Array) -> tuple[Any, ...]:
    """a, b, c, F, g, None, (lower, upper) of (ds/dt)²: F (a d²s/dt² + b (ds/dt)² + c) <= g."""
    from toppra.constraint import canlinear_colloc_to_interpolate

    y, tangent, curvature = (path(grid, order) for order in range(3))
    still = np.zeros_like(y)
    own, driven = (
        Limits.of(robot.mechanism.tree, names)
        for names in (robot.names.independent, robot.names.actuator)
    )
    rates = np.hstack([tangent, np.squeeze(robot.actuator_jacobian(y) @ tangent[..., None], -1)])
    with np.errstate(divide="ignore"):
        ratios = SHARE * np.concatenate([own.velocity, driven.velocity]) / np.abs(rates)
    highest = np.minimum(np.min(ratios, axis=1) ** 2, FASTEST)
    smooth = robot.dynamic_parameters
    view = robot.parameter_view(smooth)
    view.viscous_friction[:] = view.coulomb_friction[:] = 0.0

    def efforts(yd: Array, ydd: Array) -> Array:
        return robot.inverse_dynamics(y, yd, ydd, parameters=smooth)

    c = efforts(still, still)
    a, b = efforts(still, tangent) - c, efforts(tangent, curvature) - c
    quick = tangent * np.sqrt(highest)[:, None]
    friction = np.abs(robot.inverse_dynamics(y, quick, still) - efforts(quick, still))
    spare = SHARE * driven.effort - friction
    limited = np.isfinite(driven.effort)
    if not limited.any():
        raise NotRetimed("no actuator has an effort limit: nothing bounds accelerations")
    weak = np.argwhere(np.abs(c[:, limited]) > spare[:, limited])
    if len(weak):
        name = np.array(driven.names)[limited][weak[0, 1]]
        raise NotRetimed(
            f"'{name}' cannot hold the robot {100 * grid[weak[0, 0]] / grid[-1]:.0f} % along the "
            "path: gravity, springs and friction take more than its effort limit"
        )
    both = np.vstack([np.eye(robot.p)[limited], -np.eye(robot.p)[limited]])
    F = np.broadcast_to(both, (len(grid), *both.shape))
    g = np.hstack([spare[:, limited], spare[:, limited]])
    # At both ends of every step, not at its beginning alone.
    effort = canlinear_colloc_to_interpolate(a, b, c, F, g, None, None, grid)[:5]
    return *effort, None, np.column_stack([np.zeros(len(grid)), highest])
