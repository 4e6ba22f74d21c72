"""From measured actuator positions back to independent ones, u -> y, of a component with loops.

The same loops with the actuators in the place of the independent joints are a closure again, so the
forward kinematics is solved by the same native Newton loop, with the same certificate: the answer
lies on the branch of the reference configuration (or of a guess) and does not depend on history.
More actuators than degrees of freedom: all of them count, in the sense of least squares.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..errors import ActuationSingular, ClosureNotFound
from .branch import Branch
from .numerical import NumericalClosure
from .plan import repartition
from .rank import best_columns

#: Gauss-Newton on redundant encoders: most steps, and the step that ends it [rad or m].
FIT_STEPS = 30
FIT_TOLERANCE = 1e-11


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
    G_u = branch.loop_jacobian(branch.reference)[active]
    return [active[i] for i in sorted(best_columns(G_u.T)[:m])]


def actuator_box(branch: Branch, active: list[int]) -> tuple[Array, Array]:
    """Range of the actuators over the known solutions, a little widened."""
    positions = np.array([branch.local_q(s)[active] for s in branch.known()])
    low, high = positions.min(axis=0), positions.max(axis=0)
    margin = 0.02 * (high - low)
    return low - margin, high + margin


def independent_of(
    branch: Branch, actuators: Branch, rows: list[int], u: Array, start: Array | None
) -> Array:
    """Independent positions (m,) of a component with loops.

    Args:
        branch: of the component; actuators: of its :func:`actuator_closure`.
        rows: local positions of the measured joints; u: (p,) where they stand.
        start: (m,) independent positions near the answer; None for the branch of the reference.

    Raises:
        ClosureNotFound: there is none on the branch.
    """
    chosen = [rows.index(i) for i in actuators.closure.system.independent]
    q = _solve(branch, actuators, u[chosen], start)
    y = q[list(branch.closure.system.independent)]
    return _least_squares(branch, rows, u, y) if len(rows) > len(y) else y


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
