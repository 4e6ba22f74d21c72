"""Derivatives of every shipped robot against extrapolated finite differences, at speed."""

from __future__ import annotations

import numpy as np
import pytest
from support.richardson import derivative
from support.shipped import shipped

import closed_loop_dynamics as cld
from tools.robots import SHIPPED

Array = np.ndarray
#: Of the largest entry of the matrix.
TOLERANCE = 1e-7
SLOW = {
    *("rh5_manus", "rh5_humanoid", "exo_ankle", "irsbot2", "delta", "six_ups", "belt_humanoid"),
    *("differential_humanoid", "geared_humanoid", "geared_quadruped", "exo_hip"),
}
every_robot = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in SHIPPED]
)


def moving(robot: cld.Robot, seed: int) -> tuple[Array, Array, Array]:
    """A state well within the limits, for steps to both sides, with all joints moving."""
    rng = np.random.default_rng(seed)
    samples = robot.random_independent(rng, 3)
    base = robot.mechanism.n_y - robot.m + 6 if robot.mechanism.floating else 0
    y = np.concatenate([samples[0, :base], samples[:, base:].mean(axis=0)])
    return y, rng.uniform(-1.5, 1.5, robot.m), rng.uniform(-1.5, 1.5, robot.m)


def away(found: Array, expected: Array) -> float:
    assert found.shape == expected.shape
    return float(np.max(np.abs(found - expected)) / max(1e-12, np.max(np.abs(expected))))


@every_robot
def test_of_inverse_dynamics(name: str) -> None:
    robot = shipped(name)
    y, yd, ydd = moving(robot, 3)
    dy, dyd, dydd = robot.inverse_dynamics_derivatives(y, yd, ydd)
    run, m = robot.inverse_dynamics, robot.m
    assert away(dy, derivative(lambda d: run(robot.integrate(y, d), yd, ydd), m)) <= TOLERANCE
    assert away(dyd, derivative(lambda d: run(y, yd + d, ydd), m)) <= TOLERANCE
    assert away(dydd, derivative(lambda d: run(y, yd, ydd + d), m)) <= TOLERANCE


@every_robot
def test_of_forward_dynamics(name: str) -> None:
    robot = shipped(name)
    y, yd, ydd = moving(robot, 4)
    tau = robot.inverse_dynamics(y, yd, ydd)
    size = max(1.0, float(np.max(np.abs(tau))))
    tau = tau + 0.1 * size * np.sin(np.arange(robot.p))
    dy, dyd, dtau = robot.forward_dynamics_derivatives(y, yd, tau)
    run, m = robot.forward_dynamics, robot.m
    assert away(dy, derivative(lambda d: run(robot.integrate(y, d), yd, tau), m)) <= TOLERANCE
    assert away(dyd, derivative(lambda d: run(y, yd + d, tau), m)) <= TOLERANCE
    moved = derivative(lambda d: run(y, yd, tau + size * d), robot.p) / size
    assert away(dtau, moved) <= TOLERANCE


@every_robot
def test_of_the_state(name: str) -> None:
    robot = shipped(name)
    y, yd, ydd = moving(robot, 5)
    found = robot.state_derivatives(y, yd, ydd)
    mech, m = robot.mechanism, robot.m
    scalar = mech.scalar_joints(mech.spanning)
    rows, rates = (np.concatenate([np.r_[of.rows[b]] for b in scalar]) for of in (mech.q, mech.qd))

    def along(d: Array) -> Array:
        s = robot.state(robot.integrate(y, d), yd, ydd)
        return np.concatenate([s.q[rows], s.qd, s.qdd])

    expected = derivative(along, m)
    ends = np.cumsum([len(rows), robot.n])
    by_y = (found.dq_dy[rates], found.dqd_dy, found.dqdd_dy)
    for part, moved in zip(by_y, np.split(expected, ends), strict=True):
        assert away(part, moved) <= TOLERANCE
    for part, word in ((found.dq_dy, "qd"), (found.dqdd_dyd, "qdd")):  # G is of free turns too
        moved = derivative(lambda d, of=word: getattr(robot.state(y, yd + d, ydd), of), m)
        assert away(part, moved) <= TOLERANCE
