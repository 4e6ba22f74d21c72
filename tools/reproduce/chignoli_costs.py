"""What the methods of Chignoli et al., Tables II to IV, cost on one robot, and how they agree.

Every method is a traced, natively compiled program (``benchmark/dense.py``): its number of
instructions tells the cost without noise, and the time per call stands beside it. What must agree
also agrees with Pinocchio: forces, the forces that found accelerations need, and the inverse OSIM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.quantities.operational_space import osim_program
from closed_loop_dynamics.robot import Robot, load

from ..benchmark import dense
from ..benchmark.osim import tips
from ..benchmark.timing import row_by_row, take_turns
from .beside_pinocchio import by_rows, projected_osim, projected_rnea
from .chignoli_robots import Stand
from .independent_tree import IndependentTree, independent_tree

INVERSE, FORWARD, OSIM = "inverse dynamics", "forward dynamics", "inverse OSIM"
CLUSTER, APPROXIMATE, PROJECTION, LAGRANGE = "cluster", "approximate", "projection", "Lagrange"
#: Methods in the order of the paper's rows.
TABLES = {
    INVERSE: (APPROXIMATE, PROJECTION),
    FORWARD: (APPROXIMATE, PROJECTION, LAGRANGE),
    OSIM: (APPROXIMATE, PROJECTION),
}
STATES = 100


@dataclass(frozen=True)
class Cost:
    """Of one method, per call."""

    instructions: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Costs:
    """One robot.

    Attributes:
        of: (table, method) -> cost.
        errors: table -> largest difference between the exact methods, relative to the largest
            value of each state.
        off: table -> root mean square of the approximate model's error, likewise relative.
    """

    stand: Stand
    size: str
    of: dict[tuple[str, str], Cost]
    errors: dict[str, float]
    off: dict[str, float]

    def percent(self, table: str, method: str) -> tuple[float, float]:
        """What a method costs more than the cluster algorithm: instructions, time [%]."""
        cost, ours = self.of[table, method], self.of[table, CLUSTER]
        more = 100.0 * (cost.instructions / ours.instructions - 1.0)
        return more, 100.0 * (cost.seconds / ours.seconds - 1.0)


@dataclass(frozen=True, eq=False)
class _Method:
    robot: Robot
    program: str
    inputs: tuple[Array, ...]

    def results(self) -> Array:
        return by_rows(self.robot.programs.program(self.program), *self.inputs)


def costs(stand: Stand, sweeps: int) -> Costs:
    """Count, run and time all methods on one robot, at ``STATES`` states in motion."""
    urdf, submechanisms = stand.generate()
    robot = load(urdf, submechanisms, floating_base=stand.floating)
    tree = independent_tree(robot, urdf, reflected=True)
    rng = np.random.default_rng(5)
    y = robot.random_independent(rng, STATES)
    yd, ydd = rng.normal(size=(2, STATES, robot.m))
    tau_u = by_rows(robot.inverse_dynamics, y, yd, ydd)
    methods = _methods(robot, tree, (y, yd, ydd, tau_u))
    results = {key: method.results() for key, method in methods.items()}
    errors = _errors(results)
    for table, error in _pinocchio_errors(robot, urdf, (y, yd, ydd, tau_u), results).items():
        errors[table] = max(errors[table], error)
    off = {table: _off(tree, table, results) for table in TABLES}
    size = f"n = {robot.n}, m = {robot.m}"
    return Costs(stand, size, _timed(methods, sweeps), errors, off)


def _errors(results: dict[tuple[str, str], Array]) -> dict[str, float]:
    """The exact methods beside the cluster algorithm."""
    return {
        table: max(
            float(_difference(results[table, method], results[table, CLUSTER]).max())
            for method in names
            if method != APPROXIMATE
        )
        for table, names in TABLES.items()
    }


def _pinocchio_errors(
    robot: Robot, urdf: str, states: tuple[Array, ...], results: dict[tuple[str, str], Array]
) -> dict[str, float]:
    """The cluster algorithms beside Pinocchio's tree, projected."""
    y, yd, ydd, tau_u = states
    forces = projected_rnea(robot, urdf, y, yd, ydd)
    tau_y = np.einsum("kpm,kp->km", by_rows(robot.actuator_jacobian, y), tau_u)
    needed = projected_rnea(robot, urdf, y, yd, results[FORWARD, CLUSTER])
    few = slice(None, None, STATES // 10)
    osim = projected_osim(robot, urdf, tips(robot), y[few])
    return {
        INVERSE: float(_difference(results[INVERSE, CLUSTER], forces).max()),
        FORWARD: float(_difference(needed, tau_y).max()),
        OSIM: float(_difference(results[OSIM, CLUSTER][few], osim).max()),
    }


def _methods(
    robot: Robot, tree: IndependentTree, states: tuple[Array, ...]
) -> dict[tuple[str, str], _Method]:
    y, yd, ydd, tau_u = states
    dense.add_forward_dynamics(robot)
    dense.add_inverse_dynamics(robot)
    links = tips(robot)
    constants = np.tile(dense.zeros_and_ones(robot), (len(y), 1))
    free = robot.m - robot.p
    y_tree, yd_tree, ydd_tree = tree.positions(y), tree.vectors(yd), tree.vectors(ydd)
    tau_y = np.einsum("kpm,kp->km", by_rows(robot.actuator_jacobian, y), tau_u)
    tau_tree = tree.vectors(tau_y)[:, free:]
    forward, inverse = "forward_dynamics", "generalized_forces"
    return {
        (INVERSE, CLUSTER): _Method(robot, inverse, (y, yd, ydd)),
        (INVERSE, APPROXIMATE): _Method(tree.robot, inverse, (y_tree, yd_tree, ydd_tree)),
        (INVERSE, PROJECTION): _Method(robot, dense.PROJECTED_RNEA, (y, yd, ydd, constants)),
        (FORWARD, CLUSTER): _Method(robot, forward, (y, yd, tau_u)),
        (FORWARD, APPROXIMATE): _Method(tree.robot, forward, (y_tree, yd_tree, tau_tree)),
        (FORWARD, PROJECTION): _Method(robot, dense.PROJECTION, (y, yd, tau_u)),
        (FORWARD, LAGRANGE): _Method(robot, dense.LAGRANGE, (y, yd, tau_u)),
        (OSIM, CLUSTER): _Method(robot, osim_program(robot.programs, links), (y,)),
        (OSIM, APPROXIMATE): _Method(
            tree.robot, osim_program(tree.robot.programs, links), (y_tree,)
        ),
        (OSIM, PROJECTION): _Method(robot, dense.add_osim(robot, links), (y,)),
    }


def _timed(methods: dict[tuple[str, str], _Method], sweeps: int) -> dict[tuple[str, str], Cost]:
    contenders = {}
    for key, method in methods.items():
        program = method.robot.programs.program(method.program)
        contenders[key] = row_by_row(method.program, program, *method.inputs)
    take_turns(list(contenders.values()), sweeps)
    return {
        key: Cost(dense.instruction_count(method.robot, method.program), contenders[key].seconds)
        for key, method in methods.items()
    }


def _off(tree: IndependentTree, table: str, results: dict[tuple[str, str], Array]) -> float:
    exact, approximate = results[table, CLUSTER], results[table, APPROXIMATE]
    if table != OSIM:
        exact = tree.vectors(exact)
    return float(np.sqrt(np.mean(_difference(approximate, exact) ** 2)))


def _difference(values: Array, reference: Array) -> Array:
    """(N,) largest difference of each state over its largest value."""
    difference = np.abs(values - reference).max(axis=1)
    relative: Array = difference / np.abs(reference).max(axis=1)
    return relative


def worst(found: Sequence[Costs], table: str) -> tuple[float, str]:
    """The largest disagreement of a table, and on which robot."""
    one = max(found, key=lambda c: c.errors[table])
    return one.errors[table], one.stand.ours
