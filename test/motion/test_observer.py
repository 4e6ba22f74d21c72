"""Actuator measurements to independent joints."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import ClosureNotFound, InvalidInput
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.observer import Observation, Observer


def test_inverts_the_robot_along_a_motion(leg: cld.Robot) -> None:
    observer = Observer(leg)
    for k in range(50):
        t = 0.02 * k
        y = np.array([-0.3 + 0.2 * t, 0.5 + 0.4 * np.sin(t), -0.2 * t])
        yd = np.array([0.2, 0.4 * np.cos(t), -0.2])
        state = leg.state(y, yd)
        seen = observer.observe(t, state.u, state.ud)
        np.testing.assert_allclose(seen.y, y, atol=1e-10)
        np.testing.assert_allclose(seen.yd, yd, atol=1e-10)
        assert seen.tau_y is None


def test_forces_keep_their_power(leg: cld.Robot) -> None:
    y, yd, tau = np.array([-0.3, 0.6, -0.2]), np.array([1.0, -0.5, 0.7]), np.array([3.0, 90, -2])
    state = leg.state(y, yd)
    seen = Observer(leg).observe(0.0, state.u, state.ud, tau)
    assert seen.tau_y is not None and state.ud is not None
    assert seen.tau_y @ seen.yd == pytest.approx(tau @ state.ud)


def test_jump_is_refused_until_patience_runs_out(leg: cld.Robot) -> None:
    observer = Observer(leg, max_jump=0.1, patience=1.0)
    here, there = (leg.state(np.array([0.0, knee, 0.0])).u for knee in (0.2, 0.9))
    observer.observe(0.0, here)
    with pytest.raises(ClosureNotFound, match="knee would jump"):
        observer.observe(0.5, there)
    np.testing.assert_allclose(observer.observe(0.6, here).y, [0.0, 0.2, 0.0], atol=1e-9)
    np.testing.assert_allclose(observer.observe(2.0, there).y, [0.0, 0.9, 0.0], atol=1e-9)


def introduced(leg: cld.Robot, u: np.ndarray, **settings: float) -> Observer:
    """An observer that has heard of (p,) ``u`` until time zero."""
    observer = Observer(leg, doubts=True, limit_tolerance=0.05, **settings)
    with pytest.raises(InvalidInput, match="the first message needs a second that agrees"):
        observer.observe(-0.01, u)
    observer.observe(0.0, u)
    return observer


def test_a_first_message_is_not_believed_alone(leg: cld.Robot) -> None:
    observer = Observer(leg, limit_tolerance=0.05, doubts=True)
    here, there = (leg.state(np.array([0.0, knee, 0.0])).u for knee in (0.5, 0.65))
    for t, u in ((0.0, there), (0.002, here), (0.004, there)):
        with pytest.raises(InvalidInput, match="first message"):
            observer.observe(t, u)
    np.testing.assert_allclose(observer.observe(0.006, there).y, [0.0, 0.65, 0.0], atol=1e-9)


def test_a_surprise_is_believed_when_nothing_else_is_said(leg: cld.Robot) -> None:
    """Less than a jump, more than speeds explain: messages may be wrong."""
    here, there = (leg.state(np.array([0.0, knee, 0.0])).u for knee in (0.5, 0.69))
    observer = introduced(leg, here)
    for k in range(1, 7):
        with pytest.raises(InvalidInput, match=r"not believed yet: knee would have leapt by 0\.19"):
            observer.observe(0.002 * k, there)
    np.testing.assert_allclose(observer.observe(0.022, there).y, [0.0, 0.69, 0.0], atol=1e-9)


def test_messages_of_which_many_are_wrong_move_nothing(leg: cld.Robot) -> None:
    here, there = (leg.state(np.array([0.0, knee, 0.0])).u for knee in (0.5, 0.65))
    observer = introduced(leg, here)
    with pytest.raises(InvalidInput, match="not believed yet"):
        observer.observe(0.002, there)
    observer.observe(0.004, here)  # from now on both are said
    for k, wrong in enumerate(np.random.default_rng(8).random(1500) < 0.6, start=3):
        with suppress(InvalidInput):
            seen = observer.observe(0.002 * k, there if wrong else here)
            assert not wrong
            np.testing.assert_allclose(seen.y, [0.0, 0.5, 0.0], atol=1e-9)


@pytest.mark.parametrize("rate", [50, 100, 500])
def test_encoders_without_speeds_are_believed_at_any_rate(leg: cld.Robot, rate: int) -> None:
    """Drivers that fill in zeros: what a joint may do by its limits is no surprise."""
    knees = 0.3 + 0.5 * (1.0 - np.cos(np.pi * np.arange(0.0, 0.4, 1 / rate) / 0.4))
    us = [leg.state(np.array([0.0, knee, 0.0])).u for knee in knees]
    observer = introduced(leg, us[0])
    for k, (u, knee) in enumerate(zip(us, knees, strict=True)):
        seen = observer.observe((k + 1) / rate, u, 0.0 * u)
        np.testing.assert_allclose(seen.y, [0.0, knee, 0.0], atol=1e-9)


def test_out_of_reach_is_refused_and_forgotten(leg: cld.Robot) -> None:
    observer = Observer(leg)
    good = leg.state(np.array([0.0, 0.2, 0.0])).u
    observer.observe(0.0, good)
    with pytest.raises(ClosureNotFound):
        observer.observe(0.1, np.add(good, [0.0, 0.5, 0.0]))
    np.testing.assert_allclose(observer.observe(0.2, good).y, [0.0, 0.2, 0.0], atol=1e-9)


@pytest.mark.parametrize(
    ("knee", "reason"),
    [(-0.2, "knee = -0.2 is outside"), (2.0, "knee_cylinder = -0.1095 is outside")],
)
def test_jump_beyond_the_limits_is_never_believed(leg: cld.Robot, knee: float, reason: str) -> None:
    good, bad = (leg.state(np.array([0.0, k, 0.0])).u for k in (0.2, knee))
    observer = introduced(leg, good, max_jump=0.1, patience=1.0)
    with pytest.raises(cld.ClosedLoopError):
        observer.observe(0.5, bad)
    for t in (1.5, 2.5, 100.0):  # neither after patience nor after silence
        with pytest.raises(InvalidInput, match=reason):
            observer.observe(t, bad)
    with pytest.raises(InvalidInput, match="first message"):
        observer.observe(101.0, good)
    np.testing.assert_allclose(observer.observe(101.1, good).y, [0.0, 0.2, 0.0], atol=1e-9)


def test_joint_a_little_past_its_stop_is_believed(leg: cld.Robot) -> None:
    y = np.array([0.0, 1.85, 0.0])  # upper limit: 1.8
    u = leg.state(y).u
    np.testing.assert_allclose(introduced(leg, u).observe(0.01, u).y, y, atol=1e-9)
    with pytest.raises(InvalidInput, match="outside"):
        Observer(leg, limit_tolerance=0.0).observe(0.0, u)


def test_joints_and_their_torques_do_not_depend_on_the_base(
    leg: cld.Robot, flying_leg: cld.Robot
) -> None:
    """So a floating robot's encoders are completed with its root link held."""
    rng = np.random.default_rng(4)
    y = np.concatenate([rng.normal(size=7), [-0.3, 0.6, -0.2]])
    y[3:7] /= np.linalg.norm(y[3:7])
    yd, tau = rng.normal(size=flying_leg.m), np.array([3.0, 90.0, -2.0])
    flying = flying_leg.state(y, yd)
    seen = Observer(leg).observe(0.0, flying.u, flying.ud, tau)
    np.testing.assert_allclose(seen.y, y[7:], atol=1e-10)
    np.testing.assert_allclose(seen.yd, yd[6:], atol=1e-10)
    np.testing.assert_allclose(leg.state(seen.y).q, flying.q[7:], atol=1e-10)
    G_u = flying_leg.actuator_jacobian(y)
    np.testing.assert_allclose(G_u[:, :6], 0.0, atol=1e-12)
    np.testing.assert_allclose(seen.tau_y, G_u[:, 6:].T @ tau, atol=1e-9)


def test_a_robot_is_not_believed_to_run_through_its_stops(leg: cld.Robot) -> None:
    observer = Observer(leg, limit_tolerance=0.05)
    y, yd = np.array([-0.3, 0.6, -0.2]), np.array([1.0, 50.0, 0.0])
    limits = Limits.of(leg.mechanism.tree, leg.names.independent)
    ahead = observer.ahead(Observation(y, yd, None), 0.1)
    np.testing.assert_allclose(ahead.y, [-0.2, limits.upper[1], -0.2])
    outside = Observation(limits.upper + 0.01, yd, None)  # as real stops may have it
    np.testing.assert_allclose(observer.ahead(outside, 0.1).y, outside.y)


def test_following_finds_what_a_search_finds_however_fast_the_robot_moves(leg: cld.Robot) -> None:
    """Samples at 1 kHz, and rarer ones that are too far apart to follow."""
    for period in (1e-3, 5e-3, 2e-2, 0.1):
        following = Observer(leg, max_jump=0.5)
        for k in range(60):
            t = k * period
            middle, size, pulse = np.array([[-0.3, 0.6, 0.0], [0.2, 0.3, 0.2], [5.0, 8.0, 9.0]])
            y, yd = middle + size * np.sin(pulse * t), size * pulse * np.cos(pulse * t)
            state = leg.state(y, yd)
            seen = following.observe(t, state.u, state.ud)
            searched = Observer(leg).observe(t, state.u, state.ud)
            np.testing.assert_allclose(seen.y, searched.y, atol=1e-9)
            np.testing.assert_allclose(seen.yd, searched.yd, atol=1e-8)


def test_speeds_with_which_no_encoder_moves_are_not_believed(leg: cld.Robot) -> None:
    y, yd = np.array([-0.3, 0.6, -0.2]), np.array([0.1, -0.5, 0.1])
    state = leg.state(y, yd)
    observer = introduced(leg, state.u)
    period, last = 0.002, 0.0
    for k in range(1, 40):  # as long as encoders of low resolution may stay the same
        last = k * period
        observer.observe(last, state.u, state.ud)
    with pytest.raises(InvalidInput, match=r"knee at a speed of 0\.5, and no encoder moves"):
        for k in range(100):
            observer.observe(last + k * period, state.u, state.ud)
    with pytest.raises(InvalidInput, match="no encoder moves"):  # however long it is claimed
        observer.observe(10.0, state.u, state.ud)
    moved = leg.state(y + 0.001, yd)
    with suppress(InvalidInput):
        observer.observe(10.002, moved.u, moved.ud)
    observer.observe(10.004, leg.state(y + 0.0015, yd).u, moved.ud)
    for k in range(1000):  # at rest they may
        observer.observe(10.1 + 0.1 * k, state.u, 0.0 * state.ud)
