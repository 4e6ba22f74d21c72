"""Streams of references are followed within all limits, whatever they ask. In artificial time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.control_rig import PERIOD, ControlRig

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.splice import Offer
from closed_loop_dynamics.motion.stream_target import Reference
from closed_loop_dynamics.motion.supervisor import Request, State
from closed_loop_dynamics.motion.trajectory import Points
from closed_loop_dynamics.motion.trajectory_check import Rules

pytest.importorskip("ruckig", reason="ruckig is not installed (extra `control`)")

START = np.array([-0.2, 0.4, -0.1])
MIDDLE = np.array([-0.4, 0.8, -0.2])
SIZE = np.array([0.2, 0.35, 0.2])
PULSE = 2.0 * np.pi * 0.5
ACCELERATION_TIME, JERK_TIME = 0.3, 0.05
Target = Callable[[float], tuple[np.ndarray, "np.ndarray | None"]]


@pytest.fixture
def rig(leg: cld.Robot) -> ControlRig:
    found = ControlRig(leg, START)
    found.run(0.1)
    return found


def sine(t: float) -> tuple[np.ndarray, None]:
    return MIDDLE + SIZE * np.sin(PULSE * t), None


def sine_with_speed(t: float) -> tuple[np.ndarray, np.ndarray]:
    return sine(t)[0], SIZE * PULSE * np.cos(PULSE * t)


def setpoints(rig: ControlRig, name: str) -> np.ndarray:
    return np.array([getattr(c.setpoint, name) for c in rig.commands])


def expect_within_limits(rig: ControlRig) -> None:
    """Speed, acceleration and jerk of the reference; efforts, their rate and speeds."""
    rig.expect_gentle()
    y, yd, ydd = (setpoints(rig, name) for name in ("y", "yd", "ydd"))
    speed, acceleration = rig.speed_limits, rig.speed_limits / ACCELERATION_TIME
    assert (np.abs(yd) <= speed * 1.001).all()
    assert (np.abs(ydd) <= acceleration * 1.02).all()
    assert (np.abs(np.diff(ydd, axis=0)) <= acceleration / JERK_TIME * PERIOD * 1.05).all()
    # It is one motion: each sample follows from the last one.
    np.testing.assert_allclose(np.diff(y, axis=0), PERIOD * 0.5 * (yd[1:] + yd[:-1]), atol=1e-5)
    np.testing.assert_allclose(np.diff(yd, axis=0), PERIOD * 0.5 * (ydd[1:] + ydd[:-1]), atol=1e-3)


def model_steps(rig: ControlRig, seconds: float) -> np.ndarray:
    """(p,) largest change of efforts in a cycle when the sine itself is followed."""
    t = np.arange(0.0, seconds, PERIOD)[:, None]
    s, c = np.sin(PULSE * t), np.cos(PULSE * t)
    tau = rig.robot.inverse_dynamics(MIDDLE + SIZE * s, SIZE * PULSE * c, -SIZE * PULSE**2 * s)
    return np.abs(np.diff(tau, axis=0)).max(axis=0)


@pytest.mark.parametrize("rate", [10.0, 30.0, 50.0, 250.0, 1000.0])
@pytest.mark.parametrize("target", [sine, sine_with_speed])
def test_a_smooth_stream_is_followed_with_the_efforts_of_its_own_motion(
    rig: ControlRig, target: Target, rate: float
) -> None:
    rig.follow(target, rate, 3.0)
    assert rig.state is State.TRACKING and rig.went() == ["holding -> tracking"]
    expect_within_limits(rig)
    last = round(2.0 / PERIOD)
    t = 3.0 - PERIOD * np.arange(last, 0, -1)
    delay = 1.5 / rate if target is sine else 0.0
    late = np.array([target(s - delay)[0] for s in t])
    error = np.abs(setpoints(rig, "y")[-last:] - late).max()
    efforts = np.array([c.efforts for c in rig.commands[-last:]])
    steps, own = np.abs(np.diff(efforts, axis=0)).max(axis=0), model_steps(rig, 2.0)
    assert error < 5e-3
    assert (steps <= 0.006 * rig.effort_limits).all()
    if rate >= 50.0:  # at 30 Hz messages come 16 or 17 cycles apart
        assert error < 2e-4
        assert (steps <= 1.5 * own).all()


def from_rest(t: float) -> tuple[np.ndarray, np.ndarray]:
    """A servo begins where the robot is."""
    return START + SIZE * (1.0 - np.cos(PULSE * t)), SIZE * PULSE * np.sin(PULSE * t)


@pytest.mark.parametrize(
    ("rate", "ahead"), [(30.0, 1 / 30), (100.0, 0.02), (500.0, 0.0), (1e3, 0.01)]
)
@pytest.mark.parametrize("speeds", [False, True])
def test_single_points_of_a_servo_are_followed_like_a_stream(
    rig: ControlRig, speeds: bool, rate: float, ahead: float
) -> None:
    def target(t: float) -> tuple[np.ndarray, np.ndarray | None]:
        y, yd = from_rest(t)
        return y, yd if speeds else None

    assert rig.servo(target, rate, 3.0, ahead) == 0
    assert rig.went() == ["holding -> tracking"] and not rig.stream.reason
    expect_within_limits(rig)
    last = round(2.0 / PERIOD)
    t = 3.0 - PERIOD * np.arange(last, 0, -1)
    delay = 0.0 if speeds else max(0.0, 1.5 / rate - ahead)
    error = setpoints(rig, "y")[-last:] - np.array([from_rest(s - delay)[0] for s in t])
    assert np.abs(error).max() < (5e-3 if rate < 50.0 else 2e-4)
    efforts = np.array([c.efforts for c in rig.commands[-last:]])
    s, c = np.sin(PULSE * t)[:, None], np.cos(PULSE * t)[:, None]
    motion = START + SIZE * (1.0 - c), SIZE * PULSE * s, SIZE * PULSE**2 * c
    own = np.abs(np.diff(rig.robot.inverse_dynamics(*motion), axis=0)).max(axis=0)
    steps = np.abs(np.diff(efforts, axis=0)).max(axis=0)
    assert (steps <= 0.006 * rig.effort_limits).all()
    if rate >= 50.0:
        assert (steps <= 1.5 * own).all()
    # Without more of them it holds, and whoever follows the actuators has been told the way there.
    rig.run(0.8)
    assert rig.state is State.HOLDING
    told = rig.diversions[-1]
    np.testing.assert_allclose(told.u[-1], rig.robot.state(rig.reference).u, atol=1e-9)


def test_a_single_point_that_is_far_away_is_no_stream_unless_it_is_repeated(
    rig: ControlRig,
) -> None:
    far = np.add(START, [0.0, 1.0, 0.0])
    for _ in range(2):
        assert rig.servo(lambda t: (far, None), 1.0, 0.3, 0.01) == 1
        assert rig.state is State.HOLDING and not rig.transitions
    assert rig.servo(lambda t: (far, None), 100.0, 1.0, 0.01) == 1
    np.testing.assert_allclose(rig.reference, far, atol=1e-3)
    expect_within_limits(rig)
    # One that has later to be there, more points, or efforts: a trajectory.
    for points in (
        Points.of([1.0], [far]),
        Points.of([0.0, 0.01], [far, far]),
        Points.of([0.01], [far], efforts=[SIZE]),
    ):
        assert not rig.stream.takes(points, points.times[-1], rig.commands[-1].setpoint)


def test_a_servo_stays_out_when_a_trajectory_has_taken_over(rig: ControlRig) -> None:
    rig.servo(from_rest, 100.0, 1.0, 0.01)
    rig.controller.execution.offer(Offer(lambda: Points.of([1.5], [START], [0 * START])))
    refused = rig.servo(lambda t: (MIDDLE, None), 100.0, 1.6, 0.01)
    assert refused == 0 and not rig.refusals
    np.testing.assert_allclose(rig.reference, START)
    assert "a trajectory has taken over" in rig.stream.reason


@pytest.mark.parametrize("rate", [10.0, 50.0, 1000.0])
@pytest.mark.parametrize("hold", [0.1, 0.5])
def test_random_steps_are_followed_within_the_limits(
    rig: ControlRig, rate: float, hold: float
) -> None:
    random = np.random.default_rng(3)
    goals = MIDDLE + SIZE * random.uniform(-1.0, 1.0, (200, 3))
    rig.follow(lambda t: (goals[int(t / hold)], None), rate, 4.0)
    expect_within_limits(rig)
    assert rig.state is State.TRACKING
    rig.follow(lambda t: (goals[0], None), rate, 1.5)
    np.testing.assert_allclose(rig.reference, goals[0], atol=1e-4)
    expect_within_limits(rig)


@pytest.mark.parametrize("rate", [50.0, 1000.0])
def test_noise_is_followed_within_the_limits(rig: ControlRig, rate: float) -> None:
    random = np.random.default_rng(4)
    rig.follow(lambda t: (sine(t)[0] + random.normal(0.0, 0.02, 3), None), rate, 2.0)
    expect_within_limits(rig)


def test_targets_beyond_the_limits_of_a_joint_are_approached_as_far_as_it_goes(
    rig: ControlRig,
) -> None:
    upper = rig.limits.upper
    rig.follow(lambda t: (np.array([-0.2, 0.4, upper[2] + 0.5]), None), 50.0, 1.5)
    assert rig.reference[2] == pytest.approx(upper[2], abs=1e-3)
    rig.follow(lambda t: (np.array([-0.2, 0.4, 0.1 + 3.0 * t]), np.full(3, 3.0)), 50.0, 1.0)
    assert (setpoints(rig, "y")[:, 2] <= upper[2] + 1e-6).all()
    expect_within_limits(rig)


def test_without_messages_it_comes_to_rest_and_holds(rig: ControlRig) -> None:
    rig.follow(sine, 50.0, 1.0)
    rig.run(0.15)
    assert rig.stream.streaming
    rig.run(0.7)
    assert rig.went() == ["holding -> tracking", "tracking -> holding"]
    assert "no message for 0.2 s" in rig.stream.reason
    assert not np.any(rig.commands[-1].setpoint.yd) and rig.error < 1e-3
    expect_within_limits(rig)
    rig.run(5.0)
    assert not rig.stream.reason


def test_a_far_target_is_not_reached_when_messages_cease(rig: ControlRig) -> None:
    rig.stream.push(Reference(np.add(START, [0.0, 1.2, 0.0])))
    rig.run(1.0)
    assert rig.state is State.HOLDING
    assert START[1] + 0.05 < rig.reference[1] < START[1] + 1.1
    expect_within_limits(rig)


def test_a_trajectory_takes_over_and_the_stream_stays_out_until_it_has_paused(
    rig: ControlRig,
) -> None:
    rig.follow(sine, 50.0, 1.0)
    rig.controller.execution.offer(Offer(lambda: Points.of([1.5], [START], [0 * START])))
    rig.follow(lambda t: (MIDDLE, None), 50.0, 1.6)
    assert not rig.refusals
    np.testing.assert_allclose(rig.reference, START)
    assert "a trajectory has taken over; pause for 0.2 s" in rig.stream.reason
    rig.run(0.3)
    rig.follow(lambda t: (MIDDLE, None), 50.0, 1.5)
    np.testing.assert_allclose(rig.reference, MIDDLE, atol=1e-4)
    rig.expect_gentle()


def test_a_stream_takes_over_from_a_trajectory_without_a_jump(rig: ControlRig) -> None:
    rig.go(np.array([-0.6, 1.1, -0.4]), 1.0)
    rig.run(0.4)
    rig.follow(lambda t: (START, None), 50.0, 1.0)
    assert rig.overtakings == 1
    np.testing.assert_allclose(rig.reference, START, atol=1e-3)
    rig.expect_gentle()
    yd, ydd = setpoints(rig, "yd"), setpoints(rig, "ydd")
    np.testing.assert_allclose(np.diff(yd, axis=0), PERIOD * 0.5 * (ydd[1:] + ydd[:-1]), atol=2e-3)


@pytest.mark.parametrize("again", ["pause", "resume"])
def test_who_asks_to_hold_is_not_overruled_by_a_stream_that_goes_on(
    rig: ControlRig, again: str
) -> None:
    rig.follow(sine, 50.0, 1.0)
    rig.controller.supervisor.ask(Request.HOLD)
    rig.follow(sine, 50.0, 1.0)
    assert rig.state is State.HOLDING and "pause" in rig.stream.reason
    if again == "pause":
        rig.run(0.3)
    else:
        rig.stream.admit()
    rig.follow(sine, 50.0, 1.0)
    assert rig.state is State.TRACKING and not rig.stream.reason
    expect_within_limits(rig)


def test_what_must_not_be_reached_is_refused_and_the_last_good_target_stays(leg: cld.Robot) -> None:
    """Within the limits of the ankle, but its loop comes too near a singularity."""
    rig = ControlRig(leg, START, rules=Rules(min_singular_value=0.095))
    rig.run(0.1)
    rig.follow(lambda t: (MIDDLE, None), 50.0, 1.0)
    bad = np.array([-0.4, 0.9, -0.75])
    rig.follow(lambda t: (bad, None), 50.0, 0.5)
    assert "too near a singularity" in rig.stream.reason
    np.testing.assert_allclose(rig.reference, MIDDLE, atol=1e-3)
    rig.follow(sine, 50.0, 0.5)
    assert not rig.stream.reason and rig.state is State.TRACKING
    expect_within_limits(rig)


def test_lost_feedback_stops_a_stream(rig: ControlRig) -> None:
    rig.follow(sine, 50.0, 1.0)
    rig.encoders = lambda u, ud: None
    rig.follow(sine, 50.0, 0.6)
    assert rig.went()[-2:] == ["tracking -> stopping", "stopping -> damping"]
    rig.encoders = lambda u, ud: (u, ud)
    rig.follow(sine, 50.0, 1.0)
    assert rig.state is State.HOLDING  # it has not paused


def test_a_late_cycle_stretches_a_stream(rig: ControlRig) -> None:
    rig.follow(sine, 50.0, 1.0)
    rig.stall(0.15)
    rig.follow(lambda t: sine(t + 1.15), 50.0, 1.0)
    rig.expect_gentle()
    assert rig.state is State.TRACKING
