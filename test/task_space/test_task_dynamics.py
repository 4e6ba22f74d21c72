"""Task-space dynamics against the whole robot, Pinocchio, and energy, at speed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from support.manipulators import NAMES, RANGES, motions_of, oracle_of, robot_of, task_of

from closed_loop_dynamics.task_space import TaskState

every_manipulator = pytest.mark.parametrize("name", NAMES)


@cache
def _states(name: str) -> TaskState:
    motion = motions_of(name)
    return task_of(name).inverse_kinematics(motion.x, motion.xd, motion.xdd)


@cache
def _torques(name: str) -> np.ndarray:
    motion, task = motions_of(name), task_of(name)
    return _each(task.inverse_dynamics, motion.x, motion.xd, motion.xdd)


def _each(function: Callable[..., np.ndarray], *vectors: np.ndarray) -> np.ndarray:
    """Sample by sample: spares the compilation of the batch version."""
    return np.array([function(*sample) for sample in zip(*vectors, strict=True)])


def _independent(name: str, vectors: np.ndarray) -> np.ndarray:
    names = robot_of(name).names
    return vectors[:, [names.spanning.index(joint) for joint in names.independent]]


def _close(value: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    return float(np.max(np.abs(value - expected))) <= tolerance * float(np.max(np.abs(expected)))


@every_manipulator
def test_joints_move_as_in_the_robot_solved_as_one_submechanism(name: str) -> None:
    state, robot = _states(name), robot_of(name)
    moves = [_independent(name, v) for v in (state.q, state.qd, state.qdd)]
    for k, move in enumerate(zip(*moves, strict=True)):
        whole = robot.state(*move)
        np.testing.assert_allclose(whole.q, state.q[k], rtol=0, atol=1e-11)
        assert whole.qd is not None and whole.qdd is not None
        assert _close(state.qd[k], whole.qd, 1e-10) and _close(state.qdd[k], whole.qdd, 1e-10)


@every_manipulator
def test_the_platform_is_where_the_task_wants_it(name: str) -> None:
    state, oracle, task = _states(name), oracle_of(name), task_of(name)
    poses = np.array([oracle.pose(task.platform, q) for q in state.q])
    np.testing.assert_allclose(poses, task.pose(state.x), rtol=0, atol=1e-11)
    np.testing.assert_allclose(task.coordinates(poses[0]), state.x[0], rtol=0, atol=1e-11)


@every_manipulator
def test_velocities_and_accelerations_are_derivatives_of_positions(name: str) -> None:
    task, motion, h = task_of(name), motions_of(name), 1e-4
    state = task.inverse_kinematics(motion.x[0], motion.xd[0], motion.xdd[0])

    def at(t: float) -> np.ndarray:
        return task.inverse_kinematics(motion.x[0] + t * motion.xd[0] + t**2 / 2 * motion.xdd[0]).q

    velocity = (at(h) - at(-h)) / (2 * h)
    acceleration = (at(h) - 2 * at(0.0) + at(-h)) / h**2
    assert _close(state.qd, velocity, 1e-6)
    assert _close(state.qdd, acceleration, 1e-4)


@every_manipulator
def test_torques_equal_those_of_one_numerical_submechanism(name: str) -> None:
    state, motion = _states(name), motions_of(name)
    u = _torques(name)
    y = [_independent(name, v) for v in (state.q, state.qd, state.qdd)]
    expected = _each(robot_of(name).inverse_dynamics, *y)
    assert np.max(np.abs(motion.xd)) > 1.0 and np.max(np.abs(motion.xdd)) > 5.0
    assert _close(u, expected, 1e-8)


@every_manipulator
def test_pinocchio_accelerates_as_planned_under_these_torques(name: str) -> None:
    state, u = _states(name), _torques(name)
    oracle, robot = oracle_of(name), robot_of(name)
    for k in range(len(u)):
        tau = np.zeros(robot.n)
        tau[oracle.columns(robot.names.actuator)] = u[k]
        qdd, _ = oracle.forward_dynamics(state.q[k], state.qd[k], tau)
        assert _close(state.qdd[k], qdd, 1e-8)


@every_manipulator
def test_a_wrench_on_the_platform_is_carried_by_the_actuators(name: str) -> None:
    task, motion, oracle, robot = task_of(name), motions_of(name), oracle_of(name), robot_of(name)
    wrench = np.array([0.4, -0.3, 0.2, 5.0, -4.0, 7.0])
    u = task.inverse_dynamics(motion.x[0], motion.xd[0], motion.xdd[0], wrench)
    state = task.inverse_kinematics(motion.x[0], motion.xd[0], motion.xdd[0])
    tau = np.zeros(robot.n)
    tau[oracle.columns(robot.names.actuator)] = u
    wrenches = {task.platform: wrench}
    qdd, _ = oracle.forward_dynamics(state.q, state.qd, tau, wrenches=wrenches)
    assert _close(state.qdd, qdd, 1e-8)


@every_manipulator
def test_mass_matrix_and_bias_make_the_equation_of_motion(name: str) -> None:
    task, motion = task_of(name), motions_of(name)
    M, J = _each(task.mass_matrix, motion.x), _each(task.actuator_jacobian, motion.x)
    bias = _each(task.bias, motion.x, motion.xd)
    left = np.einsum("nij,nj->ni", M, motion.xdd) + bias
    forces = _each(task.generalized_forces, motion.x, motion.xd, motion.xdd)
    assert _close(np.einsum("nij,ni->nj", J, _torques(name)), left, 1e-10)
    assert _close(forces, left, 1e-10)
    np.testing.assert_allclose(M, np.swapaxes(M, 1, 2), rtol=0, atol=1e-12 * np.max(np.abs(M)))
    assert np.min(np.linalg.eigvalsh(M)) > 0.0


@every_manipulator
def test_actuator_power_is_the_change_of_energy(name: str) -> None:
    task, motion, oracle, h = task_of(name), motions_of(name), oracle_of(name), 1e-5
    for k in range(3):
        x, xd, xdd = motion.x[k], motion.xd[k], motion.xdd[k]
        u = task.inverse_dynamics(x, xd, xdd)
        ud = task.inverse_kinematics(x, xd, xdd).ud

        def energy(t: float) -> float:
            state = task.inverse_kinematics(x + t * xd + t**2 / 2 * xdd, xd + t * xdd)  # noqa: B023
            return oracle.energy(state.q, state.qd)

        power = (energy(h) - energy(-h)) / (2 * h)
        assert float(u @ ud) == pytest.approx(power, rel=1e-6, abs=1e-6)


@every_manipulator
def test_kinetic_energy_is_that_of_the_task_mass_matrix(name: str) -> None:
    state, motion, oracle = _states(name), motions_of(name), oracle_of(name)
    M = _each(task_of(name).mass_matrix, motion.x)
    for k in range(len(motion.x)):
        still = oracle.energy(state.q[k], 0.0 * state.qd[k])
        kinetic = oracle.energy(state.q[k], state.qd[k]) - still
        assert 0.5 * motion.xd[k] @ M[k] @ motion.xd[k] == pytest.approx(kinetic, rel=1e-9)


def test_redundant_equations_of_the_delta_are_dropped_limb_by_limb() -> None:
    task = task_of("delta")
    for limb in task.limbs:
        ((_, closure),) = limb.loops
        assert closure.plan.rank == 3 and len(closure.plan.dropped) == 1
        assert limb.limb.m == 4  # one more than the platform has: not equimobile
    assert len(RANGES["delta"]) == 3


def test_batches_equal_single_calls() -> None:
    motion = motions_of("delta")
    batch = task_of("delta").inverse_dynamics(motion.x, motion.xd, motion.xdd)
    np.testing.assert_allclose(batch, _torques("delta"), rtol=1e-9, atol=1e-9)
