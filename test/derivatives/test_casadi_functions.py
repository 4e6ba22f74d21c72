"""Programs as CasADi functions: values, first and second derivatives, in an optimisation."""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest
from support.crank_legs import standing
from support.flying import with_pelvis
from support.richardson import derivative

import closed_loop_dynamics as cld
from tools.robots import crank_leg

Array = np.ndarray


@pytest.fixture(scope="module")
def leg() -> cld.Robot:
    return cld.load(*crank_leg.generate(), solver="numerical", prepare=())


@pytest.mark.parametrize("name", ["inverse_dynamics", "generalized_forces", "forward_dynamics"])
def test_values_and_jacobians_are_those_of_the_robot(leg: cld.Robot, name: str) -> None:
    function = leg.casadi(name)
    y, yd, last = np.array([-0.4, 0.8, -0.4]), np.array([0.3, -1.0, 0.5]), np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(  # to where Newton ends, which depends on where it starts
        np.array(function(y, yd, last)).ravel(), getattr(leg, name)(y, yd, last), rtol=1e-12
    )
    symbols = [ca.MX.sym(letter, leg.m) for letter in "abc"]
    whole = ca.vertcat(*symbols)
    jacobian = ca.Function("J", symbols, [ca.jacobian(2.0 * function(*symbols), whole)])
    words = {"generalized_forces": "generalized_force_derivatives"}
    parts = getattr(leg, words.get(name, f"{name}_derivatives"))(y, yd, last)
    np.testing.assert_allclose(np.array(jacobian(y, yd, last)), 2.0 * np.hstack(parts), rtol=1e-10)


@cache
def flyer() -> cld.Robot:
    return cld.load(*with_pelvis(crank_leg.generate()), floating_base=True, prepare=())


def flying_at(function: Any, seed: int) -> list[Array]:
    """What a function of the flyer takes, its quaternion longer than one."""
    rng = np.random.default_rng(seed)
    y = flyer().random_independent(rng)
    y[3:7] *= 1.3
    return [y, *(rng.normal(size=function.size1_in(k)) for k in range(1, function.n_in()))]


FLYING = ["generalized_forces", "forward_dynamics", "link", "state"]


@pytest.mark.parametrize("name", [*FLYING, "positions", "mass_matrix", "centroidal"])
def test_jacobians_by_the_quaternion_of_a_floating_base(name: str) -> None:
    """Its length says nothing, but for the positions q, which hold it as it is."""
    function = flyer().casadi(name, "foot" if name == "link" else None)
    y, *others = flying_at(function, 0)
    symbol = ca.MX.sym("y", len(y))
    found = ca.vertcat(*map(ca.vec, function.call([symbol, *others])))
    value, jacobian = (ca.Function("f", [symbol], [f]) for f in (found, ca.jacobian(found, symbol)))
    expected = derivative(lambda d: np.array(value(y + d)).ravel(), len(y))
    scale = np.max(np.abs(expected))
    np.testing.assert_allclose(np.array(jacobian(y)), expected, atol=1e-8 * scale)


def hessian_and_differences(function: Any, at: list[Array]) -> tuple[Array, Array]:
    """Of a weighted sum of all that a function gives: CasADi's, and of its gradient."""
    symbols = [ca.MX.sym("v", len(v)) for v in at]
    whole = ca.vertcat(*symbols)
    found = [ca.vec(part) for part in function.call(symbols)]
    total = ca.dot(ca.vertcat(*found), np.sin(1.0 + np.arange(sum(f.numel() for f in found))))
    hessian, gradient = ca.hessian(total, whole)
    second = ca.Function("H", symbols, [hessian])
    first = ca.Function("g", symbols, [gradient])
    ends = np.cumsum([len(v) for v in at])[:-1]

    def moved(d: Array) -> Array:
        return np.array(first(*np.split(np.concatenate(at) + d, ends))).ravel()

    return np.array(second(*at)), derivative(moved, sum(len(v) for v in at))


SECOND = ["inverse_dynamics", "forward_dynamics", "state", "link", "center_of_mass", "mass_matrix"]


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_with_numerical_loops(leg: cld.Robot, name: str) -> None:
    function = leg.casadi(name, "foot" if name == "link" else None)
    at = [np.array([-0.4, 0.8, -0.4]), np.array([0.3, -1.0, 0.5]), np.array([1.0, 2.0, 0.5])]
    found, expected = hessian_and_differences(function, at[: function.n_in()])
    assert np.max(np.abs(expected)) > 0.01
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.max(np.abs(expected)))


@pytest.mark.parametrize("name", FLYING)
def test_second_derivatives_by_the_quaternion_of_a_floating_base(name: str) -> None:
    function = flyer().casadi(name, "foot" if name == "link" else None)
    found, expected = hessian_and_differences(function, flying_at(function, 1))
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.max(np.abs(expected)))


def test_wrenches_are_inputs_too(leg: cld.Robot) -> None:
    function = leg.casadi("inverse_dynamics_wrenches")
    y, yd, ydd = np.array([-0.4, 0.8, -0.4]), np.array([0.3, -1.0, 0.5]), np.array([1.0, 2.0, 0.5])
    push = {"foot": np.array([0.3, -1.0, 2.0, 20.0, -10.0, 50.0])}
    symbol = ca.MX.sym("w", function.size1_in(3))
    slope = ca.Function("J", [symbol], [ca.jacobian(function(y, yd, ydd, symbol), symbol)])
    w = leg.body_wrenches(push)
    moved = leg.inverse_dynamics(y, yd, ydd, push) - leg.inverse_dynamics(y, yd, ydd)
    np.testing.assert_allclose(np.array(slope(w)) @ w, moved, rtol=1e-9, atol=1e-9)


def test_an_optimiser_finds_the_posture_of_least_effort(leg: cld.Robot) -> None:
    function = leg.casadi("inverse_dynamics")
    opti = ca.Opti()
    y = opti.variable(leg.m)
    tau = function(y, ca.DM.zeros(leg.m), ca.DM.zeros(leg.m))
    opti.minimize(ca.sumsqr(tau) + 0.1 * ca.sumsqr(y - np.array([-0.4, 0.8, -0.4])))
    opti.subject_to(opti.bounded(-1.0, y, 1.0))
    opti.set_initial(y, [-0.4, 0.8, -0.4])
    quiet = {"print_level": 0, "hessian_approximation": "exact", "sb": "yes", "tol": 1e-9}
    opti.solver("ipopt", {"print_time": False}, quiet)
    found = np.array(opti.solve().value(y))

    def cost(posture: Array) -> float:
        tau = leg.inverse_dynamics(posture, np.zeros(leg.m), np.zeros(leg.m))
        away = posture - np.array([-0.4, 0.8, -0.4])
        return float(tau @ tau + 0.1 * away @ away)

    assert cost(found) < cost(np.array([-0.4, 0.8, -0.4]))
    slope = derivative(lambda d: np.array([cost(found + d)]), leg.m)[0]
    free = np.abs(found) < 1.0 - 1e-6
    assert free.any()
    assert np.max(np.abs(slope[free])) <= 1e-4


def test_unknown_functions_are_named(leg: cld.Robot) -> None:
    with pytest.raises(cld.InvalidInput, match="inverse_dynamics"):
        leg.casadi("inverse_dynamic")
    with pytest.raises(cld.InvalidInput, match="foot"):
        leg.casadi("link", "fot")
    with pytest.raises(cld.InvalidInput, match="about a link"):
        leg.casadi("mass_matrix", "foot")
    with pytest.raises(cld.InvalidInput, match="more than matrices"):
        leg.casadi("poses")


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "link"])
def test_the_expression_itself_where_all_loops_have_closed_forms(name: str) -> None:
    robot = standing()
    link = "foot" if name == "link" else None
    native, expression = robot.casadi(name, link), robot.casadi(name, link, symbolic=True)
    assert expression.is_a("SXFunction") and expression.name_out()[-1] == "checks"
    rng = np.random.default_rng(4)
    others = rng.normal(size=(native.n_in() - 1, robot.m))
    for y in robot.random_independent(rng, 5):
        *found, checks = expression.call([y, *others])
        for part, expected in zip(found, native.call([y, *others]), strict=True):
            np.testing.assert_allclose(np.array(part), np.array(expected), rtol=1e-9, atol=1e-12)
        assert np.all(np.array(checks) > 0.0)
    beyond = expression.call([[0.0, 0.0, 3.0], *others])[-1]  # where the ankle's loop is not closed
    assert not np.all(np.array(beyond) > 0.0)


def test_what_newton_closes_has_no_expression(leg: cld.Robot) -> None:
    with pytest.raises(cld.InvalidInput, match="by Newton's method"):
        leg.casadi("inverse_dynamics", symbolic=True)
