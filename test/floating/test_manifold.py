"""Moving on the manifold of y: integrate and difference, against each other and Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import InvalidInput
from closed_loop_dynamics.quantities.coordinates import position_rate

Array = np.ndarray
TURNS = [0.0, 1e-12, 1e-7, 1e-3, 0.0099, 0.0101, 0.5, 2.0, 3.0, np.pi - 1e-3, np.pi - 1e-7]


def poses(robot: cld.Robot, count: int, seed: int = 0) -> Array:
    return robot.random_independent(np.random.default_rng(seed), count)


def steps(robot: cld.Robot, count: int, turn: float, seed: int = 1) -> Array:
    """(count, m) random velocities whose base turns by ``turn`` radians."""
    dy = np.random.default_rng(seed).normal(size=(count, robot.m))
    dy[:, :3] *= turn / np.linalg.norm(dy[:, :3], axis=1, keepdims=True)
    return dy


@pytest.mark.parametrize("turn", TURNS)
def test_difference_inverts_integrate(random_flyer: cld.Robot, turn: float) -> None:
    y, dy = poses(random_flyer, 20), steps(random_flyer, 20, turn)
    found = random_flyer.difference(y, random_flyer.integrate(y, dy))
    np.testing.assert_allclose(found, dy, atol=2e-14)


@pytest.mark.parametrize("turn", [*TURNS, np.pi, 4.0, 50.0])
def test_integrate_and_difference_agree_with_pinocchio(
    random_flyer: cld.Robot, turn: float
) -> None:
    free_flyer = pin.JointModelFreeFlyer()
    model = pin.Model()
    model.addJoint(0, free_flyer, pin.SE3.Identity(), "base")
    y, dy = poses(random_flyer, 10), steps(random_flyer, 10, turn)
    y1 = random_flyer.integrate(y, dy)
    for before, step, after in zip(y, dy, y1, strict=True):
        twist = step[[3, 4, 5, 0, 1, 2]]
        expected = pin.integrate(model, before[:7], twist)
        T, S = (pin.XYZQUATToSE3(p) for p in (expected, after[:7]))
        np.testing.assert_allclose(S.homogeneous, T.homogeneous, atol=1e-12)
        if turn < np.pi - 1e-2:
            back = pin.difference(model, before[:7], after[:7])
            mine = random_flyer.difference(before, after)
            np.testing.assert_allclose(mine[:6], back[[3, 4, 5, 0, 1, 2]], atol=1e-10)
    np.testing.assert_array_equal(y1[:, 7:], y[:, 7:] + dy[:, 6:])


def test_half_a_turn_has_a_difference_that_leads_there(random_flyer: cld.Robot) -> None:
    y, dy = poses(random_flyer, 20), steps(random_flyer, 20, np.pi)
    y1 = random_flyer.integrate(y, dy)
    found = random_flyer.difference(y, y1)
    np.testing.assert_allclose(np.linalg.norm(found[:, :3], axis=1), np.pi, atol=1e-12)
    again = random_flyer.integrate(y, found)
    same = np.sign(np.sum(again[:, 3:7] * y1[:, 3:7], axis=1, keepdims=True))
    np.testing.assert_allclose(again[:, 3:7] * same, y1[:, 3:7], atol=1e-12)
    np.testing.assert_allclose(again[:, :3], y1[:, :3], atol=1e-12)


def test_difference_does_not_see_the_sign_of_a_quaternion(random_flyer: cld.Robot) -> None:
    y, dy = poses(random_flyer, 20), steps(random_flyer, 20, 1.0)
    y1 = random_flyer.integrate(y, dy)
    y1[:, 3:7] *= -1.7  # neither its sign nor its length mean anything
    np.testing.assert_allclose(random_flyer.difference(y, y1), dy, atol=2e-14)


def test_velocities_are_the_rate_of_the_positions(random_flyer: cld.Robot) -> None:
    """yd moves the base link as its Jacobian says, and y as position_rate says."""
    robot, h = random_flyer, 1e-6
    for y, yd in zip(poses(robot, 5), steps(robot, 5, 1.5), strict=True):
        ahead, behind = (robot.integrate(y, s * yd) for s in (h, -h))
        rate = (ahead - behind) / (2 * h)
        np.testing.assert_allclose(rate, position_rate(robot.mechanism, y, yd), atol=1e-8)
        link = robot.mechanism.tree.bodies[-1].link
        J = robot.jacobian(link, y)
        T, T1, T0 = (robot.pose(link, p) for p in (y, ahead, behind))
        rates = np.linalg.inv(T) @ (T1 - T0) / (2 * h)
        twist = [rates[2, 1], rates[0, 2], rates[1, 0], *rates[:3, 3]]
        np.testing.assert_allclose(twist, J @ yd, atol=1e-7)


def test_one_sample_equals_the_batch_and_broadcasts(random_flyer: cld.Robot) -> None:
    y, dy = poses(random_flyer, 4), steps(random_flyer, 4, 2.0)
    batch = random_flyer.integrate(y, dy)
    for i in range(4):
        np.testing.assert_array_equal(random_flyer.integrate(y[i], dy[i]), batch[i])
    np.testing.assert_array_equal(random_flyer.integrate(y[0], dy)[0], batch[0])
    np.testing.assert_array_equal(
        random_flyer.difference(y[0], batch)[0], random_flyer.difference(y[0], batch[0])
    )


def test_a_fixed_base_adds_and_subtracts(leg: cld.Robot) -> None:
    y, dy = np.array([0.1, 0.2, 0.3]), np.array([1.0, -2.0, 3.0])
    np.testing.assert_array_equal(leg.integrate(y, dy), y + dy)
    np.testing.assert_array_equal(leg.difference(y, y + dy), (y + dy) - y)


def test_bad_input_is_named(random_flyer: cld.Robot) -> None:
    y = poses(random_flyer, 3)
    dy = np.zeros((3, random_flyer.m))
    with pytest.raises(InvalidInput, match="dy"):
        random_flyer.integrate(y, y)
    with pytest.raises(InvalidInput, match="different length"):
        random_flyer.integrate(y, dy[:2])
    with pytest.raises(InvalidInput, match="finite"):
        random_flyer.integrate(y, dy + np.nan)
    lost = y[0].copy()
    lost[3:7] = 0.0
    with pytest.raises(InvalidInput, match="quaternion"):
        random_flyer.difference(lost, y[1])
