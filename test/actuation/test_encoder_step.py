"""One native step from encoders to joints, and the forces of actuators: against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from support.four_bar import FourBar, Lambda
from support.hardware import platform
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.actuation.encoders import encoder_step
from closed_loop_dynamics.errors import ActuationSingular, Underactuated
from closed_loop_dynamics.motion.impedance import actuator_forces


def robot_of(name: str) -> cld.Robot:
    if name != "redundant":
        return shipped(name)
    mechanism = FourBar(0.3, 0.25, 0.2, 0.22)
    return cld.load(mechanism.urdf(), mechanism.yaml(active=("crank", "rocker")))


@pytest.mark.parametrize(
    "name", ["rh5_leg", "six_ups", "exo_ankle", "geared_quadruped", "redundant"]
)
def test_rates_and_forces_are_those_of_the_jacobian(name: str) -> None:
    robot, rng = robot_of(name), np.random.default_rng(5)
    for y in 0.8 * robot.random_independent(rng, 5):
        G_u = robot.actuator_jacobian(y)
        ud, tau_y = rng.normal(size=robot.p), rng.normal(size=robot.m)
        away = 0.01 * rng.normal(size=robot.p)
        dy, yd = encoder_step(robot.programs, y, robot.state(y).u + away, ud)
        back = np.linalg.pinv(G_u)
        base = np.abs(G_u).max(axis=0) == 0.0  # a free flyer: no encoder sees it
        np.testing.assert_allclose(dy, back @ away, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(yd, back @ ud, rtol=1e-8, atol=1e-8)
        tau_y[base] = 0.0
        tau_u = actuator_forces(robot, y, tau_y)
        np.testing.assert_allclose(tau_u, back.T @ tau_y, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", ["rh5_leg", "six_ups"])
def test_steps_converge_quadratically_to_what_the_encoders_read(name: str) -> None:
    robot, rng = robot_of(name), np.random.default_rng(6)
    wanted = 0.5 * robot.random_independent(rng)
    yd = rng.normal(size=robot.m)
    there = robot.state(wanted, yd)
    y, errors = wanted + 0.01 * rng.normal(size=robot.m), []
    for _ in range(4):
        dy, found = encoder_step(robot.programs, y, there.u, there.ud)
        y = y + dy
        errors.append(float(np.abs(y - wanted).max()))
    assert errors[1] < 10.0 * errors[0] ** 2 + 1e-12 and errors[-1] < 1e-11
    np.testing.assert_allclose(found, yd, rtol=1e-9, atol=1e-9)


def test_what_cannot_be_told_is_an_error() -> None:
    bar = FourBar(0.3, 0.25, 0.2, 0.22)
    passive = cld.load(bar.urdf(), bar.yaml(active=()))
    with pytest.raises(Underactuated):
        encoder_step(passive.programs, np.zeros(1), np.zeros(0), np.zeros(0))
    urdf, file, _ = platform(2)
    robot = cld.load(urdf, file, solver="numerical")
    with pytest.raises(cld.ClosedLoopError):
        encoder_step(robot.programs, np.full(robot.m, 50.0), np.zeros(2), np.zeros(2))


def test_at_a_dead_point_of_the_drive_there_are_neither_rates_nor_forces() -> None:
    mechanism = Lambda()
    robot = cld.load(mechanism.urdf(), mechanism.yaml())
    y = np.array([mechanism.singular_hinge()])
    with pytest.raises(ActuationSingular):
        encoder_step(robot.programs, y, np.zeros(1), np.ones(1))
    with pytest.raises(ActuationSingular):
        actuator_forces(robot, y, np.ones(1))
