"""Base parameters: the combinations of dynamic parameters that forces depend on.

The regressor W has columns that are combinations of others, so forces tell W pi = W_b beta with
fewer numbers, beta = C pi. QR with column pivoting finds W_b (Gautier 1991). Columns are compared
in the forces that a parameter of its natural size makes, so that strong ones are taken first, and
the search may end where the rest no longer matters ("essential" parameters, Pham and Gautier 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..dynamics.parameters import BODY, JOINT, jointed
from ..errors import InvalidInput
from ..model.joint_limits import Limits
from ..robot import Robot

#: Columns that differ from others by less are combinations of them.
RANK = 1e-9
#: A parameter counts in the excitation score if it alone makes this share of the forces (rms).
WEIGHTY = 3e-3
STATES = 600
#: The random motion: share of the range per radian of its phase, and its frequency [rad/s].
BRISK = 2.0


@dataclass(frozen=True, eq=False)
class Base:
    """A choice of base parameters.

    Attributes:
        chosen: (k,) columns of W that are W_b, in the order of pi.
        combination: (k, parameters) C with W = W_b C for all that is free; beta = C pi.
    """

    chosen: Array
    combination: Array


def free_parameters(robot: Robot, joints: Sequence[str]) -> Array:
    """Columns of what may be identified.

    Inertias of all bodies that have mass, and rotor inertia and friction of ``joints``. A body of
    no mass has nothing to be scaled from, and keeps the model's numbers.
    """
    mech, view = robot.mechanism, robot.parameter_view()
    count = len(BODY)
    free = [count * b + k for b in np.flatnonzero(view.mass > 0.0).tolist() for k in range(count)]
    names = [mech.joint_name(b) for b in jointed(mech)]
    start = count * len(mech.tree.bodies)
    for joint in joints:
        if joint not in names:
            raise InvalidInput(f"joint '{joint}' has no friction to identify")
        at = start + len(JOINT) * names.index(joint)
        free += range(at, at + len(JOINT))
    return np.array(free)


def natural_sizes(robot: Robot, column_forces: Array) -> Array:
    """(parameters,) what is large for a parameter, in its unit.

    Of a body its mass, times its radius of gyration, times that squared; of a joint what would
    explain all forces alone: 1 / ``column_forces`` (parameters,), relative forces per unit.
    """
    view = robot.parameter_view()
    sizes = np.zeros(len(column_forces))
    trace = view.inertia[:, [0, 2, 5]].sum(axis=1) / 2.0
    for b, (mass, second) in enumerate(zip(view.mass, trace, strict=True)):
        if mass > 0.0:
            radius = max(float(np.sqrt(max(second, 0.0) / mass)), 1e-3)
            powers = np.array([1.0] + 3 * [radius] + 6 * [radius**2])
            sizes[len(BODY) * b : len(BODY) * (b + 1)] = mass * powers
    joints = slice(len(BODY) * len(view.mass), None)
    sizes[joints] = 1.0 / np.maximum(column_forces[joints], 1e-12)
    return sizes


def pivoted(R: Array, smallest: float) -> tuple[Array, Array]:
    """Columns (k,) that pivoted QR takes of ``R`` (r, c), and (k, c) M with R ~ R[:, columns] M.

    It ends where what a column adds is below ``smallest``.
    """
    from scipy.linalg import qr, solve_triangular

    upper, order = qr(R, mode="r", pivoting=True)
    steps = np.abs(np.diag(upper))
    k = int(np.sum(steps > max(smallest, RANK * steps[0])))
    M = np.zeros((k, R.shape[1]))
    M[:, order[:k]] = np.eye(k)
    M[:, order[k:]] = solve_triangular(upper[:k, :k], upper[:k, k:])
    sorting = np.argsort(order[:k])  # equally strong ones come in any order
    return order[:k][sorting], M[sorting]


def equations(robot: Robot, y: Array, yd: Array, ydd: Array) -> Array:
    """(N, e, parameters) W, in actuator forces where they are determined, else in tau_y."""
    if robot.p == robot.m:
        return np.asarray(robot.regressor(y, yd, ydd))
    return np.asarray(robot.generalized_regressor(y, yd, ydd))


def brisk_states(robot: Robot, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Random states (count, m) each, all over the reach, as fast as a brisk motion is there."""
    if robot.mechanism.n_y != robot.m:
        raise InvalidInput("identification is for a fixed base and joints of one velocity each")
    rng = np.random.default_rng(seed)
    y = robot.random_independent(rng, count)
    limit = Limits.of(robot.mechanism.tree, robot.names.independent).velocity
    speed = np.minimum(limit, BRISK * np.ptp(y, axis=0) / 2.0)
    yd = speed * rng.uniform(-1.0, 1.0, y.shape)
    return y, yd, BRISK * speed * rng.uniform(-1.0, 1.0, y.shape)


def structure(robot: Robot, free: Array) -> tuple[Base, Array]:
    """All base parameters of a robot, and which of them a good motion shows (columns of W).

    Found on random states: the rank does not depend on what a log happens to contain.
    """
    W = equations(robot, *brisk_states(robot, max(STATES, 4 * len(free) // robot.m)))
    forces = W @ robot.dynamic_parameters
    W = (W / np.maximum(_rms(forces), 1e-9)[:, None]).reshape(-1, W.shape[-1])
    sizes = natural_sizes(robot, _rms(W))
    sized = W[:, free] * sizes[free] / np.sqrt(len(W))
    columns, M = pivoted(sized, 0.0)
    weighty, _ = pivoted(sized, WEIGHTY)
    chosen = free[columns]
    C = np.zeros((len(chosen), W.shape[1]))
    C[:, free] = sizes[chosen][:, None] * M / sizes[free]
    return Base(chosen, C), free[weighty]


def condition_number(R: Array) -> float:
    """Of ``R`` with columns of length one; infinite when one is zero."""
    lengths = np.linalg.norm(R, axis=0)
    if not np.all(lengths > 0.0):
        return float("inf")
    return float(np.linalg.cond(R / lengths))


def _rms(values: Array) -> Array:
    return np.sqrt(np.mean(np.square(values), axis=0))
