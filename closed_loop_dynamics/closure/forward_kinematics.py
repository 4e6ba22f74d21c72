"""From measured actuator positions back to independent ones: u -> y, component by component.

The same loops with the actuators in the place of the independent joints are a closure again, so the
forward kinematics is solved by the same native Newton loop, with the same certificate: the answer
lies on the branch of the reference configuration (or of a guess) and does not depend on history.
More actuators than degrees of freedom: all of them count, in the sense of least squares.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, as_finite_vectors, as_rows
from ..errors import ActuationSingular, ClosureNotFound, Underactuated
from .branch import Branch
from .linear import LinearClosure
from .numerical import NumericalClosure
from .plan import repartition
from .smooth import SmoothClosure

if TYPE_CHECKING:
    from ..programs import Programs

#: Gauss-Newton on redundant encoders: most steps, and the step that ends it [rad or m].
FIT_STEPS = 30
FIT_TOLERANCE = 1e-11
#: Smallest singular value of the couplings' rows, each at length one.
SINGULAR = 1e-9


def actuator_closure(branch: Branch, active: list[int]) -> NumericalClosure:
    """The closure of ``branch`` with local joints ``active`` independent.

    Raises:
        ActuationSingular: G_u is singular at the reference.
    """
    closure = branch.closure
    system = replace(closure.system, independent=tuple(active))
    plan = repartition(system, closure.plan)
    if plan is None:
        raise ActuationSingular(
            f"submechanism '{branch.name}': G_u is singular at the reference configuration, so "
            "actuator positions do not determine it; give another `reference` in the file",
            submechanism=branch.name,
        )
    return NumericalClosure(system, plan)


def chosen_actuators(branch: Branch, active: list[int]) -> list[int]:
    """As many actuators as degrees of freedom: all, or the best-conditioned of redundant ones."""
    m = len(branch.closure.system.independent)
    if len(active) == m:
        return active
    from scipy.linalg import qr

    G_u = branch.loop_jacobian(branch.reference)[active]
    _, _, order = qr(G_u.T, pivoting=True, mode="economic")
    return [active[int(i)] for i in sorted(order[:m])]


def actuator_box(branch: Branch, active: list[int]) -> tuple[Array, Array]:
    """Range of the actuators over the known solutions, a little widened."""
    positions = np.array([branch.local_q(s)[active] for s in branch.known()])
    low, high = positions.min(axis=0), positions.max(axis=0)
    margin = 0.02 * (high - low)
    return low - margin, high + margin


def independent_from_actuator(robot: Programs, u: ArrayLike, guess: ArrayLike | None) -> Array:
    """y (..., m) for actuator positions u (..., p); see :meth:`Robot.independent_from_actuator`."""
    mech = robot.mechanism
    u = as_finite_vectors(u, "u", mech.p)
    given = [u]
    if guess is not None:
        guess = as_finite_vectors(guess, "guess", mech.n_y)
        given.append(guess)
    rows = as_rows("independent_from_actuator", given)
    if rows is None:
        return _one_sample(robot, u, guess)
    found = [_one_sample(robot, *sample) for sample in zip(*rows, strict=True)]
    return np.array(found).reshape(len(rows[0]), mech.n_y)


def _one_sample(robot: Programs, u: Array, guess: Array | None = None) -> Array:
    mech = robot.mechanism
    y = np.zeros(mech.n_y)
    if mech.floating:
        y[:7] = guess[:7] if guess is not None else [0, 0, 0, 0, 0, 0, 1]
    slot = {b: i for i, b in enumerate(mech.actuator)}
    for c, component in enumerate(mech.components):
        if mech.is_floating(c) or not component.independent:
            continue
        if len(component.active) < len(component.independent):
            raise Underactuated(
                f"submechanism '{component.entry.name}': {len(component.active)} actuators do not "
                f"determine {len(component.independent)} independent joints"
            )
        places = [mech.y_at[b] for b in component.independent]
        closure = mech.closures[c]
        measured = u[[slot[b] for b in component.active]]
        if component.active == component.independent:
            y[places] = measured
            continue
        rows = [component.joints.index(b) for b in component.active]
        start = None if guess is None else guess[places]
        if isinstance(closure, SmoothClosure):
            y[places] = closure.invert(
                rows, measured, np.zeros(len(places)) if start is None else start
            )
            continue
        if isinstance(closure, LinearClosure):
            y[places] = _linear(closure, rows, measured, component.entry.name)
            continue
        actuators = robot.actuator_branch(c)
        active = [component.joints[i] for i in actuators.closure.system.independent]
        q = _solve(robot.branches[c], actuators, u[[slot[b] for b in active]], start)
        y[places] = q[list(closure.system.independent)]
        if len(rows) > len(places):
            y[places] = _least_squares(robot.branches[c], rows, measured, y[places])
    return y


def _linear(closure: LinearClosure, rows: list[int], u: Array, name: str) -> Array:
    """y of couplings: u = A y + b."""
    A = closure.A[rows]
    sizes = np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
    rank = int(np.linalg.matrix_rank(A / sizes, tol=SINGULAR))
    if rank < A.shape[1]:
        raise ActuationSingular(
            f"submechanism '{name}': the actuators' positions do not determine the independent "
            f"joints (rank {rank}, {A.shape[1]} are needed); check the ratios of its couplings",
            submechanism=name,
        )
    return np.asarray(np.linalg.lstsq(A, u - closure.b[rows], rcond=None)[0])


def _least_squares(branch: Branch, rows: list[int], u: Array, y: Array) -> Array:
    """y with the smallest |u(y) - u| over all actuators, lengths in units of the loop's size.

    Gauss-Newton from the solution of the best-conditioned actuators alone: one step when the
    encoders agree, a few when they contradict each other a little.
    """
    scale = 1.0 / branch.closure.sizes[rows]
    for _ in range(FIT_STEPS):
        s = branch.solution(y)
        error = (u - branch.local_q(s)[rows]) * scale
        step = np.linalg.lstsq(branch.loop_jacobian(s)[rows] * scale[:, None], error, rcond=None)[0]
        y = y + step
        if float(np.max(np.abs(step))) < FIT_TOLERANCE:
            return y
    raise ClosureNotFound(
        f"submechanism '{branch.name}': no configuration fits the actuator positions {u}, the "
        f"encoders contradict each other by {float(np.max(np.abs(error))):.2g} (in rad or loop "
        "sizes); check their offsets",
        submechanism=branch.name,
        residual=float(np.max(np.abs(error))),
    )


def _solve(branch: Branch, actuators: Branch, u: Array, guess: Array | None) -> Array:
    """Local q at actuator positions ``u``, on the branch of the reference or of the guess."""
    if guess is None:
        q = actuators.local_q(actuators.solution(u))
    else:
        start = branch.local_q(branch.solution(guess))
        q = actuators.local_q(actuators.on_mode_of(start, u)[1])
    if not branch.holds(q):
        where = ", ".join(f"{n}={v:.6g}" for n, v in zip(actuators.names, u, strict=True))
        raise ClosureNotFound(
            f"submechanism '{branch.name}' closes at {where} on another assembly mode only: on the "
            f"way there {', '.join(branch.names)} would turn back at a singularity",
            submechanism=branch.name,
            reason="branch",
        )
    return q
