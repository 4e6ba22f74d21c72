"""Parameters from logs of robots that differ from their models, with noise, and the way back."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from time import process_time

import numpy as np
import pytest
from support.four_bar import FourBar
from support.shipped import shipped
from support.simulated_log import SimulatedLog, simulated_log

import closed_loop_dynamics as cld
from closed_loop_dynamics.identification import Identification, Log, identify, measured
from closed_loop_dynamics.identification.base import (
    brisk_states,
    equations,
    free_parameters,
    structure,
)
from closed_loop_dynamics.identification.consistent import (
    Stretched,
    of_pseudo_inertia,
    possible,
    pseudo_inertia,
)

ROBOTS = ("crank_leg", "rh5_leg")


def taken(log: SimulatedLog) -> Log:
    return measured(log.times, log.measured_y, log.measured_tau)


@cache
def identified(name: str) -> tuple[SimulatedLog, Identification]:
    log = simulated_log(shipped(name))
    return log, identify(shipped(name), taken(log))


def is_possible(body: np.ndarray) -> bool:
    return bool(np.linalg.eigvalsh(pseudo_inertia(body))[0] > 0.0)


@pytest.mark.parametrize("name", ROBOTS)
def test_base_parameters_explain_all_forces_and_none_is_too_many(name: str) -> None:
    robot = shipped(name)
    free = free_parameters(robot, robot.names.actuator)
    base, weighty = structure(robot, free)
    W = equations(robot, *brisk_states(robot, 500, seed=7))
    W = W.reshape(-1, W.shape[-1])
    W_b = W[:, base.chosen]
    np.testing.assert_allclose(
        W_b @ base.combination[:, free], W[:, free], atol=1e-7 * np.abs(W).max()
    )
    values = np.linalg.svd(W_b / np.linalg.norm(W_b, axis=0), compute_uv=False)
    assert values[-1] > 1e-9 * values[0]
    assert len(np.linalg.svd(W[:, free], compute_uv=False)) > len(base.chosen) > len(weighty)


@pytest.mark.parametrize("name", ROBOTS)
def test_changed_parameters_are_found_through_the_noise(name: str) -> None:
    log, found = identified(name)
    true = found.combinations @ log.parameters
    value, interval, model = (
        np.array([getattr(b, word) for b in found.base]) for word in ("value", "interval", "model")
    )
    sure = interval < 0.02 * np.abs(value)
    assert sure.sum() >= {"crank_leg": 12, "rh5_leg": 18}[name]
    error = np.abs(value - true) / np.abs(true)
    assert error[sure].max() < 0.02
    assert np.mean((np.abs(model - true) / np.abs(true))[sure] > 0.1) > 0.7  # it was wrong before
    # 95 % intervals, so a few may miss; none by far.
    assert np.mean(np.abs(value - true) < interval) > 0.88
    assert np.all(np.abs(value - true) < 2.5 * interval)
    # Averages of 0.01 s of noise are what is left, of the forces of possible bodies, too.
    noise = log.noise / np.sqrt(round(0.01 * 250.0))
    assert np.all(found.before > 10.0 * noise)
    assert np.all(found.after < 1.1 * noise) and np.all(found.noise < 1.1 * noise)
    assert np.all(found.after > 0.9 * noise)
    assert not found.warnings


@pytest.mark.parametrize("name", ROBOTS)
def test_what_is_found_predicts_another_motion_and_belongs_to_possible_bodies(name: str) -> None:
    robot = shipped(name)
    log, found = identified(name)
    pi = found.parameters
    state = brisk_states(robot, 200, seed=11)
    true = robot.inverse_dynamics(*state, parameters=log.parameters)
    size = np.sqrt(np.mean(np.square(true), axis=0))
    left, before = (
        np.sqrt(np.mean(np.square(robot.inverse_dynamics(*state, parameters=p) - true), axis=0))
        for p in (pi, robot.dynamic_parameters)
    )
    assert np.all(before > 0.1 * size)
    assert np.all(left < 0.02 * size)
    view = robot.parameter_view(pi)
    assert all(map(is_possible, view.bodies))
    joints = (view.rotor_inertia, view.viscous_friction, view.coulomb_friction)
    assert all(np.all(values >= 0.0) for values in joints)
    robot.forward_dynamics(*state[:2], true, parameters=pi)


@pytest.mark.parametrize("name", [ROBOTS[0], pytest.param(ROBOTS[1], marks=pytest.mark.slow)])
def test_five_minutes_at_a_kilohertz_take_less_than_a_minute(name: str) -> None:
    robot = shipped(name)
    log = simulated_log(robot, 300.0, 1000.0)
    begin = process_time()  # of all threads: other programs do not count
    found = identify(robot, taken(log))
    assert process_time() - begin < 60.0
    true = found.combinations @ log.parameters
    value, interval = (np.array([getattr(b, n) for b in found.base]) for n in ("value", "interval"))
    sure = interval < 0.02 * np.abs(value)
    assert sure.sum() >= {"crank_leg": 15, "rh5_leg": 25}[name]
    assert np.all(np.abs(value - true)[sure] < 0.02 * np.abs(true[sure]))
    noise = log.noise / np.sqrt(round(0.01 * 1000.0))
    assert np.all(np.abs(found.after / noise - 1.0) < 0.05) and not found.warnings


def test_a_log_without_noise_gives_the_truth() -> None:
    robot = shipped("crank_leg")
    log = simulated_log(robot, 20.0)
    tau = robot.inverse_dynamics(log.y, log.yd, log.ydd, parameters=log.parameters)
    found = identify(robot, Log(log.times, log.y, log.yd, log.ydd, tau))
    true = found.combinations @ log.parameters
    value = np.array([b.value for b in found.base])
    assert len(value) > 22
    np.testing.assert_allclose(value, true, rtol=1e-4, atol=1e-6 * np.abs(true).max())
    assert np.all(found.after < 1e-4 * found.sizes)


def test_a_log_of_the_model_itself_changes_nothing_that_matters() -> None:
    robot = shipped("crank_leg")
    log = simulated_log(robot, 20.0)
    tau = robot.inverse_dynamics(log.y, log.yd, log.ydd)
    found = identify(robot, Log(log.times, log.y, log.yd, log.ydd, tau))
    np.testing.assert_allclose(found.parameters, robot.dynamic_parameters, atol=2e-3)
    assert np.all(found.after < 1e-3 * found.sizes)


def test_a_poor_motion_is_called_poor_and_the_model_kept_where_nothing_was_seen() -> None:
    robot = shipped("crank_leg")
    log = simulated_log(robot, 20.0)
    still = replace(log, y=log.y.copy(), yd=log.yd.copy(), ydd=log.ydd.copy())
    for array, value in ((still.y, log.y[0]), (still.yd, 0.0), (still.ydd, 0.0)):
        array[:, 1:] = value if np.isscalar(value) else value[1:]  # only the hip moves
    tau = robot.inverse_dynamics(still.y, still.yd, still.ydd, parameters=log.parameters)
    rng = np.random.default_rng(0)
    noisy = tau + log.noise * rng.normal(size=tau.shape)
    found = identify(robot, Log(still.times, still.y, still.yd, still.ydd, noisy))
    assert found.condition > 1e4
    assert any("excites the robot poorly" in text for text in found.warnings)
    assert "warning: the motion excites the robot poorly" in str(found)
    assert len(found.base) < 12


def test_friction_of_a_passive_joint_is_found_when_asked_for() -> None:
    robot = shipped("crank_leg")
    log = simulated_log(robot, 40.0)
    pi = log.parameters.copy()
    at = robot.parameter_names.index("knee.coulomb_friction")
    pi[at] = 3.0
    tau = robot.inverse_dynamics(log.y, log.yd, log.ydd, parameters=pi)
    noisy = tau + log.noise * np.random.default_rng(0).normal(size=tau.shape)
    whole = Log(log.times, log.y, log.yd, log.ydd, noisy)
    without = identify(robot, whole)
    found = identify(robot, whole, friction=(*robot.names.actuator, "knee"))
    assert found.parameters[at] == pytest.approx(3.0, rel=0.1)
    assert without.parameters[at] == 0.0
    assert found.after[1] < 0.99 * without.after[1]
    with pytest.raises(cld.InvalidInput, match="joint 'kne'"):
        identify(robot, whole, friction=("kne",))


def test_redundant_actuators_may_squeeze_the_mechanism() -> None:
    mechanism = FourBar(0.3, 0.25, 0.2, 0.22)
    robot = cld.load(mechanism.urdf(), mechanism.yaml(active=("crank", "rocker")))
    reach = robot.random_independent(np.random.default_rng(0), 500)
    t = np.arange(0.0, 20.0, 0.01)
    wave = [sum(k**d * np.sin(k * t + d * np.pi / 2.0) for k in (1, 2, 5)) for d in range(3)]
    y, yd, ydd = (0.1 * np.ptp(reach) * w[:, None] for w in wave)
    y = y + reach.mean()
    pi = robot.dynamic_parameters
    robot.parameter_view(pi).bodies[:] *= 1.3
    pi[robot.parameter_names.index("rocker.viscous_friction")] = 0.2
    tau_y = robot.generalized_forces(y, yd, ydd, parameters=pi)
    G_u = robot.actuator_jacobian(y)[..., 0]
    across = np.stack([-G_u[:, 1], G_u[:, 0]], axis=1)
    tau = G_u * tau_y / np.sum(G_u**2, axis=1, keepdims=True) + 3.0 * across
    found = identify(robot, Log(t, y, yd, ydd, tau))
    assert found.names == ("crank",) and found.before[0] > 0.1 * found.sizes[0]
    assert found.after[0] < 1e-3 * found.sizes[0]
    values = np.array([b.value for b in found.base])
    np.testing.assert_allclose(values, found.combinations @ pi, rtol=1e-3, atol=1e-6)


def test_measured_motions_are_smooth_and_not_late() -> None:
    robot = shipped("crank_leg")
    log = simulated_log(robot, 20.0)
    found = taken(log)
    rows = np.searchsorted(log.times, found.times - 1e-9)
    for got, true, share in ((found.yd, log.yd, 2e-3), (found.ydd, log.ydd, 3e-2)):
        wrong = np.sqrt(np.mean(np.square(got - true[rows]), axis=0))
        assert np.all(wrong < share * np.sqrt(np.mean(np.square(true), axis=0)))
    raw = np.gradient(np.gradient(log.measured_y, log.times, axis=0), log.times, axis=0)
    assert np.all(np.abs(raw - log.ydd).std(axis=0) > 5.0 * np.abs(found.ydd - log.ydd[rows]).std())
    with pytest.raises(cld.InvalidInput, match="lower the cut-off"):
        measured(log.times, log.measured_y, log.measured_tau, cutoff=200.0)
    with pytest.raises(cld.InvalidInput, match="too short"):
        measured(log.times[:60], log.measured_y[:60], log.measured_tau[:60])


def test_stamps_that_jitter_are_put_on_a_raster() -> None:
    robot = shipped("crank_leg")
    log = simulated_log(robot, 20.0)
    rng = np.random.default_rng(3)
    times = log.times + rng.uniform(-1e-3, 1e-3, len(log.times))
    k = np.arange(len(times))
    y = np.stack([np.interp(times, log.times, c) for c in log.y.T], axis=1)
    found = measured(times, y, log.measured_tau)
    assert np.ptp(np.diff(found.times)) < 1e-9 and len(found.times) < len(k)
    true = np.stack([np.interp(found.times, log.times, c) for c in log.yd.T], axis=1)
    assert np.abs(found.yd - true).max() < 0.02 * np.abs(true).max()


def test_a_stretched_body_is_always_possible_and_its_slope_is_that_of_differences() -> None:
    robot = shipped("crank_leg")
    model = robot.dynamic_parameters
    sizes, rng = np.ones(len(model)), np.random.default_rng(5)
    bodies = Stretched(model, np.arange(7), np.array([70, 71, 72]), sizes)
    np.testing.assert_allclose(bodies.parameters(bodies.start), model, atol=1e-12)
    x = bodies.start + rng.normal(size=len(bodies.start))
    pi = bodies.parameters(x)
    assert all(is_possible(body) for body in pi[:70].reshape(-1, 10))
    D, step = bodies.jacobian(x), 1e-6
    for k in range(len(x)):
        e = step * (np.arange(len(x)) == k)
        slope = (bodies.parameters(x + e) - bodies.parameters(x - e)) / (2.0 * step)
        np.testing.assert_allclose(D[:, k], slope, atol=1e-7 * (1.0 + np.abs(slope).max()))


def test_a_body_that_cannot_be_is_made_thick() -> None:
    point = np.array([2.0, 0.2, 0.0, 0.4, *np.zeros(6)])  # inertia smaller than that of its mass
    body = possible(point)
    assert is_possible(body) and not is_possible(point)
    np.testing.assert_array_equal(body[:4], point[:4])
    np.testing.assert_allclose(of_pseudo_inertia(pseudo_inertia(body)), body, atol=1e-15)


def test_logs_of_another_robot_are_refused() -> None:
    robot, t = shipped("crank_leg"), np.arange(10.0)
    two, three = np.zeros((10, 2)), np.zeros((10, 3))
    with pytest.raises(cld.InvalidInput, match="2 joints and 3 forces"):
        identify(robot, Log(t, two, two, two, three))
    with pytest.raises(cld.InvalidInput, match="too short to identify"):
        identify(robot, Log(t, three, three, three, three))
    with pytest.raises(cld.InvalidInput, match="times that increase"):
        Log(t[::-1], three, three, three, three)


def test_columns_that_do_not_belong_to_the_times_are_refused() -> None:
    t, y = 0.01 * np.arange(500.0), np.zeros((500, 1))
    with pytest.raises(cld.InvalidInput, match=r"y of a log has shape \(500,\)"):
        measured(t, y[:, 0], y)
    with pytest.raises(cld.InvalidInput, match=r"tau_u of a log has shape .* 500 times"):
        measured(t, y, y[1:])
    with pytest.raises(cld.InvalidInput, match="cut-off must be positive"):
        measured(t, y, y, cutoff=-1.0)
    gap = np.where(np.arange(500)[:, None] == 7, np.nan, y)
    with pytest.raises(cld.InvalidInput, match="y of a log is not finite in row 7"):
        measured(t, gap, y)
    with pytest.raises(cld.InvalidInput, match="tau_u of a log is not finite in row 7"):
        Log(t, y, y, y, gap)
