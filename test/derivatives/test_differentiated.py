"""jvp and vjp of programs in general: parameters, wrenches, several outputs, batches, mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from support.crank_legs import standing
from support.four_bar import FourBar

import closed_loop_dynamics as cld

Y, YD, YDD = np.array([-0.4, 0.8, -0.4]), np.array([0.3, -1.0, 0.5]), np.array([1.0, 2.0, 0.5])
WEIGHTS = np.array([1.0, -0.1, 2.0])


def test_gradients_by_parameters_are_columns_of_the_regressor() -> None:
    leg = standing()
    at = (Y, YD, YDD, leg.body_wrenches({}), leg.dynamic_parameters)
    gradient = leg.vjp("inverse_dynamics_parameters", at, WEIGHTS)[-1]
    expected = leg.regressor(Y, YD, YDD).T @ WEIGHTS
    np.testing.assert_allclose(gradient, expected, atol=1e-9 * np.abs(expected).max())


def test_gradients_by_wrenches_are_what_they_do() -> None:
    leg = standing()
    push = leg.body_wrenches({"foot": [0.3, -1.0, 2.0, 20.0, -10.0, 50.0]})
    none = np.zeros_like(push)
    found = leg.jvp("inverse_dynamics_wrenches", (Y, YD, YDD, none), (*np.zeros((3, 3)), push))
    wrench = {"foot": [0.3, -1.0, 2.0, 20.0, -10.0, 50.0]}
    change = leg.inverse_dynamics(Y, YD, YDD, wrench) - leg.inverse_dynamics(Y, YD, YDD)
    np.testing.assert_allclose(found, change, atol=1e-9 * np.abs(change).max())


def test_several_outputs_have_names_and_weights_may_be_given_by_them() -> None:
    leg = standing()
    along = np.array([1.0, -0.5, 0.2])
    moved = leg.jvp("link", (Y,), (along,), "foot")
    found = leg.link_derivatives("foot", Y)
    np.testing.assert_allclose(moved["p"], found.dp_dy @ along, atol=1e-12)
    np.testing.assert_allclose(moved["J"], found.dJ_dy @ along, atol=1e-12)
    (gradient,) = leg.vjp("link", (Y,), {"p": WEIGHTS}, "foot")
    np.testing.assert_allclose(gradient, found.dp_dy.T @ WEIGHTS, atol=1e-12)


def test_batches_and_other_assembly_modes() -> None:
    leg = standing()
    y = np.array([Y, Y + 0.1])
    both = leg.vjp("inverse_dynamics", (y, YD, YDD), WEIGHTS)[0]
    ones = [leg.vjp("inverse_dynamics", (each, YD, YDD), WEIGHTS)[0] for each in y]
    np.testing.assert_allclose(both, ones, rtol=1e-9)
    guess = leg.state(Y).q
    on_mode = leg.vjp("inverse_dynamics", (Y, YD, YDD), WEIGHTS, guess=guess)[0]
    np.testing.assert_allclose(on_mode, ones[0], rtol=1e-8)


def test_mistakes_are_named() -> None:
    leg = standing()
    with pytest.raises(cld.InvalidInput, match="gives no 'R2'"):
        leg.vjp("link", (Y,), {"R2": np.zeros((3, 3))}, "foot")
    with pytest.raises(cld.InvalidInput, match="weights of 'p' have shape"):
        leg.vjp("link", (Y,), {"p": np.zeros(4)}, "foot")
    with pytest.raises(cld.InvalidInput, match="is about a link; say which"):
        leg.jvp("link", (Y,), (Y,))
    mechanism = FourBar(0.3, 0.25, 0.2, 0.22)
    loose = cld.load(mechanism.urdf(), mechanism.yaml(active=()), prepare=())
    with pytest.raises(cld.Underactuated):
        loose.jvp("inverse_dynamics", ([0.1], [0.0], [0.0]), ([1.0], [0.0], [0.0]))
