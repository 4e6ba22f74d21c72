"""Forces of redundant actuators: against all active sets one by one, and back through dynamics."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from scipy.optimize import least_squares, linprog
from support.four_bar import FourBar
from support.hardware import platform

import closed_loop_dynamics as cld
from closed_loop_dynamics.actuation.force_distribution import distribute, nearest, possible_fraction
from closed_loop_dynamics.arrays import Array
from tools.robots import crank_leg


@cache
def platform_robot(drives: int) -> cld.Robot:
    urdf, file, _ = platform(drives)
    return cld.load(urdf, file)


@cache
def two_cranks() -> cld.Robot:
    """A four-bar driven at crank and rocker: p = 2, m = 1."""
    mechanism = FourBar(0.3, 0.25, 0.2, 0.22)
    return cld.load(mechanism.urdf(), mechanism.yaml(active=("crank", "rocker")))


def best_of_all_active_sets(A: Array, b: Array, w: Array, lower: Array, upper: Array) -> Array:
    """Every actuator free or at a limit, in all combinations: the best of the valid ones."""
    best, cost = None, np.inf
    p = A.shape[1]
    for sides in itertools.product((0, -1, 1), repeat=p):
        fixed = {k: (lower, upper)[s > 0][k] for k, s in enumerate(sides) if s}
        if not all(map(np.isfinite, fixed.values())):
            continue
        rows = np.eye(p)[list(fixed)]
        left = np.vstack([A, rows])
        right = np.concatenate([b, list(fixed.values())])
        root = np.sqrt(w)
        tau = np.linalg.lstsq(left / root, right, rcond=1e-12)[0] / root
        valid = np.allclose(left @ tau, right, atol=1e-8) and np.all(tau >= lower - 1e-8)
        if valid and np.all(tau <= upper + 1e-8) and w @ tau**2 < cost:
            best, cost = tau, w @ tau**2
    assert best is not None
    return best


def test_limited_distribution_is_the_best_of_all_active_sets() -> None:
    rng = np.random.default_rng(0)
    limited = refused = 0
    for _ in range(150):
        m = int(rng.integers(1, 4))
        p = int(rng.integers(m, m + 3))
        A, w = rng.normal(size=(m, p)), rng.uniform(0.2, 5.0, p)
        upper, lower = rng.uniform(0.0, 2.0, p), -rng.uniform(0.0, 2.0, p)
        upper[rng.random(p) < 0.2], lower[rng.random(p) < 0.2] = np.inf, -np.inf
        if rng.random() < 0.2:
            lower[0] = upper[0] = 0.3  # a locked actuator
        b = 1.5 * rng.normal(size=m)
        possible = linprog(np.zeros(p), A_eq=A, b_eq=b, bounds=list(zip(lower, upper, strict=True)))
        found = distribute(A, b, w, lower, upper)
        assert found.in_range
        if possible.status == 2:
            refused += 1
            assert found.tau is None
            check_nearest(A, b, lower, upper)
            continue
        assert found.tau is not None
        np.testing.assert_allclose(A @ found.tau, b, atol=1e-9)
        assert np.all(found.tau >= lower - 1e-8) and np.all(found.tau <= upper + 1e-8)
        expected = best_of_all_active_sets(A, b, w, lower, upper)
        np.testing.assert_allclose(found.tau, expected, atol=1e-6)
        limited += bool(np.any(np.isclose(found.tau, lower) | np.isclose(found.tau, upper)))
    assert limited > 30 and refused > 30


def check_nearest(A: Array, b: Array, lower: Array, upper: Array) -> None:
    """Optimality of the nearest forces, and that the fraction cannot be exceeded."""
    tau = nearest(A, b, lower, upper)
    gradient = A.T @ (A @ tau - b)
    movable_up, movable_down = tau < upper - 1e-9, tau > lower + 1e-9
    assert np.all(gradient[movable_up] >= -1e-7) and np.all(gradient[movable_down] <= 1e-7)
    s = possible_fraction(A, b, lower, upper)
    assert 0.0 <= s < 1.0
    bounds = list(zip(lower, upper, strict=True))
    more = linprog(np.zeros(len(tau)), A_eq=A, b_eq=(s + 1e-3) * b, bounds=bounds)
    assert more.status == 2


def test_every_actuator_keeps_its_own_limits_however_different_they_are() -> None:
    """Weights and limits over 16 decades, two actuators on one joint: the best point of a line."""
    rng = np.random.default_rng(5)
    limited = 0
    for k in range(400):
        A, w = rng.normal(size=(1, 2)), 10.0 ** rng.uniform(-8.0, 8.0, 2)
        upper = 10.0 ** rng.uniform(-8.0, 8.0, 2)
        lower = -upper * rng.uniform(0.0, 1.0, 2) * (k % 3 > 0)  # every third only pulls
        b = A @ rng.uniform(lower, np.minimum(upper, 100.0))
        tau = distribute(A, b, w, lower, upper).tau
        assert tau is not None
        assert np.all(tau >= lower - 1e-9 * np.abs(lower))
        assert np.all(tau <= upper + 1e-9 * np.abs(upper))
        (a_0, a_1), scale = A[0], np.max(np.abs(A[0] * tau))
        assert abs(A[0] @ tau - b[0]) <= 1e-9 * scale
        ends = np.sort((b[0] - a_1 * np.array([lower[1], upper[1]])) / a_0)
        free = w[1] * a_0 * b[0] / (w[1] * a_0**2 + w[0] * a_1**2)
        best = np.clip(free, max(ends[0], lower[0]), min(ends[1], upper[0]))
        cost = w @ np.array([best, (b[0] - a_0 * best) / a_1]) ** 2
        limited += not np.isclose(best, free, rtol=1e-9)
        assert w @ tau**2 <= cost * (1.0 + 1e-6)
    assert limited > 100


def test_the_knee_keeps_its_limit_beside_a_cylinder_without_one() -> None:
    urdf, file = crank_leg.generate()
    robot = cld.load(urdf, file.replace("active: [knee_cylinder]", "active: [knee_cylinder, knee]"))
    y, tau_y = [-0.4, 0.8, -0.4], [0.0, 120.0, 0.0]
    knee = robot.names.actuator.index("knee")
    for cylinder in (1e3, 1e12, 1e300, np.inf):
        bound = np.array([80.0, cylinder, 80.0, 40.0])
        tau_u = robot.actuation.distribute(y, tau_y, bounds=(-bound, bound))
        assert tau_u[knee] == pytest.approx(80.0, rel=1e-9)
        np.testing.assert_allclose(robot.actuator_jacobian(y).T @ tau_u, tau_y, atol=1e-9)
    bound = np.array([80.0, 900.0, 80.0, 40.0])
    for asked in (80.01, 81.0, 137.0):
        weights = [1.0, 1e8, 1e-8, 1.0]
        tau_u = robot.actuation.distribute(y, [0.0, asked, 0.0], weights, (-bound, bound))
        assert tau_u[knee] == pytest.approx(80.0, rel=1e-9)
    same = robot.actuation.distribute(y, tau_y, [1.0, 2e12, 1e12, 1.0])
    np.testing.assert_allclose(same, robot.actuation.distribute(y, tau_y, [1.0, 2.0, 1.0, 1.0]))
    with pytest.raises(cld.InvalidInput, match="more than 1e\\+16"):
        robot.actuation.distribute(y, tau_y, [1.0, 1e-20, 1e20, 1.0])


@pytest.mark.parametrize("drives", [2, 4])
def test_distributed_forces_do_what_was_asked(drives: int) -> None:
    """Forward dynamics under them gives the acceleration that tau_y stands for."""
    robot = platform_robot(drives)
    rng = np.random.default_rng(2)
    for y in robot.random_independent(rng, 5):
        yd, ydd = rng.normal(size=(2, robot.m))
        tau_y = robot.generalized_forces(y, yd, ydd)
        plain = robot.actuation.distribute(y, tau_y)
        np.testing.assert_allclose(plain, robot.inverse_dynamics(y, yd, ydd), rtol=1e-8, atol=1e-9)
        weights = rng.uniform(0.1, 10.0, robot.p)
        tau_u = robot.actuation.distribute(y, tau_y, weights=weights)
        np.testing.assert_allclose(robot.forward_dynamics(y, yd, tau_u), ydd, rtol=1e-8, atol=1e-8)
        assert weights @ tau_u**2 <= weights @ plain**2 + 1e-9
        limit = 1.05 * np.max(np.abs(plain))
        box = limit * np.ones(robot.p)
        bounded = robot.actuation.distribute(y, tau_y, weights, (-box, box))
        assert np.max(np.abs(bounded)) <= limit * (1 + 1e-9)
        np.testing.assert_allclose(
            robot.forward_dynamics(y, yd, bounded), ydd, rtol=1e-8, atol=1e-8
        )


def test_a_limit_moves_the_load_to_the_other_actuator() -> None:
    robot = two_cranks()
    y, tau_y = [0.1], [10.0]
    free = robot.actuation.distribute(y, tau_y)
    cap = 0.5 * abs(free[0])
    bounds = ([-cap, -np.inf], [cap, np.inf])
    limited = robot.actuation.distribute(y, tau_y, bounds=bounds)
    assert abs(limited[0]) == pytest.approx(cap)
    G_u = robot.actuator_jacobian(y)
    assert (G_u.T @ limited)[0] == pytest.approx(10.0)
    many = robot.actuation.distribute([y, y], [tau_y, [3.0]], bounds=bounds)
    np.testing.assert_allclose(many[0], limited)


def test_what_limits_forbid_is_an_error_with_the_best_possible() -> None:
    robot = two_cranks()
    y = [0.1]
    G_u = robot.actuator_jacobian(y)[:, 0]
    most = 2.0 * abs(G_u[0]) + 3.0 * abs(G_u[1])
    with pytest.raises(cld.ActuationInfeasible, match=r"'loop'.*crank, rocker.*50 %") as caught:
        robot.actuation.distribute(y, [2.0 * most], bounds=([-2.0, -3.0], [2.0, 3.0]))
    error = caught.value
    assert error.fraction == pytest.approx(0.5)
    assert error.achieved[0] == pytest.approx(most)
    np.testing.assert_allclose(np.abs(error.best), [2.0, 3.0])
    # exactly the most that is possible is possible
    edge = robot.actuation.distribute(y, [most], bounds=([-2.0, -3.0], [2.0, 3.0]))
    np.testing.assert_allclose(np.abs(edge), [2.0, 3.0], rtol=1e-8)


def test_urdf_limits_are_taken_by_name() -> None:
    robot = two_cranks()  # the crank is continuous: no effort limit in its URDF
    assert robot.actuation.distribute([0.1], [5.0], bounds="urdf").shape == (2,)


def test_under_actuation_names_the_undriven_direction() -> None:
    robot = platform_robot(1)
    _, _, joints = platform(1)
    y = robot.random_independent(np.random.default_rng(1))
    (direction,) = robot.actuation.undriven(y)
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    assert np.max(np.abs(robot.actuator_jacobian(y) @ direction)) < 1e-12
    zero = np.zeros(robot.m)
    with pytest.raises(cld.Underactuated, match=rf"1 of 2.*drives .*{joints[0]}"):
        robot.inverse_dynamics(y, zero, zero)
    with pytest.raises(cld.Underactuated, match="drives"):
        robot.actuation.distribute(y, direction)
    with pytest.raises(cld.Underactuated):
        robot.regressor(y, zero, zero)
    with pytest.raises(cld.Underactuated):
        robot.actuation.velocity_from_actuator(y, np.zeros(robot.p))
    # what the one cylinder can give is distributed
    tau_u = np.random.default_rng(3).normal(size=robot.p)
    tau_y = robot.actuation.force_to_independent(y, tau_u)
    np.testing.assert_allclose(robot.actuation.distribute(y, tau_y), tau_u, rtol=1e-9)
    (words,) = robot.actuation.undriven_words(y)
    assert any(name in words for name in joints)
    found = [f.message for f in robot.report().findings if f.code == "underactuated"]
    assert len(found) == 1 and "nothing drives" in found[0] and joints[0] in found[0]
    assert len(platform_robot(2).actuation.undriven(y)) == 0


# -- redundant encoders ----------------------------------------------------------------------------


def test_redundant_encoders_are_fitted_in_the_least_squares_sense() -> None:
    robot = platform_robot(4)
    rng = np.random.default_rng(5)
    for y in robot.random_independent(rng, 3):
        u = robot.state(y).u
        np.testing.assert_allclose(robot.independent_from_actuator(u), y, atol=1e-9)
        assert np.max(np.abs(robot.actuation.disagreement(u))) < 1e-9
        wrong = u + 1e-3 * rng.normal(size=robot.p)
        fitted = robot.independent_from_actuator(wrong)
        scale = encoder_scale(robot)
        expected = least_squares(
            lambda v, wrong=wrong, scale=scale: (robot.state(v).u - wrong) * scale,
            y,
            xtol=1e-14,
            ftol=1e-14,
            gtol=1e-14,
        ).x
        np.testing.assert_allclose(fitted, expected, atol=1e-7)
        left = robot.actuation.disagreement(wrong)
        assert 1e-5 < np.max(np.abs(left)) < 5e-3
        np.testing.assert_allclose(left, wrong - robot.state(fitted).u, atol=1e-12)


def encoder_scale(robot: cld.Robot) -> Array:
    """Lengths count in units of the loop's size."""
    (branch,) = robot.branches.values()
    joints = [robot.mechanism.tree.bodies[b].joint for b in robot.mechanism.actuator]
    return np.array(
        [1 / branch.closure.plan.length if j.kind == "prismatic" else 1.0 for j in joints]
    )


def test_two_cranks_contradict_each_other() -> None:
    robot = two_cranks()
    wrong = robot.state([0.2]).u + np.array([0.0, 0.01])
    left = robot.actuation.disagreement(wrong)
    G_u = robot.actuator_jacobian(robot.independent_from_actuator(wrong))[:, 0]
    assert abs(left @ G_u) < 1e-9 and np.linalg.norm(left) > 1e-3


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"weights": [1.0, 0.0]}, "positive"),
        ({"weights": [1.0]}, r"weights has shape \(1,\)"),
        ({"bounds": "model"}, "valid: 'urdf'"),
        ({"bounds": ([1.0, 1.0], [0.0, 2.0])}, "lower <= upper"),
        ({"bounds": ([1.0], [2.0])}, r"must be \(2,\)"),
        ({"bounds": 3.0}, "not a pair"),
        ({"bounds": ([np.nan, 0.0], [1.0, 1.0])}, "lower <= upper"),
        ({"tau_y": [1.0, 2.0]}, "tau_y has shape"),
        ({"tau_y": [np.inf]}, "tau_y is not finite"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict, words: str) -> None:
    with pytest.raises(cld.InvalidInput, match=words):
        two_cranks().actuation.distribute([0.1], **{"tau_y": [1.0], **arguments})
