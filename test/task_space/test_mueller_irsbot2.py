"""IRSBot-2 as in Mueller 2022, Sec. 6: masses, iteration counts, residuals, convergence."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from support.manipulators import oracle_of, robot_of, task_of

from closed_loop_dynamics.task_space import TaskState
from tools.reproduce.parabola import RUNS, parabola

both_schemes = pytest.mark.parametrize("scheme", ["nested", "compound"])


@cache
def solved(run: str, scheme: str) -> TaskState:
    task = task_of("irsbot2", scheme)
    motion = parabola(task.reference, *RUNS[run], step=0.001)
    return task.inverse_kinematics(motion.x, motion.xd, motion.xdd)


def test_masses_are_the_printed_ones() -> None:
    mass = {body.link: body.mass for body in robot_of("irsbot2").mechanism.tree.bodies}
    assert mass["right_arm_link"] == pytest.approx(1.17188, abs=6e-6)
    assert mass["right_elbow_link"] == pytest.approx(8.11899, abs=6e-6)
    assert mass["right_u4_2_link"] == pytest.approx(1.1781, abs=5e-5)
    assert mass["left_u5_2_link"] == pytest.approx(1.1781, abs=5e-5)
    assert mass["platform"] == pytest.approx(1.97754, abs=6e-6)


def test_generalized_coordinates_and_task_rows_are_those_of_the_paper() -> None:
    task = task_of("irsbot2")
    # phi_1, phi_6,1, phi_6,2 command the three translations of a separated limb (Eq. 32)
    assert task.coordinates_of["right_arm"] == ("right_arm", "right_u6_1", "right_u6_2")
    assert task.coordinates_of["left_arm"][0] == "left_arm"
    assert set(task.rows.values()) == {(3, 4, 5)}


@both_schemes
@pytest.mark.parametrize("run", RUNS)
def test_at_most_three_iterations_per_millisecond(run: str, scheme: str) -> None:
    state = solved(run, scheme)
    assert len(state.x) == 1001
    assert state.iterations.max() <= 3
    assert state.iterations.max() > 1  # it is not solved by the prediction alone


@both_schemes
@pytest.mark.parametrize("run", RUNS)
def test_errors_stay_below_the_papers_tolerance(run: str, scheme: str) -> None:
    state = solved(run, scheme)
    assert state.platform_residual.max() < 1e-10
    assert state.loop_residual.max() < 1e-10


@pytest.mark.parametrize("run", RUNS)
def test_both_schemes_find_the_same_configurations(run: str) -> None:
    nested, compound = solved(run, "nested"), solved(run, "compound")
    np.testing.assert_allclose(nested.q, compound.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(nested.qdd, compound.qdd, rtol=1e-8, atol=1e-8)


def test_the_near_singular_run_is_near_singular_and_its_torques_are_large() -> None:
    task = task_of("irsbot2")
    motion = parabola(task.reference, *RUNS["near the input singularity"], step=0.001)
    limbs = [task.conditioning(x).limbs for x in motion.x[::5]]
    right, left = ([each[name].condition for each in limbs] for name in task.names)
    assert max(right) > 10.0 * np.median(right)  # Fig. 20b
    assert max(left) < 5.0
    moves = zip(motion.x, motion.xd, motion.xdd, strict=True)
    u = np.array([task.inverse_dynamics(*move) for move in moves])
    assert np.all(np.isfinite(u))
    assert np.max(np.abs(u[:, 0])) > 5.0 * np.max(np.abs(u[:, 1]))


@pytest.mark.parametrize("run", RUNS)
def test_torques_along_the_runs_are_those_of_the_whole_robot_and_of_pinocchio(run: str) -> None:
    task, robot, oracle = task_of("irsbot2"), robot_of("irsbot2"), oracle_of("irsbot2")
    motion, state = parabola(task.reference, *RUNS[run], step=0.001), solved(run, "nested")
    for k in range(0, 1001, 23):
        u = task.inverse_dynamics(motion.x[k], motion.xd[k], motion.xdd[k])
        whole = robot.inverse_dynamics(state.u[k], state.ud[k], state.udd[k])
        assert np.max(np.abs(u - whole)) <= 1e-8 * np.max(np.abs(whole))
        tau = np.zeros(robot.n)
        tau[oracle.columns(robot.names.actuator)] = u
        qdd, _ = oracle.forward_dynamics(state.q[k], state.qd[k], tau)
        assert np.max(np.abs(qdd - state.qdd[k])) <= 1e-8 * np.max(np.abs(state.qdd[k]))


def test_convergence_is_quadratic_in_both_loops() -> None:
    task = task_of("irsbot2")
    start = task.inverse_kinematics(task.reference)
    state = task.inverse_kinematics(task.reference + np.array([0.1, 0.05]), guess=start)
    assert state.errors is not None and state.inner_errors is not None
    for k in range(2):
        assert len(state.errors[k]) >= 4
        assert _quadratic(state.errors[k])
        distal = [rounds[1] for rounds in state.inner_errors[k]]
        assert len(distal[0]) == 1  # the start is closed
        assert len(distal[1]) >= 3
        assert all(_quadratic(errors) for errors in distal)
        # later outer steps need fewer inner ones (Fig. 13b)
        assert len(distal[1]) > len(distal[-1])


def _quadratic(errors: np.ndarray) -> bool:
    """Each error is at most the square of the one before, in units of the robot, or rounding."""
    return all(b <= 30.0 * a**2 + 1e-15 for a, b in pairwise(errors))


def test_the_compound_scheme_converges_quadratically() -> None:
    task = task_of("irsbot2", "compound")
    start = task.inverse_kinematics(task.reference)
    state = task.inverse_kinematics(task.reference + np.array([0.1, 0.05]), guess=start)
    assert state.errors is not None and state.inner_iterations is not None
    assert all(len(errors) >= 4 and _quadratic(errors) for errors in state.errors)
    assert all(sum(rounds) == 0 for rounds in state.inner_iterations)


def test_the_answer_does_not_depend_on_where_the_search_started() -> None:
    task = task_of("irsbot2")
    x = task.reference + np.array([0.05, 0.02])
    far = task.inverse_kinematics(task.reference + np.array([-0.1, -0.05]))
    from_far = task.inverse_kinematics(x, guess=far)
    near = task.inverse_kinematics(x + 1e-4)
    from_near = task.inverse_kinematics(x, guess=near)
    np.testing.assert_allclose(from_far.q, from_near.q, rtol=0, atol=1e-13)


def test_a_limb_loses_its_task_jacobian_where_it_is_stretched() -> None:
    task = task_of("irsbot2")
    d = np.hypot(0.1346728, 0.0)  # base of the planar limb beside the middle of the platform
    reach = 0.25 + np.sqrt(0.25 - 0.0625**2)
    low = -1 / 12 - np.sqrt((reach - 1e-4) ** 2 - d**2)
    values = [task.conditioning([0.0, z]).limbs["right_arm"].task for z in (-0.646, low)]
    assert values[1] < 0.1 * values[0]
