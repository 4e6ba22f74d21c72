"""What a trajectory is refused for, on a robot with loops."""

from __future__ import annotations

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.trajectory import (
    Points,
    Setpoint,
    Spline,
    TrajectoryRefused,
    cycloidal,
)
from closed_loop_dynamics.motion.trajectory_check import Checker, Interrupted, Rules

START = np.array([-0.2, 0.4, -0.1])


def lead_in(goal: list[float], duration: float = 2.0) -> Spline:
    before = Setpoint(0.0, START, np.zeros(3), np.zeros(3))
    return Spline(cycloidal(START, goal, duration), before=before)


def test_good_motion_comes_back_in_actuator_space(leg: cld.Robot) -> None:
    spline = lead_in([-0.6, 1.1, -0.4])
    table = Checker(leg, Rules()).check(spline, 0.0)
    assert table.times[0] == 0.0 and table.times[-1] == 2.0
    for k in (0, 57, len(table.times) - 1):
        m = spline.sample(float(table.times[k]))
        state = leg.state(m.y, m.yd, m.ydd)
        np.testing.assert_allclose(table.u[k], state.u, atol=1e-12)
        np.testing.assert_allclose(table.udd[k], state.udd, atol=1e-9)
        np.testing.assert_allclose(table.tau[k], leg.inverse_dynamics(m.y, m.yd, m.ydd), atol=1e-8)


@pytest.mark.parametrize(
    ("goal", "duration", "rules", "reason"),
    [
        ([-0.6, 1.9, -0.4], 2.0, Rules(), r"knee = .* is outside \[-0.05, 1.8\]"),
        ([-0.6, 1.1, 1.5], 2.0, Rules(), r"ankle = .* is outside"),
        ([-0.6, 1.1, -0.4], 0.05, Rules(), "speed .* of .* is above its limit"),
        ([0.6, 0.4, -0.1], 0.21, Rules(), "effort .* of .* is above its limit"),
        ([-0.6, 1.1, 0.5], 2.0, Rules(min_singular_value=0.0917), "singularity"),
    ],
)
def test_impossible_motion_is_refused_with_the_reason(
    leg: cld.Robot, goal: list[float], duration: float, rules: Rules, reason: str
) -> None:
    with pytest.raises(TrajectoryRefused, match=reason):
        Checker(leg, rules).check(lead_in(goal, duration), 0.0)


def test_limits_of_the_actuators_count_too(leg: cld.Robot) -> None:
    checker = Checker(leg, Rules())
    checker.independent.upper[1] = checker.actuator.upper[1] = np.inf
    checker.independent.lower[1] = -np.inf
    with pytest.raises(TrajectoryRefused, match=r"knee_cylinder = .* is outside"):
        checker.check(lead_in([-0.2, 1.95, -0.1], 4.0), 0.0)


def test_out_of_reach_between_good_limits_is_refused(leg: cld.Robot) -> None:
    checker = Checker(leg, Rules())
    checker.independent.upper[2] = np.inf
    with pytest.raises(TrajectoryRefused, match=r"not reachable at \d\.\d+ s: .*ankle"):
        checker.check(lead_in([-0.2, 0.4, 1.5], 4.0), 0.0)


def test_excursion_between_two_good_points_is_seen(leg: cld.Robot) -> None:
    points = Points.of([1.0, 2.0], [START, START], [[0, 6.0, 0], [0, -6.0, 0]])
    with pytest.raises(TrajectoryRefused, match="knee"):
        Checker(leg, Rules()).check(Spline(points), 1.0)


def test_start_away_from_the_running_command_is_refused(leg: cld.Robot) -> None:
    checker = Checker(leg, Rules())
    checker.check_jump(START + 0.09, START)
    with pytest.raises(TrajectoryRefused, match=r"0\.3 away from the command of knee"):
        checker.check_jump(np.add(START, [0.0, 0.3, 0.0]), START)


def test_step_that_no_joint_can_do_is_refused(leg: cld.Robot) -> None:
    checker = Checker(leg, Rules())
    checker.check_step(np.array([0.01, 0.0, 0.0]), 0.002)
    with pytest.raises(TrajectoryRefused, match=r"due at once: speed 10 of hip is above"):
        checker.check_step(np.array([0.02, 0.0, 0.0]), 0.002)


def test_motion_that_is_over_is_refused(leg: cld.Robot) -> None:
    with pytest.raises(TrajectoryRefused, match="ended"):
        Checker(leg, Rules()).check(lead_in([-0.6, 1.1, -0.4]), 5.0)


def test_last_point_must_rest_unless_allowed(leg: cld.Robot) -> None:
    points = Points.of([1.0], [START], [[0.0, 0.1, 0.0]])
    with pytest.raises(TrajectoryRefused, match="velocity of knee is not zero"):
        Checker(leg, Rules()).check_points(points)
    Checker(leg, Rules(moving_end=True)).check_points(points)


def test_a_long_rest_does_not_hide_a_hard_motion(leg: cld.Robot) -> None:
    """A thousand seconds of rest, then 0.8 rad of the hip in 0.21 s: too much effort."""
    rest = [0.0] * 3
    there = START + np.array([0.8, 0.0, 0.0])
    points = Points.of([1000.0, 1000.21], [START, there], [rest, rest], [rest, rest])
    spline = Spline(points, 0.0, Setpoint(0.0, START, np.zeros(3), np.zeros(3)))
    with pytest.raises(TrajectoryRefused, match=r"^at 1000\.\d+ s: effort .* is above its limit"):
        Checker(leg, Rules()).check(spline, 0.0)


@pytest.mark.parametrize("start", [0.0, 100.0])
def test_a_refusal_is_in_the_time_of_the_message(leg: cld.Robot, start: float) -> None:
    checker = Checker(leg, Rules())
    checker.independent.upper[1] = 0.3
    rest = [0.0] * 3
    points = Points.of([1.0, 3.0], [rest, [0.0, 0.5, 0.0]])
    with pytest.raises(TrajectoryRefused, match=r"^at 2\.210 s: knee = "):
        checker.check(Spline(points, start), start)


def test_a_check_that_nobody_waits_for_ends(leg: cld.Robot) -> None:
    answers = iter([True, True, False])
    with pytest.raises(Interrupted):
        Checker(leg, Rules(period=1e-3)).check(
            lead_in([-0.6, 1.1, -0.4]), 0.0, lambda: next(answers)
        )


def test_only_what_is_still_to_come_is_checked(leg: cld.Robot) -> None:
    there = START + np.array([0.8, 0.0, 0.0])  # in 0.05 s: far too fast
    points = Points.of([0.0, 0.05, 2.0], [START, there, START])
    with pytest.raises(TrajectoryRefused, match="speed"):
        Checker(leg, Rules()).check(Spline(points), 0.0)
    table = Checker(leg, Rules()).check(Spline(points), 0.5)
    assert table.times[0] >= 0.5 and table.times[-1] == 2.0
