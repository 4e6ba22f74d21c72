"""The efforts of a setpoint: of the commanded state, or of the measured one with feedback."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.manipulators import robot_of

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.efforts import EffortLaw, EffortRate
from closed_loop_dynamics.motion.observer import Observation
from closed_loop_dynamics.motion.task_trajectory import TaskCommands
from closed_loop_dynamics.motion.trajectory import Setpoint

EMPTY = SimpleNamespace(parameters=None)
SETPOINT = Setpoint(0.0, np.array([-0.3, 0.6, -0.2]), np.array([0.4, -0.5, 0.3]), np.ones(3))
SEEN = Observation(SETPOINT.y + 0.01, SETPOINT.yd - 0.1, None)


def test_without_feedback_measurements_do_not_count(leg: cld.Robot) -> None:
    law = EffortLaw(leg, EMPTY, None, None)
    expected = leg.inverse_dynamics(SETPOINT.y, SETPOINT.yd, SETPOINT.ydd)
    for seen in (None, SEEN):
        efforts, missing = law.efforts(SETPOINT, seen)
        np.testing.assert_allclose(efforts, expected, rtol=1e-12)
        assert not missing


def test_errors_of_the_measured_state_are_asked_to_die_out(leg: cld.Robot) -> None:
    efforts, missing = EffortLaw(leg, EMPTY, None, 20.0).efforts(SETPOINT, SEEN)
    ydd = leg.forward_dynamics(SEEN.y, SEEN.yd, efforts)
    np.testing.assert_allclose(ydd, 1.0 - 400.0 * 0.01 + 40.0 * 0.1, atol=1e-8)
    assert not missing


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (None, "none or too old"),
        (Observation(np.array([0.0, 0.0, 2.5]), np.zeros(3), None), "ankle"),  # out of reach
    ],
)
def test_where_the_measured_state_is_of_no_use_the_commanded_one_counts(
    leg: cld.Robot, seen: Observation | None, reason: str
) -> None:
    efforts, missing = EffortLaw(leg, EMPTY, None, 20.0).efforts(SETPOINT, seen)
    expected = leg.inverse_dynamics(SETPOINT.y, SETPOINT.yd, SETPOINT.ydd)
    np.testing.assert_allclose(efforts, expected, rtol=1e-12)
    assert reason in missing


@pytest.mark.parametrize("frequency", [None, 20.0])
def test_extra_efforts_of_a_setpoint_have_their_power_at_speed(
    leg: cld.Robot, frequency: float | None
) -> None:
    """Actuator speeds by differences of positions: the loops' own Jacobian has no say."""
    law, h = EffortLaw(leg, EMPTY, None, frequency), 1e-6
    where = SETPOINT if frequency is None else SEEN
    without, _ = law.efforts(SETPOINT, SEEN)
    for extra in np.diag([3.0, -20.0, 1.5]):
        efforts, missing = law.efforts(replace(SETPOINT, effort=extra), SEEN)
        assert not missing
        for yd in np.eye(3):
            ud = (leg.state(where.y + h * yd).u - leg.state(where.y - h * yd).u) / (2.0 * h)
            assert (efforts - without) @ ud == pytest.approx(extra @ yd, abs=1e-6)


def test_what_the_robot_carries_counts(leg: cld.Robot) -> None:
    load = {"foot": cld.Payload(3.0, (0.1, 0.05, -0.1))}
    carried = SimpleNamespace(parameters=leg.parameters_with(load))
    efforts, _ = EffortLaw(leg, carried, None, None).efforts(SETPOINT, None)
    expected = leg.inverse_dynamics(SETPOINT.y, SETPOINT.yd, SETPOINT.ydd, payload=load)
    np.testing.assert_allclose(efforts, expected, rtol=1e-9)


def test_a_platform_is_commanded_in_its_own_coordinates_unless_it_carries_something() -> None:
    robot = robot_of("irsbot2")
    commands = TaskCommands.of(robot)
    assert commands is not None
    x, rates = commands.task.reference, (np.array([0.2, 0.1]), np.array([1.0, -2.0]))
    setpoint = commands.joints(Setpoint(0.0, x, *rates))
    by_platform = commands.task.inverse_dynamics(x, *rates)
    by_joints = robot.inverse_dynamics(setpoint.y, setpoint.yd, setpoint.ydd)
    np.testing.assert_allclose(by_platform, by_joints, rtol=1e-8)
    asked = []

    def inverse_dynamics(*arguments: np.ndarray) -> np.ndarray:
        asked.append(arguments)
        return commands.task.inverse_dynamics(*arguments)

    task = SimpleNamespace(task=SimpleNamespace(inverse_dynamics=inverse_dynamics))
    unloaded = SimpleNamespace(parameters=robot.parameters_with({}))
    for carried, count in ((EMPTY, 1), (unloaded, 1)):
        efforts, _ = EffortLaw(robot, carried, task, None).efforts(setpoint, None)
        np.testing.assert_allclose(efforts, by_joints, rtol=1e-8)
        assert len(asked) == count


def test_efforts_change_together_and_no_faster_than_allowed() -> None:
    rate = EffortRate(np.array([1.0, 10.0, np.inf]))
    np.testing.assert_array_equal(rate.limited(np.array([5.0, 5.0, 5.0])), 5.0)  # the first
    np.testing.assert_allclose(rate.limited(np.array([9.0, 9.0, 1.0])), [6.0, 6.0, 4.0])
    np.testing.assert_allclose(rate.limited(np.array([6.5, -4.0, 4.0])), [6.5, -4.0, 4.0])
    np.testing.assert_array_equal(rate.limited(np.array([6.5, -4.0, 4.0])), [6.5, -4.0, 4.0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_never_said(bad: float) -> None:
    rate = EffortRate(np.ones(2))
    rate.begin(np.zeros(2))
    with pytest.raises(cld.InvalidInput, match="not finite"):
        rate.limited(np.array([0.5, bad]))
    np.testing.assert_array_equal(rate.last, 0.0)  # the next one is limited, too
