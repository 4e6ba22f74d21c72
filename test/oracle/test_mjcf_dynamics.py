"""MJCF robots against MuJoCo itself: its inertia, its forces and its own equalities, at speed."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from support.figures import relative
from support.mjcf import ROBOTS

import closed_loop_dynamics as cld
from tools.oracles.mjcf import STEP, MjcfOracle

COUNT = 8
every_robot = pytest.mark.parametrize("name", list(ROBOTS))


@cache
def moving(name: str) -> list[SimpleNamespace]:
    """States of a robot with G, g, and what MuJoCo has to say about each."""
    robot = cld.load(ROBOTS[name])
    oracle = MjcfOracle(ROBOTS[name], robot.names.spanning)
    rng = np.random.default_rng(3)
    result = []
    for y in robot.random_independent(rng, COUNT):
        yd, ydd = rng.uniform(-1.0, 1.0, (2, robot.m))
        state = robot.state(y, yd, ydd)
        bias, passive = oracle.forces(state.q, state.qd)
        result.append(
            SimpleNamespace(
                robot=robot,
                oracle=oracle,
                y=y,
                yd=yd,
                state=state,
                G=robot.loop_jacobian(y),
                g=robot.loop_bias(y, yd),
                M=oracle.mass_matrix(state.q),
                bias=bias,
                passive=passive,
            )
        )
    return result


@every_robot
def test_mujocos_own_equalities_hold_at_speed(name: str) -> None:
    for at in moving(name):
        phi, K = at.oracle.rows(at.state.q)
        assert len(phi) >= 3 and np.max(np.abs(phi)) <= 1e-8
        assert np.max(np.abs(K @ at.G)) <= 1e-8
        q_after, q_before = (at.oracle.moved(at.state.q, at.state.qd, s * STEP) for s in (1, -1))
        rate = (at.oracle.rows(q_after)[1] - at.oracle.rows(q_before)[1]) / (2.0 * STEP)
        assert np.max(np.abs(K @ at.g + rate @ at.state.qd)) <= 1e-7  # finite differences


@every_robot
def test_mass_matrix_gravity_and_coriolis_forces(name: str) -> None:
    for at in moving(name):
        assert relative(at.robot.mass_matrix(at.y), at.G.T @ at.M @ at.G) <= 1e-8
        still, _ = at.oracle.forces(at.state.q, 0.0 * at.state.qd)
        assert relative(at.robot.gravity(at.y), at.G.T @ still) <= 1e-8
        moved = at.G.T @ (at.M @ at.g + at.bias - at.passive)
        assert relative(at.robot.bias(at.y, at.yd), moved) <= 1e-8


@every_robot
def test_forward_dynamics_with_rotors_and_damping(name: str) -> None:
    rng = np.random.default_rng(4)
    for at in moving(name):
        tau = rng.uniform(-3.0, 3.0, at.robot.p)
        M_y = at.G.T @ at.M @ at.G
        drive = at.robot.actuator_jacobian(at.y).T @ tau
        rest = at.G.T @ (at.passive - at.bias - at.M @ at.g)
        expected = np.linalg.solve(M_y, drive + rest)
        assert relative(at.robot.forward_dynamics(at.y, at.yd, tau), expected) <= 1e-8
