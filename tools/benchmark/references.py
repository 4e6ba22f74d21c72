"""Projection and Lagrange multipliers beside ours: inverse and forward dynamics, OSIM, batches.

Natively compiled programs of ``dense.py`` as far as that is feasible; forward dynamics and inverse
OSIM of trees with more than :data:`NATIVE` joints, which would take minutes to compile, in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.engine.threads import on_threads
from closed_loop_dynamics.robot import Robot

from . import dense
from .checks import Check, relative_error
from .osim import tips
from .states import States
from .timing import Contender, at_once, row_by_row

PROJECTION, LAGRANGE = "projection", "Lagrange"
METHODS = (PROJECTION, LAGRANGE)
#: Trees above this size have forward dynamics and inverse OSIM from NumPy.
NATIVE = 45
#: Slow contenders take part in every so manieth sweep.
RARELY = 5
#: States at which the references are checked before they are timed.
CHECKED = 5
#: The OSIM's entries may differ by this, relative to the largest.
OSIM_TOLERANCE = 1e-9
Function = Callable[..., Array]


@dataclass(frozen=True)
class Reference:
    """One method of one quantity: a function of rows or of whole arrays.

    Attributes:
        inputs: (N, ...) each.
        native: one compiled program; else NumPy works on every row by itself.
    """

    function: Function
    inputs: tuple[Array, ...]
    native: bool = True

    def results(self, count: int) -> Array:
        """At ``count`` states, spread over all, one by one."""
        every = max(1, len(self.inputs[0]) // count)
        rows = zip(*(each[::every] for each in self.inputs), strict=True)
        return np.array([np.ravel(self.function(*row)) for row in rows])

    def single(self, name: str) -> Contender:
        """State by state."""
        every = 1 if self.native else RARELY
        return row_by_row(name, self.function, *self.inputs, every=every)

    def batch(self, name: str) -> Contender:
        """All states at once, on one thread as ours."""
        whole = at_once(name, partial(on_threads, 1, self.function), *self.inputs)
        if self.native:
            return whole
        return replace(whole, chunks=[[self.inputs]], every=RARELY)


def in_numpy(robot: Robot) -> bool:
    """Forward dynamics and OSIM are too large to compile."""
    return robot.n > NATIVE


def inverse_references(robot: Robot, states: States) -> dict[str, Reference]:
    """tau_u by G^T rnea with a dense G, and by solving for tau_u and lambda."""
    dense.add_inverse_dynamics(robot)
    given = (states.y, states.yd, states.ydd)
    constants = np.tile(dense.zeros_and_ones(robot), (len(states.y), 1))
    names = (dense.INVERSE_PROJECTION, dense.INVERSE_LAGRANGE)
    robot.prepare(*names, batch=True)
    projection, lagrange = map(robot.programs.program, names)
    return {
        PROJECTION: Reference(_called(projection), (*given, constants)),
        LAGRANGE: Reference(_called(lagrange), given),
    }


def forward_references(robot: Robot, states: States) -> dict[str, Reference]:
    """ydd by the Cholesky factors of M_y, and by the KKT system of the tree."""
    given = (states.y, states.yd, states.tau_u)
    if in_numpy(robot):
        return {
            method: Reference(_by(robot, method.lower()), given, native=False) for method in METHODS
        }
    dense.add_forward_dynamics(robot)
    names = (dense.PROJECTION, dense.LAGRANGE)
    robot.prepare(*names, batch=True)
    programs = zip(METHODS, map(robot.programs.program, names), strict=True)
    return {method: Reference(_called(program), given) for method, program in programs}


def osim_references(robot: Robot, states: States) -> dict[str, Reference]:
    """J M_y^-1 J^T, and J of the tree between two sides of its KKT system."""
    links, y, yd = tips(robot), states.y, states.yd
    if in_numpy(robot):
        return {
            PROJECTION: Reference(_osim_by_projection(robot, links), (y,), native=False),
            LAGRANGE: Reference(_osim_by_lagrange(robot, links), (y, yd), native=False),
        }
    names = (dense.add_osim(robot, links), dense.add_osim_lagrange(robot, links))
    robot.prepare(*names)
    projection, lagrange = map(robot.programs.program, names)
    return {PROJECTION: Reference(projection, (y,)), LAGRANGE: Reference(lagrange, (y, yd))}


def reference_checks(
    robot: Robot, states: States, found: dict[str, dict[str, Reference]]
) -> list[Check]:
    """What must agree before it is timed: ``found`` is the above by quantity, in that order."""
    inverse, forward, osim = found.values()
    checks = []
    for what, of, expected in (
        ("inverse dynamics", inverse, states.tau_u),
        ("forward dynamics", forward, states.ydd),
    ):
        few = expected[:: max(1, len(expected) // CHECKED)]
        for method, reference in of.items():
            error = relative_error(reference.results(CHECKED), few)
            native = ", native" if reference.native else ""
            checks.append(Check(f"{what} = {method}{native}", error))
    ours = Reference(lambda y: robot.inverse_osim(tips(robot), y), (states.y,)).results(CHECKED)
    for method, reference in osim.items():
        values = reference.results(CHECKED)
        error = float(np.max(np.abs(values - ours).max(axis=1) / np.abs(ours).max(axis=1)))
        checks.append(Check(f"inverse OSIM = {method}", error, OSIM_TOLERANCE))
    return checks


def _called(program: Callable[..., Array]) -> Function:
    """A program behind one Python call, as our methods are."""
    return lambda *given: program(*given)


def _by(robot: Robot, method: str) -> Function:
    return lambda y, yd, tau: robot.forward_dynamics(y, yd, tau, method=method)


def _osim_by_projection(robot: Robot, links: list[str]) -> Function:
    n, columns = robot.n, 6 * len(links)
    jacobians = robot.programs.program(dense.add_tree_jacobians(robot, links))

    def projected(y: Array) -> Array:
        J = jacobians(y).reshape(columns, n) @ robot.loop_jacobian(y)
        return np.asarray(J @ np.linalg.solve(robot.mass_matrix(y), J.T))

    return projected


def _osim_by_lagrange(robot: Robot, links: list[str]) -> Function:
    n, columns = robot.n, 6 * len(links)
    jacobians = robot.programs.program(dense.add_tree_jacobians(robot, links))

    def solved(y: Array, yd: Array) -> Array:
        J_T = jacobians(y).reshape(columns, n).T
        terms = robot.programs.named("lagrange", None, y, yd)
        M, K = terms["M"], terms["K"]
        rows = len(K)
        left = np.zeros((n + rows, n + rows))
        left[:n, :n], left[:n, n:], left[n:, :n] = M, K.T, K
        right = np.vstack([J_T, np.zeros((rows, columns))])
        return np.asarray(J_T.T @ np.linalg.solve(left, right)[:n])

    return solved
