"""jvp, vjp, links, centre of mass and integrator of every shipped robot, at speed."""

from __future__ import annotations

import numpy as np
import pytest
from support.crank_legs import flying
from support.richardson import derivative
from support.shipped import shipped

import closed_loop_dynamics as cld
from tools.robots import SHIPPED

Array = np.ndarray
#: Of the largest entry.
TOLERANCE = 1e-7
QUICK = {"crank_leg", "geared_chain", "belt_chain", "heavy_duty_loop"}
every_robot = pytest.mark.parametrize(
    "name",
    ["flying", *(n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in SHIPPED)],
)


def robot_called(name: str) -> cld.Robot:
    """A shipped robot, or the crank leg with a floating base."""
    return flying() if name == "flying" else shipped(name)


def moving(robot: cld.Robot, seed: int) -> tuple[Array, Array, Array]:
    """A state well within the limits, for steps to both sides, with all joints moving."""
    rng = np.random.default_rng(seed)
    samples = robot.random_independent(rng, 3)
    base = 7 if robot.mechanism.floating else 0
    y = np.concatenate([samples[0, :base], samples[:, base:].mean(axis=0)])
    return y, rng.uniform(-1.5, 1.5, robot.m), rng.uniform(-1.5, 1.5, robot.m)


def away(found: Array, expected: Array, least: float = 1e-12) -> float:
    """Relative to the largest entry, or to ``least``."""
    assert found.shape == expected.shape
    return float(np.max(np.abs(found - expected)) / max(least, np.max(np.abs(expected))))


@every_robot
def test_directional_derivatives_are_the_matrices_times_a_vector(name: str) -> None:
    robot = robot_called(name)
    y, yd, ydd = moving(robot, 5)
    rng = np.random.default_rng(6)
    along = rng.normal(size=(3, robot.m))
    parts = robot.generalized_force_derivatives(y, yd, ydd)
    found = robot.jvp("generalized_forces", (y, yd, ydd), along)
    assert away(found, sum(J @ d for J, d in zip(parts, along, strict=True))) <= 1e-9
    weights = rng.normal(size=robot.m)
    gradients = robot.vjp("generalized_forces", (y, yd, ydd), weights)
    for gradient, J in zip(gradients, parts, strict=True):
        assert away(gradient, J.T @ weights) <= 1e-9


@every_robot
def test_of_a_link_and_of_the_centre_of_mass(name: str) -> None:
    robot = robot_called(name)
    y, yd, _ = moving(robot, 7)
    link = robot.mechanism.tree.bodies[-1].link
    m, move = robot.m, robot.integrate
    dR, dp, dJ = robot.link_derivatives(link, y)
    # A link that never turns, or always alike, has only noise: less than 1 % is none.
    by = {
        "R": (dR, lambda d: robot.pose(link, move(y, d))[:3, :3]),
        "p": (dp, lambda d: robot.pose(link, move(y, d))[:3, 3]),
        "J": (dJ, lambda d: robot.jacobian(link, move(y, d))),
    }
    for what, (found, of) in by.items():
        assert away(found, derivative(of, m), 0.01) <= TOLERANCE, what
    com, velocity = robot.center_of_mass_derivatives(y, yd)
    assert away(com, derivative(lambda d: robot.center_of_mass(move(y, d)), m)) <= TOLERANCE
    run = robot.center_of_mass_velocity
    assert away(velocity, derivative(lambda d: run(move(y, d), yd), m)) <= TOLERANCE
    assert away(com, derivative(lambda d: run(y, yd + d), m)) <= TOLERANCE


@every_robot
def test_of_the_integrators_steps(name: str) -> None:
    robot = robot_called(name)
    y, yd, ydd = moving(robot, 8)
    tau = robot.inverse_dynamics(y, yd, ydd)
    size, m, h, steps = max(1.0, float(np.max(np.abs(tau)))), robot.m, 2e-3, 2
    found = robot.step_derivatives(y, yd, tau, h, steps=steps)
    there, speed = robot.step(y, yd, tau, h, steps=steps)
    assert np.max(np.abs(robot.difference(there, found.y))) <= 1e-9
    assert away(found.yd, speed) <= 1e-9

    def ends(y: Array, yd: Array, tau: Array, h: float = h) -> Array:
        end, speed = robot.step(y, yd, tau, h, steps=steps)
        return np.concatenate([robot.difference(there, end), speed])

    by_y = derivative(lambda d: ends(robot.integrate(y, d), yd, tau), m)
    by_yd = derivative(lambda d: ends(y, yd + d, tau), m)
    by_tau = derivative(lambda d: ends(y, yd, tau + size * d), robot.p) / size
    by_h = derivative(lambda d: ends(y, yd, tau, h + 0.1 * d[0]), 1)[:, 0] / 0.1
    assert away(found.dz_dz, np.hstack([by_y, by_yd])) <= TOLERANCE
    assert away(found.dz_dtau, by_tau) <= TOLERANCE
    assert away(found.dz_dh, by_h) <= TOLERANCE
