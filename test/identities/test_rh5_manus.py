"""RH5 robots, ours and the published ones, obey the equations of motion: 1000 random motions each.

Loop residual, K and k are the oracle's, so none of these identities is the package against itself.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from support import figures
from support.figures import Motions, relative
from support.rh5 import COUNTS, FILES, IDLE, every_robot, kinds, needs_models, rh5_oracle

import closed_loop_dynamics as cld

COUNT = 1000


@cache
def motions_of(name: str) -> Motions:
    robot = cld.load(*FILES[name], solver="numerical")
    names = ("state", "loop_jacobian", "loop_bias", "generalized_forces")
    robot.prepare(*names, "inverse_dynamics", "forward_dynamics", batch=True)
    return Motions.random(robot, rh5_oracle(name, robot.names.spanning), COUNT)


@every_robot
def test_robot_has_the_published_number_of_joints(name: str) -> None:
    robot = motions_of(name).robot
    assert (robot.n, robot.m, robot.p) == COUNTS[name]
    lengths = [len(names) for names in (robot.names.spanning, robot.names.independent)]
    assert lengths == [robot.n, robot.m]
    assert set(robot.names.independent) | set(robot.names.actuator) <= set(robot.names.spanning)


@every_robot
def test_loops_are_closed(name: str) -> None:
    motions = motions_of(name)
    assert len(motions.state.q) == COUNT
    assert figures.loop_residual(motions) <= 1e-10
    assert np.max(motions.state.residual) <= 1e-10


@every_robot
def test_independent_joints_are_where_they_were_sent(name: str) -> None:
    motions = motions_of(name)
    entries = motions.oracle.q_columns(motions.robot.names.independent)
    np.testing.assert_array_equal(motions.state.q[:, entries], motions.y)


@every_robot
def test_loop_jacobian_is_in_the_null_space_of_K(name: str) -> None:
    assert figures.loop_jacobian_residual(motions_of(name)) <= 1e-9


@every_robot
def test_loop_bias_solves_K_g_equal_k_at_speed(name: str) -> None:
    assert figures.loop_bias_residual(motions_of(name)) <= 1e-8


@every_robot
def test_state_moves_with_G_and_g(name: str) -> None:
    assert figures.motion_residual(motions_of(name)) <= 1e-12


@every_robot
def test_forward_dynamics_inverts_inverse_dynamics_at_speed(name: str) -> None:
    assert figures.round_trip(motions_of(name)) <= 1e-9


@every_robot
def test_actuators_and_independent_joints_have_the_same_power(name: str) -> None:
    assert figures.power_balance(motions_of(name)) <= 1e-12


@every_robot
def test_only_the_loose_joints_of_the_wrist_are_idle(name: str) -> None:
    motions = motions_of(name)
    assert set(motions.idle) == IDLE.get(name, set())
    entries = motions.oracle.columns(motions.idle)
    np.testing.assert_allclose(motions.state.q[:, entries], 0.0, atol=1e-15)
    assert not np.any(motions.g[:, entries])


@every_robot
def test_loop_jacobian_is_the_derivative_of_the_positions(name: str) -> None:
    motions = motions_of(name).first(20)
    inside = 0.98 * motions.y  # the differences must not leave the box
    step = 1e-5
    G = motions.robot.loop_jacobian(inside)
    for j in range(motions.robot.m):
        ahead, behind = inside.copy(), inside.copy()
        ahead[:, j] += step
        behind[:, j] -= step
        difference = motions.robot.state(ahead).q - motions.robot.state(behind).q
        assert relative(difference / (2 * step), G[:, :, j]) <= 1e-6


@every_robot
def test_one_sample_equals_the_batch(name: str) -> None:
    motions = motions_of(name)
    robot, y, yd, ydd = motions.robot, motions.y, motions.yd, motions.ydd
    tau_u = motions.inverse_dynamics()
    for i in range(0, COUNT, 50):
        single = robot.state(y[i], yd[i], ydd[i])
        for part in ("q", "qd", "qdd", "u", "ud", "udd"):
            batch = getattr(motions.state, part)[i]
            assert relative(getattr(single, part)[None], batch[None]) <= 1e-12, part
        assert relative(robot.inverse_dynamics(y[i], yd[i], ydd[i])[None], tau_u[i][None]) <= 1e-12


@needs_models
def test_the_full_robot_takes_the_head_couplings_from_the_sub_urdf() -> None:
    motions = motions_of("full")
    q = dict(zip(motions.robot.names.spanning, motions.state.q.T, strict=True))
    np.testing.assert_allclose(q["HeadActL"], q["HeadRoll"] - q["HeadPitch"], atol=1e-14)
    np.testing.assert_allclose(q["HeadActR"], -q["HeadRoll"] - q["HeadPitch"], atol=1e-14)


@kinds("leg", "reduced")
def test_zero_velocity_gives_zero_bias_of_the_loops(name: str) -> None:
    motions = motions_of(name)
    assert not np.any(motions.robot.loop_bias(motions.y[:50], np.zeros(motions.robot.m)))
