"""Feedback of single joints, and speeds of encoders that measure none."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from support.control_rig import PERIOD, ControlRig
from support.hardware import platform
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.efforts import EffortLaw
from closed_loop_dynamics.motion.feedback import ActuatorFeedback, Feedback
from closed_loop_dynamics.motion.observer import Observation, Observer
from closed_loop_dynamics.motion.trajectory import Setpoint

START = np.array([-0.2, 0.4, -0.1])
EVERY = np.ones(3)
EMPTY = SimpleNamespace(parameters=None)


def redundant() -> cld.Robot:
    urdf, file, _ = platform(3)
    return cld.load(urdf, file)


def test_each_joint_has_its_own_gains(leg: cld.Robot) -> None:
    w, d = np.array([10.0, 20.0, 30.0]), np.array([1.0, 0.5, 2.0])
    law = EffortLaw(leg, EMPTY, None, 5.0, Feedback(w, d, 0 * w, PERIOD))
    e, ed = np.array([0.01, -0.02, 0.03]), np.array([0.1, 0.2, -0.3])
    setpoint = Setpoint(0.0, START, 0 * START, EVERY)
    efforts, _ = law.efforts(setpoint, Observation(START - e, -ed, None))
    ydd = leg.forward_dynamics(START - e, -ed, efforts)
    np.testing.assert_allclose(ydd, 1.0 + w * w * e + 2.0 * d * w * ed, atol=1e-8)


@pytest.mark.parametrize("make", [lambda: shipped("rh5_leg"), redundant], ids=["rh5", "redundant"])
def test_errors_of_each_actuator_die_out_as_its_own_gains_say_at_speed(
    make: Callable[[], cld.Robot],
) -> None:
    """u'' by differences along the motion that the efforts cause, not by the robot's own G_u."""
    robot, random = make(), np.random.default_rng(2)
    y, yd, ydd = robot.random_independent(random), *random.normal(size=(2, robot.m))
    apart, faster = 1e-3 * random.normal(size=robot.m), 0.1 * random.normal(size=robot.m)
    w, d = random.uniform(5.0, 30.0, robot.p), random.uniform(0.5, 2.0, robot.p)
    if robot.p > robot.m:  # redundant actuators agree only if their gains do
        w, d = np.full(robot.p, 20.0), np.ones(robot.p)
    law = EffortLaw(robot, EMPTY, None, 0.0, ActuatorFeedback(robot, w, d, 0 * w, PERIOD))
    setpoint = Setpoint(0.0, y + apart, yd + faster, ydd)
    efforts, missing = law.efforts(setpoint, Observation(y, yd, None))
    assert not missing
    caused = robot.forward_dynamics(y, yd, efforts)

    def u(where: np.ndarray, v: np.ndarray, a: np.ndarray, t: float) -> np.ndarray:
        return robot.state(where + t * v + 0.5 * t * t * a).u

    h = 1e-4
    wanted, is_now = (
        ((u(*m, h) - u(*m, -h)) / (2 * h), (u(*m, h) - 2 * u(*m, 0) + u(*m, -h)) / h**2)
        for m in ((setpoint.y, setpoint.yd, ydd), (y, yd, caused))
    )
    e, ed = u(setpoint.y, yd, ydd, 0.0) - u(y, yd, ydd, 0.0), wanted[0] - is_now[0]
    expected = wanted[1] + w * w * e + 2.0 * d * w * ed
    tolerance = 1e-3 if robot.p > robot.m else 2e-5
    np.testing.assert_allclose(is_now[1], expected, atol=tolerance * np.abs(expected).max())


def test_a_motion_is_followed_by_feedback_of_the_actuators(leg: cld.Robot) -> None:
    gains = ActuatorFeedback(leg, 20.0 * EVERY, EVERY, 2.0 * EVERY, PERIOD)
    rig = ControlRig(leg, START, feedback=gains)
    rig.plant.push("foot", np.array([0.0, 0.0, 0.0, 2.0, 0.0, 0.0]))
    rig.run(0.1)
    rig.go(np.array([-0.6, 1.1, -0.4]))
    rig.run(4.0)
    assert rig.error < 2e-3
    rig.expect_gentle()


def test_an_integral_takes_out_what_stays_and_does_not_wind_up(leg: cld.Robot) -> None:
    errors = []
    for integral in (0.0, 4.0):
        gains = Feedback(20.0 * EVERY, EVERY, integral * EVERY, PERIOD)
        rig = ControlRig(leg, START, feedback=gains)
        rig.plant.push("foot", np.array([0.0, 0.0, 0.0, 2.0, 0.0, 0.0]))
        rig.run(3.0)
        errors.append(rig.error)
        rig.expect_gentle()
    assert errors[0] > 0.01 and errors[1] < 0.05 * errors[0]
    feedback = Feedback(EVERY, EVERY, EVERY, PERIOD, most=0.05)
    for _ in range(10_000):
        pushed = feedback.acceleration(EVERY, 0 * EVERY)
    np.testing.assert_allclose(pushed, 1.05)
    feedback.forget()
    np.testing.assert_allclose(feedback.acceleration(0 * EVERY, 0 * EVERY), 0.0)


def test_speeds_come_from_positions_where_none_are_measured(leg: cld.Robot) -> None:
    observer = Observer(leg, velocity_filter=50.0)
    speed = np.array([0.5, -1.0, 0.3])
    for k in range(50):
        t = k * PERIOD
        seen = observer.observe(t, leg.state(START + t * speed).u)
        expected = speed * (1.0 - np.exp(-2.0 * np.pi * 50.0 * t))
        np.testing.assert_allclose(seen.yd, expected, atol=1e-9)
    observer.forget()
    assert not observer.observe(1.0, leg.state(START).u).yd.any()


@pytest.mark.parametrize("cutoff", [0.0, 50.0])
def test_a_motion_is_damped_without_measured_speeds(leg: cld.Robot, cutoff: float) -> None:
    rig = ControlRig(leg, START, velocity_filter=cutoff)
    rig.encoders = lambda u, ud: (u, None)
    rig.run(0.1)
    rig.go(np.array([-0.6, 1.1, -0.4]))
    rig.run(1.2)
    errors = [
        np.abs(c.setpoint.yd - v).max() for c, v in zip(rig.commands, rig.speeds, strict=True)
    ]
    assert (max(errors) < 0.2) == (cutoff > 0.0)
