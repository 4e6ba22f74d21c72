"""Designed motions: at rest at both ends, within all limits, better than random ones."""

from __future__ import annotations

import numpy as np
import pytest
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.identification import excite
from closed_loop_dynamics.model.joint_limits import Limits


def test_a_designed_motion_keeps_all_limits_and_shows_more_than_random_ones() -> None:
    robot = shipped("crank_leg")
    seen: list[int] = []
    found = excite(robot, evaluations=400, rate=200.0, progress=seen.append)
    assert found.condition < 0.5 * found.random_condition
    assert 300 < seen[-1] < 700 and seen == sorted(seen)
    for values in (found.yd, found.ydd):
        assert np.abs(values[[0, -1]]).max() < 1e-9 < np.abs(values).max()
    np.testing.assert_allclose(found.y[0], found.y[-1], atol=1e-9)
    step = found.times[1]
    np.testing.assert_allclose(
        np.gradient(found.y, step, axis=0)[1:-1], found.yd[1:-1], atol=1e-3 * np.abs(found.yd).max()
    )
    tree = robot.mechanism.tree
    independent, actuator = (
        Limits.of(tree, names) for names in (robot.names.independent, robot.names.actuator)
    )
    state = robot.state(found.y, found.yd)
    assert independent.outside(found.y) is None and independent.too_fast(found.yd) is None
    assert actuator.outside(state.u) is None and actuator.too_fast(state.ud) is None
    assert actuator.too_strong(robot.inverse_dynamics(found.y, found.yd, found.ydd)) is None


def test_a_motion_too_fast_for_the_actuators_is_shrunk() -> None:
    robot = shipped("crank_leg")
    found = excite(robot, evaluations=31, period=1.0)  # 5 Hz at full range is far beyond
    state = robot.state(found.y, found.yd)
    tau = robot.inverse_dynamics(found.y, found.yd, found.ydd)
    actuator = Limits.of(robot.mechanism.tree, robot.names.actuator)
    used = [np.abs(state.ud) / actuator.velocity, np.abs(tau) / actuator.effort]
    assert 0.9 < np.max(used) < 0.9501  # which is also what the finer samples say


def test_what_makes_no_motion_is_refused() -> None:
    with pytest.raises(cld.InvalidInput, match="two harmonics"):
        excite(shipped("crank_leg"), harmonics=1)
    with pytest.raises(cld.InvalidInput, match="harmonics must be a whole number"):
        excite(shipped("crank_leg"), harmonics=2.5)  # type: ignore[arg-type]
    for name, value in (("period", -1.0), ("rate", np.nan)):
        with pytest.raises(cld.InvalidInput, match=f"{name} must be positive"):
            excite(shipped("crank_leg"), **{name: value})
