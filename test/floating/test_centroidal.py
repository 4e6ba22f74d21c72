"""Centre of mass, centroidal momentum and energy against Pinocchio on the spanning tree."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from support.figures import Motions, relative
from support.four_bar import FourBar
from support.random_robots import random_robot
from support.rh5 import FILES, kinds, rh5_oracle

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import SingularInertia
from tools.oracles.oracle import Oracle

Array = np.ndarray
COUNT = 10
#: Fixed and floating; rotors, mimics, planar and spatial loops; by Newton and in closed form.
SEEDS = (1, 6, 7)
every_robot = pytest.mark.parametrize("seed", SEEDS)


@cache
def motions_of(seed: int) -> Motions:
    drawn = random_robot(seed)
    solver = "numerical" if seed % 4 < 2 else "auto"
    robot = cld.load(drawn.urdf, drawn.yaml, floating_base=drawn.floating, solver=solver)
    oracle = drawn.oracle(robot.names.spanning[drawn.floating :])
    return Motions.random(robot, oracle, COUNT, seed, batch=False)


def expected(oracle: Oracle, q: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
    """Centre of mass, its velocity, momentum [angular; linear], A_G (6, n) of the tree."""
    model, data = oracle.model, oracle.data
    q_pin, v_pin = oracle.to_pinocchio_q(q), oracle.to_pinocchio_v(qd)
    pin.centerOfMass(model, data, q_pin, v_pin)
    com, velocity = data.com[0].copy(), data.vcom[0].copy()
    pin.ccrba(model, data, q_pin, v_pin)
    A = oracle.from_pinocchio_v(np.vstack([data.Ag[3:], data.Ag[:3]]))
    return com, velocity, np.concatenate([data.hg.angular, data.hg.linear]), A


def compare(motions: Motions) -> None:
    """All quantities of all motions, at speed."""
    robot, oracle = motions.robot, motions.oracle
    found = [
        motions.call("center_of_mass", motions.y),
        motions.call("center_of_mass_velocity", motions.y, motions.yd),
        motions.call("centroidal_momentum", motions.y, motions.yd),
        motions.call("centroidal_matrix", motions.y),
    ]
    states = zip(motions.state.q, motions.state.qd, strict=True)
    truth = [np.array(p) for p in zip(*(expected(oracle, *s) for s in states), strict=True)]
    truth[3] = truth[3] @ motions.G
    for mine, theirs in zip(found, truth, strict=True):
        assert relative(mine, theirs) <= 1e-10
    assert np.max(np.abs(truth[2])) > 0.1
    assert robot.total_mass == pytest.approx(pin.computeTotalMass(oracle.model), rel=1e-12)
    energies = [sum(robot.energy(y, yd)) for y, yd in zip(motions.y, motions.yd, strict=True)]
    theirs = motions.each(lambda q, qd, qdd: oracle.energy(q, qd))
    assert relative(np.array(energies)[:, None], theirs[:, None]) <= 1e-10


@every_robot
def test_random_robots_agree_with_pinocchio(seed: int) -> None:
    compare(motions_of(seed))


@kinds("full", "leg")
def test_legs_and_upper_bodies_agree_with_pinocchio(name: str) -> None:
    robot = cld.load(*FILES[name], solver="numerical")
    oracle = rh5_oracle(name, robot.names.spanning)
    compare(Motions.random(robot, oracle, COUNT, batch=False))


@every_robot
def test_kinetic_energy_is_that_of_the_mass_matrix(seed: int) -> None:
    motions = motions_of(seed)
    for y, yd in zip(motions.y[:3], motions.yd[:3], strict=True):
        kinetic = 0.5 * yd @ motions.robot.mass_matrix(y) @ yd
        assert motions.robot.energy(y, yd).kinetic == pytest.approx(kinetic, rel=1e-11)


@every_robot
def test_centre_of_mass_moves_with_its_velocity(seed: int) -> None:
    robot, h = motions_of(seed).robot, 1e-6
    for y, yd in zip(motions_of(seed).y[:3], motions_of(seed).yd[:3], strict=True):
        ahead, behind = (robot.center_of_mass(robot.integrate(y, s * yd)) for s in (h, -h))
        velocity = robot.center_of_mass_velocity(y, yd)
        np.testing.assert_allclose((ahead - behind) / (2 * h), velocity, atol=1e-8)
        linear = robot.centroidal_momentum(y, yd)[3:]
        np.testing.assert_allclose(linear, robot.total_mass * velocity, atol=1e-12)


def test_potential_energy_falls_along_gravity(flying_leg: cld.Robot) -> None:
    """dV = gravity forces times dy, in a field that is not vertical."""
    y = flying_leg.random_independent(np.random.default_rng(4))
    h, forces, still = 1e-6, flying_leg.gravity(y), np.zeros(flying_leg.m)
    for j in range(flying_leg.m):
        d = h * np.eye(flying_leg.m)[j]
        ahead, behind = (flying_leg.energy(flying_leg.integrate(y, s * d), still) for s in (1, -1))
        slope = (ahead.potential - behind.potential) / (2 * h)
        assert slope == pytest.approx(forces[j], abs=1e-6)


def test_one_sample_equals_the_batch(random_flyer: cld.Robot) -> None:
    rng = np.random.default_rng(0)
    y, yd = random_flyer.random_independent(rng, 3), rng.normal(size=(3, random_flyer.m))
    energy = random_flyer.energy(y, yd)
    assert energy.kinetic.shape == energy.potential.shape == (3,)
    for i in range(3):
        one = random_flyer.energy(y[i], yd[i])
        assert (energy.kinetic[i], energy.potential[i]) == pytest.approx(one, rel=1e-12)
    A = random_flyer.centroidal_matrix(y)
    assert A.shape == (3, 6, random_flyer.m)
    np.testing.assert_allclose(A[1], random_flyer.centroidal_matrix(y[1]), atol=1e-12)


def test_reflected_rotor_inertia_has_energy_but_no_momentum() -> None:
    bars = FourBar(0.3, 0.1, 0.25, 0.25)
    rotor = "  actuators: {crank: {rotor_inertia: 0.5}}\n"
    robots = [cld.load(bars.urdf(), bars.yaml() + extra) for extra in ("", rotor)]
    y, yd = np.array([0.3]), np.array([2.0])
    momenta = [robot.centroidal_momentum(y, yd) for robot in robots]
    np.testing.assert_allclose(momenta[1], momenta[0], rtol=1e-14)
    plain, heavy = (robot.energy(y, yd).kinetic for robot in robots)
    assert heavy - plain == pytest.approx(0.5 * 0.5 * 2.0**2, rel=1e-12)


def test_without_mass_there_is_no_centre() -> None:
    urdf = (
        '<robot name="r"><link name="base"/><link name="arm"/><joint name="j" type="continuous">'
        '<parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>'
    )
    robot = cld.load(urdf)
    with pytest.raises(SingularInertia, match="mass"):
        robot.center_of_mass([0.0])
    with pytest.raises(SingularInertia, match="mass"):
        robot.energy([0.0], [0.0])
