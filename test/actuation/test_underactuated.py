"""A robot with springs that nothing drives: what its motors can do, and where its energy goes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import simpson
from support.cassie import SPRINGS, cassie, damping
from support.figures import relative

import closed_loop_dynamics as cld
from tools.oracles.mjcf import MjcfOracle

Array = np.ndarray


@cache
def leg() -> cld.Robot:
    """One leg, its pelvis held."""
    return cld.load(cassie(("left",), floating=False), prepare=())


@cache
def whole() -> cld.Robot:
    return cld.load(cassie(), prepare=())


def motions(robot: cld.Robot, count: int = 4) -> list[tuple[Array, Array, Array]]:
    rng = np.random.default_rng(7)
    rest = robot.mechanism.m
    return [
        (
            robot.integrate(_neutral(robot), 0.1 * rng.uniform(-1, 1, rest)),
            *rng.uniform(-1, 1, (2, rest)),
        )
        for _ in range(count)
    ]


def _neutral(robot: cld.Robot) -> Array:
    y = np.zeros(robot.mechanism.n_y)
    if robot.mechanism.floating:
        y[6] = 1.0
    return y


def test_it_has_the_mobility_of_the_real_one() -> None:
    """Six of the pelvis, and seven in each leg, two of which are springs that nothing drives."""
    robot = whole()
    assert (robot.m, robot.p, len(robot.mechanism.loops)) == (6 + 14, 10, 4)
    assert len(robot.actuation.undriven(_neutral(robot))) == 4
    sprung = {spring.joint: spring.stiffness for spring in robot.mechanism.tree.springs}
    sides = ("left", "right")
    assert sprung == {f"{side}_{name}": k for name, k in SPRINGS.items() for side in sides}


@pytest.mark.parametrize("which", [leg, whole])
def test_motions_that_it_can_do_leave_nothing_over(which: object) -> None:
    """What the motors make of some forces, answered by those forces, at speed."""
    robot = which()  # type: ignore[operator]
    rng = np.random.default_rng(8)
    for y, yd, _ in motions(robot):
        tau = rng.uniform(-20.0, 20.0, robot.p)
        found = robot.actuation.inverse_dynamics(y, yd, robot.forward_dynamics(y, yd, tau))
        assert relative(found.tau_u, tau) <= 1e-9
        assert np.max(np.abs(found.residual)) <= 1e-8


def test_of_other_motions_it_says_what_is_left() -> None:
    """The residual is what the motors lack, across all that they give; MuJoCo has the forces."""
    robot = leg()
    oracle = MjcfOracle(cassie(("left",), floating=False), robot.names.spanning)
    for y, yd, ydd in motions(robot):
        found, state = robot.actuation.inverse_dynamics(y, yd, ydd), robot.state(y, yd, ydd)
        G, G_u = robot.loop_jacobian(y), robot.actuator_jacobian(y)
        bias, passive = oracle.forces(state.q, state.qd)
        tau_y = G.T @ (oracle.mass_matrix(state.q) @ state.qdd + bias - passive)
        assert relative(G_u.T @ found.tau_u + found.residual, tau_y) <= 1e-8
        assert np.max(np.abs(G_u @ found.residual)) <= 1e-8 * np.max(np.abs(tau_y))
        assert np.max(np.abs(found.residual)) > 0.1
        with pytest.raises(cld.Underactuated, match=r"actuation\.inverse_dynamics"):
            robot.inverse_dynamics(y, yd, ydd)
    y, yd, ydd = (np.array(rows) for rows in zip(*motions(robot), strict=True))
    batch = robot.actuation.inverse_dynamics(y, yd, ydd)
    assert relative(batch.residual[-1], found.residual) <= 1e-12


def test_where_all_is_driven_it_is_inverse_dynamics() -> None:
    robot = cld.load("crank_leg")
    rng = np.random.default_rng(9)
    y = robot.random_independent(rng, 1)[0]
    yd, ydd = rng.uniform(-1.0, 1.0, (2, robot.m))
    found = robot.actuation.inverse_dynamics(y, yd, ydd)
    assert relative(found.tau_u, robot.inverse_dynamics(y, yd, ydd)) <= 1e-10
    assert np.max(np.abs(found.residual)) <= 1e-9


def test_it_drops_and_settles_and_its_energy_is_accounted_for() -> None:
    """Let go with the pelvis held: what is lost is what the dampers took, to 1e-6 of it."""
    robot = leg()
    y, yd, h, steps = np.zeros(robot.m), np.zeros(robot.m), 1e-4, 5
    start = sum(robot.energy(y, yd))
    rest = robot.equilibrium(y).y
    power, d = [0.0], np.array([damping(joint) for joint in robot.names.spanning])
    for _ in range(16_000):
        y, yd = robot.step(y, yd, np.zeros(robot.p), h, steps=steps)
        power.append(float(d @ robot.state(y, yd).qd ** 2))
    lost = float(simpson(power, dx=steps * h))
    assert lost > 1.0
    assert abs(start - sum(robot.energy(y, yd)) - lost) <= 1e-6 * lost
    assert np.max(np.abs(yd)) <= 0.01 and np.max(np.abs(y - rest)) <= 0.01


def test_in_free_flight_nothing_is_lost_but_in_the_dampers() -> None:
    """The whole robot falls: gravity does work on the centre of mass only."""
    robot = whole()
    y, yd, h = _neutral(robot), np.zeros(robot.m), 1e-4
    yd[-3:] = 0.5
    start, power = sum(robot.energy(y, yd)), []
    d = np.array([damping(joint) for joint in robot.names.spanning[1:]])
    for _ in range(401):
        power.append(float(d @ robot.state(y, yd).qd[6:] ** 2))
        last = y, yd
        y, yd = robot.step(y, yd, np.zeros(robot.p), h, steps=2)
    lost = float(simpson(power, dx=2 * h))
    assert lost > 0.01
    assert abs(start - sum(robot.energy(*last)) - lost) <= 1e-6 * lost
