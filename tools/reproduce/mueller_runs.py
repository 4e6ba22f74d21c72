"""The runs of Mueller 2022, Sec. 6.4: solved sample by sample, with what the Newton loops did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.task_space import TaskSpace, TaskState

from ..oracles.oracle import Oracle
from .beside_pinocchio import by_rows
from .parabola import PlatformMotion

#: The paper shows limb l = 1, and of its loops the distal one (four universal joints).
LIMB, DISTAL = 0, 1


@dataclass(frozen=True, eq=False)
class Run:
    """A solved run.

    Attributes:
        state: (N, ...) all samples.
        outer: (N,) updates of the limb: Algorithm 1, or Algorithm 3 with the compound scheme.
        inner: (N, rounds) updates of the distal loop (Algorithm 2) in each round of the limb, -1
            where there was none; no columns with the compound scheme.
        stopped: (N, 2) errors of the limb and of its distal loop where the iterations ended.
    """

    motion: PlatformMotion
    state: TaskState
    outer: NDArray[np.int64]
    inner: NDArray[np.int64]
    stopped: Array


def follow(task: TaskSpace, motion: PlatformMotion, predict: bool = False) -> Run:
    """Solve a motion; each sample starts from the solution before, as in the paper.

    Args:
        predict: also go along the slope d theta / dx, which is what the package does by itself.
    """
    last = task.inverse_kinematics(motion.x[0])
    states: list[TaskState] = []
    for row in zip(motion.x, motion.xd, motion.xdd, strict=True):
        last = task.inverse_kinematics(*row, guess=None if predict and states else last)
        states.append(last)
    counts = [inner_updates(state) for state in states]
    width = max(map(len, counts))
    inner = np.array([each + [-1] * (width - len(each)) for each in counts], dtype=int)
    outer = np.array([state.iterations[LIMB] for state in states])
    stopped = np.array([[_rounds(state)[-1], _last_inner(state)] for state in states])
    return Run(motion, TaskState.stacked(states), outer, inner, stopped)


def _rounds(state: TaskState) -> Array:
    assert state.errors is not None
    return state.errors[LIMB]


def inner_errors(state: TaskState) -> list[Array]:
    """Of each round of the limb, the errors of the distal loop; empty with the compound scheme."""
    assert state.inner_errors is not None
    return [loops[DISTAL] for loops in state.inner_errors[LIMB] if loops]


def inner_updates(state: TaskState) -> list[int]:
    """Of each round of the limb, the updates of the distal loop."""
    return [len(errors) - 1 for errors in inner_errors(state)]


def _last_inner(state: TaskState) -> float:
    """With the compound scheme there is one error of everything."""
    errors = inner_errors(state)
    return float(errors[-1][-1] if errors else _rounds(state)[-1])


def order(errors: Array) -> float:
    """Order of convergence of the last steps above rounding."""
    a, b, c = np.log(errors[errors > 1e-14][-3:])
    return float((c - b) / (b - a))


def periodic_derivatives(values: Array, period: float) -> tuple[Array, Array]:
    """First and second derivatives (N, k) of samples of a periodic motion, by Fourier series."""
    spectrum = np.fft.rfft(values, axis=0)
    factor = 2j * np.pi / period * np.arange(len(spectrum))[:, None]
    first, second = (np.fft.irfft(factor**k * spectrum, len(values), axis=0) for k in (1, 2))
    return first, second


def torques(task: TaskSpace, motion: PlatformMotion) -> Array:
    """(N, p) by Eq. 45."""
    rows = zip(motion.x, motion.xd, motion.xdd, strict=True)
    return np.array([task.inverse_dynamics(*row) for row in rows])


def torques_by_virtual_power(
    task: TaskSpace, tree: Oracle, run: Run, which: NDArray[np.int64]
) -> Array:
    """(len(which), p): Pinocchio's forces of the bare tree do the work of the actuators.

    For every virtual motion of the platform with joint velocities q' and actuator velocities u',
    tau_tree . q' = tau_u . u': forces of the loops do no work.
    """
    state = run.state
    given = (values[which] for values in (state.q, state.qd, state.qdd))
    forces = by_rows(tree.inverse_dynamics_tree, *given)
    found = []
    for x, tau in zip(state.x[which], forces, strict=True):
        virtual = [task.inverse_kinematics(x, axis) for axis in np.eye(len(x))]
        work = [tau @ each.qd for each in virtual]
        found.append(np.linalg.solve(np.array([each.ud for each in virtual]), work))
    return np.array(found)
