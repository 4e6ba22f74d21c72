"""Springs at joints and between points against MuJoCo, which reads them by itself, at speed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest
from support.figures import relative
from support.mjcf import FLYING, bar
from support.mjcf import robot as mjcf
from support.richardson import derivative

import closed_loop_dynamics as cld
from tools.oracles.mjcf import MjcfOracle

#: Springs at a driven and a passive joint, to the wall and across the loop.
SPRUNG = mjcf(
    bar("crank", 0.2, "0 0 0",
        bar("rod", 0.5, "0.2 0 0", '<site name="on_rod" pos="0.2 0.05 0.03"/>',
            '<joint name="rod_joint" stiffness="3" springref="0.7"/>'),
        '<joint name="crank_joint" ref="0.2" range="-1 1" stiffness="5" springref="-0.3"/>')
    + bar("rocker", 0.5, "0.4 -0.5 0", '<site name="tip" pos="0.3 0.5 0"/>')
    + '<site name="wall" pos="0.1 0.3 0.2"/>',
    '<connect name="pin" body1="rod" body2="rocker" anchor="0.5 0 0"/>',
    '<motor joint="crank_joint" gear="7"/>',
    '<tendon><spatial stiffness="40" springlength="0.1"><site site="wall"/><site site="on_rod"/>'
    '</spatial><spatial stiffness="20" springlength="0.3"><site site="tip"/>'
    '<site site="on_rod"/></spatial></tendon>',
)  # fmt: skip
#: A floating base, pulled to the world; a spring between two of its limbs.
TETHERED = (
    FLYING.replace('name="hip"', 'name="hip" stiffness="7" springref="0.4"')
    .replace('<joint name="hip"', '<site name="paw" pos="0.3 0.02 0.1"/><joint name="hip"')
    .replace('<joint name="grip_joint"', '<site name="lever" pos="0 0.1 0"/>'
             '<joint name="grip_joint"')
    .replace("<worldbody>", '<tendon><spatial stiffness="40" springlength="0.1"><site site="wall"/>'
             '<site site="paw"/></spatial><spatial stiffness="30" springlength="0.2">'
             '<site site="paw"/><site site="lever"/></spatial></tendon>'
             '<worldbody><site name="wall" pos="0.4 0.1 0.2"/>')
)  # fmt: skip
ROBOTS = {"four bar": SPRUNG, "tethered": TETHERED}
every_robot = pytest.mark.parametrize("name", list(ROBOTS))


@cache
def moving(name: str) -> list[SimpleNamespace]:
    robot = cld.load(ROBOTS[name], prepare=())
    oracle = MjcfOracle(ROBOTS[name], robot.names.spanning)
    rng = np.random.default_rng(5)
    result = []
    for y in robot.random_independent(rng, 4):
        yd, ydd = rng.uniform(-1.0, 1.0, (2, robot.m))
        state, G, g = robot.state(y, yd), robot.loop_jacobian(y), robot.loop_bias(y, yd)
        M, (bias, passive) = oracle.mass_matrix(state.q), oracle.forces(state.q, state.qd)
        bias = G.T @ (M @ g + bias - passive)
        found = dict(robot=robot, y=y, yd=yd, ydd=ydd, M_y=G.T @ M @ G, bias=bias)
        result.append(SimpleNamespace(**found, springs=G.T @ passive))
    return result


@every_robot
def test_mass_matrix_bias_and_forward_dynamics(name: str) -> None:
    rng = np.random.default_rng(6)
    for at in moving(name):
        assert np.max(np.abs(at.springs)) > 0.1
        assert relative(at.robot.mass_matrix(at.y), at.M_y) <= 1e-8
        assert relative(at.robot.bias(at.y, at.yd), at.bias) <= 1e-8
        tau = rng.uniform(-3.0, 3.0, at.robot.p)
        right = at.robot.actuator_jacobian(at.y).T @ tau - at.bias
        expected = np.linalg.solve(at.M_y, right)
        for method in ("cluster_aba", "projection", "lagrange"):
            found = at.robot.forward_dynamics(at.y, at.yd, tau, method=method)
            assert relative(found, expected) <= 1e-8


@every_robot
def test_forces_are_the_slope_of_the_energy(name: str) -> None:
    for at in moving(name):
        potential = partial(potential_energy, at.robot, at.y)
        assert relative(at.robot.gravity(at.y), derivative(potential, at.robot.m)[0]) <= 1e-8


def potential_energy(robot: cld.Robot, y: np.ndarray, d: np.ndarray) -> np.ndarray:
    return np.atleast_1d(robot.energy(robot.integrate(y, d), np.zeros(robot.m)).potential)


@every_robot
def test_derivatives_by_richardson(name: str) -> None:
    for at in moving(name):
        robot, tau = at.robot, np.full(at.robot.p, 0.7)
        found = robot.generalized_force_derivatives(at.y, at.yd, at.ydd).dtau_dy
        moved = partial(displaced, robot, robot.generalized_forces, at.y, at.yd, at.ydd)
        assert relative(found, derivative(moved, robot.m)) <= 1e-7
        found = robot.forward_dynamics_derivatives(at.y, at.yd, tau).dydd_dy
        moved = partial(displaced, robot, robot.forward_dynamics, at.y, at.yd, tau)
        assert relative(found, derivative(moved, robot.m)) <= 1e-7


def displaced(
    robot: cld.Robot,
    method: Callable[..., np.ndarray],
    y: np.ndarray,
    yd: np.ndarray,
    last: np.ndarray,
    d: np.ndarray,
) -> np.ndarray:
    return method(robot.integrate(y, d), yd, last)
