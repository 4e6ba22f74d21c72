"""Tolerances of goals, by the words of control_msgs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from closed_loop_dynamics.motion.policy import Policy
from closed_loop_dynamics.motion.tolerances import Tolerance, goal_policy
from closed_loop_dynamics.motion.trajectory import TrajectoryRefused, WrongJoints

DEFAULT = Policy(
    names=("hip", "knee"),
    path=np.array([0.1, 0.2]),
    goal=np.array([np.inf, 0.02]),
    fastest=np.array([5.0, 5.0]),
    goal_time=0.5,
    stopped=0.01,
)


def test_a_goal_that_says_nothing_has_the_tolerances_of_the_node() -> None:
    for policy in (goal_policy(DEFAULT), goal_policy(DEFAULT, [Tolerance("knee")])):
        np.testing.assert_array_equal(policy.path, DEFAULT.path)
        np.testing.assert_array_equal(policy.goal, DEFAULT.goal)
        np.testing.assert_array_equal(policy.stopped, [0.01, 0.01])
        assert policy.goal_time == 0.5


def test_a_goal_replaces_what_it_names() -> None:
    policy = goal_policy(
        DEFAULT, [Tolerance("knee", 0.3)], [Tolerance("hip", 0.4, 0.5)], goal_time=2.0
    )
    np.testing.assert_array_equal(policy.path, [0.1, 0.3])
    np.testing.assert_array_equal(policy.goal, [0.4, 0.02])
    np.testing.assert_array_equal(policy.stopped, [0.5, 0.01])
    assert policy.goal_time == 2.0
    np.testing.assert_array_equal(policy.fastest, DEFAULT.fastest)


def test_minus_one_is_no_limit() -> None:
    policy = goal_policy(
        DEFAULT, [Tolerance("hip", -1.0)], [Tolerance("knee", -1.0, -1.0)], goal_time=-1.0
    )
    np.testing.assert_array_equal(policy.path, [np.inf, 0.2])
    np.testing.assert_array_equal(policy.goal, [np.inf, np.inf])
    np.testing.assert_array_equal(policy.stopped, [0.01, np.inf])
    assert policy.goal_time == np.inf


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ({"path": [Tolerance("kne", 0.1)]}, WrongJoints, "did you mean 'knee'"),
        ({"goal": [Tolerance("", 0.1)]}, WrongJoints, "goal_tolerance: unknown joint"),
        ({"path": [Tolerance("knee", -0.5)]}, TrajectoryRefused, "knee: position: -0.5 is no"),
        ({"goal": [Tolerance("knee", np.nan)]}, TrajectoryRefused, "nan is no tolerance"),
        ({"goal": [Tolerance("knee", np.inf)]}, TrajectoryRefused, "inf is no tolerance"),
        ({"goal_time": -0.1}, TrajectoryRefused, "goal_time_tolerance: -0.1"),
        ({"path": [Tolerance("knee", 0.1, 0.1)]}, TrajectoryRefused, "velocity is not looked at"),
        ({"goal": [Tolerance("hip", 0, 0, 1)]}, TrajectoryRefused, "acceleration is not looked"),
    ],
)
def test_what_is_no_tolerance_is_refused(given: Any, kind: type, text: str) -> None:
    with pytest.raises(TrajectoryRefused, match=text) as error:
        goal_policy(DEFAULT, **given)
    assert type(error.value) is kind
