"""Springs and dampers at the independent joints, through the loops to the actuators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.control_rig import PERIOD, ControlRig
from support.hardware import platform
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import InvalidInput
from closed_loop_dynamics.motion.impedance import (
    Impedance,
    ImpedanceCommand,
    actuator_forces,
    independent_forces,
)
from closed_loop_dynamics.motion.observer import Observation
from closed_loop_dynamics.motion.supervisor import Request, State

START = np.array([-0.2, 0.4, -0.1])
KP, KD = np.array([300.0, 150.0, 15.0]), np.array([15.0, 6.0, 0.6])
REST = np.zeros(3)


@pytest.fixture
def rig(leg: cld.Robot) -> ControlRig:
    found = ControlRig(leg, START)
    found.run(0.1)
    return found


def springs(y: np.ndarray, effort: np.ndarray = REST) -> ImpedanceCommand:
    return ImpedanceCommand.of(np.array([y, REST, KP, KD, effort]))


def command(
    rig: ControlRig, make: Callable[[], ImpedanceCommand], seconds: float, rate: float = 50.0
) -> None:
    """Push what ``make`` makes, ``rate`` times per second."""
    for _ in range(round(seconds * rate)):
        rig.impedance.push(make())
        rig.run(1.0 / rate)


def redundant() -> cld.Robot:
    urdf, file, _ = platform(3)
    return cld.load(urdf, file)


@pytest.mark.parametrize("make", [lambda: shipped("rh5_leg"), redundant], ids=["rh5", "redundant"])
def test_actuators_have_the_power_of_the_springs_at_speed(make: Callable[[], cld.Robot]) -> None:
    robot, random = make(), np.random.default_rng(5)
    for _ in range(5):
        y = robot.random_independent(random)
        yd, table = random.normal(size=robot.m), random.normal(size=(5, robot.m))
        table[2:4] = np.abs(table[2:4])
        seen, impedance = Observation(y, yd, None), Impedance(robot, 1.0)
        wish = ImpedanceCommand.of(table)
        impedance.push(wish)
        assert impedance.wanted(0.0, "")
        tau_u, tau_y = impedance.efforts(seen), independent_forces(wish, seen)
        ud = robot.state(y, yd).ud
        assert tau_u @ ud == pytest.approx(tau_y @ yd, rel=1e-9)
        np.testing.assert_allclose(robot.actuator_jacobian(y).T @ tau_u, tau_y, atol=1e-9)
        np.testing.assert_allclose(
            actuator_forces(robot, y, tau_y),
            robot.actuation.force_from_independent(y, tau_y),
            rtol=1e-6,
            atol=1e-8,
        )


def test_under_a_known_wrench_springs_give_way_by_what_their_stiffness_says(
    rig: ControlRig,
) -> None:
    wrench = np.array([0.0, 0.0, 0.0, 15.0, 0.0, 10.0])
    rig.plant.push("foot", wrench)
    command(rig, lambda: springs(START), 3.0)
    assert rig.state is State.IMPEDANCE and np.abs(rig.plant.yd).max() < 1e-4
    needed = rig.robot.generalized_forces(rig.plant.y, REST, REST, wrenches={"foot": wrench})
    np.testing.assert_allclose(KP * (START - rig.plant.y), needed, atol=1e-2)
    assert np.abs(START - rig.plant.y).max() > 0.01
    rig.expect_gentle()
    # Feed-forward efforts take the load off the springs.
    command(rig, lambda: springs(START, needed), 3.0)
    assert np.abs(START - rig.plant.y).max() < 0.01


def test_a_swing_is_damped_within_limits_and_the_end_of_commands_is_a_hold_there(
    rig: ControlRig,
) -> None:
    goal = START + np.array([-0.1, 0.2, -0.05])
    command(rig, lambda: springs(goal), 1.5)
    assert rig.went() == ["holding -> impedance"]
    there = rig.plant.y.copy()
    assert np.abs(there - goal).max() < 0.2  # gravity pulls
    rig.run(0.5)
    assert rig.went() == ["holding -> impedance", "impedance -> holding"]
    assert "have ceased" in rig.transitions[-1].reason
    assert np.abs(rig.reference - there).max() < 0.02 and rig.error < 0.01
    rig.expect_gentle()


def test_hard_springs_stay_within_the_limits_of_the_actuators(rig: ControlRig) -> None:
    far = ImpedanceCommand.of(np.array([START + 1.0, REST, 100.0 * KP, KD, REST]))
    command(rig, lambda: far, 0.3)
    efforts = np.array([c.efforts for c in rig.commands])
    assert (np.abs(efforts) <= rig.effort_limits * (1.0 + 1e-9)).all()
    assert (np.abs(np.diff(efforts, axis=0)) <= 0.04 * rig.effort_limits * (1.0 + 1e-9)).all()
    rig.run(2.0)
    assert rig.state in (State.HOLDING, State.DAMPING)


def test_lost_feedback_is_damped_and_springs_do_not_come_back_by_themselves(
    rig: ControlRig,
) -> None:
    command(rig, lambda: springs(START), 0.5)
    rig.encoders = lambda u, ud: None
    command(rig, lambda: springs(START), 0.3)
    assert rig.went()[-1] == "impedance -> damping"
    rig.encoders = lambda u, ud: (u, ud)
    command(rig, lambda: springs(START), 1.0)
    assert rig.state is State.HOLDING and "pause for 0.1 s" in rig.impedance.reason
    rig.run(0.2)
    command(rig, lambda: springs(START), 0.1)
    assert rig.state is State.IMPEDANCE and not rig.impedance.reason


def test_overspeed_is_damped(rig: ControlRig) -> None:
    command(rig, lambda: springs(START), 0.2)
    rig.plant.yd = np.array([0.0, 0.0, 16.0])
    rig.run(2 * PERIOD)
    assert rig.went()[-1] == "impedance -> damping"
    assert "out of control" in rig.transitions[-1].reason


def test_springs_take_over_from_a_motion_and_keep_trajectories_out(rig: ControlRig) -> None:
    rig.go(np.array([-0.6, 1.1, -0.4]), 1.0)
    rig.run(0.5)
    here = rig.plant.y.copy()
    command(rig, lambda: springs(here), 0.5)
    assert rig.went()[-1] == "tracking -> impedance"
    rig.go(START, 1.0)
    command(rig, lambda: springs(here), 0.1)
    assert "impedance: impedance commands have come" in rig.refusals[-1]
    rig.controller.supervisor.ask(Request.HOLD)
    command(rig, lambda: springs(here), 0.3)
    assert rig.state is State.HOLDING and "asked to hold" in rig.impedance.reason
    rig.impedance.admit()
    command(rig, lambda: springs(here), 0.1)
    assert rig.state is State.IMPEDANCE
    rig.expect_gentle()


@pytest.mark.parametrize(
    ("row", "value", "reason"),
    [
        (0, np.nan, "a position is not finite"),
        (2, -1.0, "kp -1 is negative"),
        (4, np.inf, "effort"),
    ],
)
def test_commands_that_make_no_sense_are_refused(row: int, value: float, reason: str) -> None:
    table = np.zeros((5, 3))
    table[row, 1] = value
    with pytest.raises(InvalidInput, match=reason):
        ImpedanceCommand.of(table)
