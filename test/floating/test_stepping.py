"""Native Runge-Kutta steps: the formula, its order, friction, wrenches, failures, bounds."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from support.figures import relative

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import ClosedLoopError, ClosureNotFound, InvalidInput
from closed_loop_dynamics.quantities.coordinates import normalised, position_rate
from closed_loop_dynamics.simulation.stepping import Stepper, rk4
from tools.robots import crank_leg

Array = np.ndarray
START, SPEED = np.array([-0.4, 0.8, -0.2]), np.array([0.5, -1.0, 0.8])
TAU = np.array([3.0, 40.0, -0.5])


def long_way(robot: cld.Robot, y: Array, yd: Array, tau: Array, h: float) -> tuple[Array, Array]:
    """One step by calls of forward_dynamics alone."""
    n_y, mech = len(y), robot.mechanism

    def rate(z: Array) -> Array:
        ydd = robot.forward_dynamics(z[:n_y], z[n_y:], tau)
        return np.concatenate([position_rate(mech, z[:n_y], z[n_y:]), ydd])

    z = rk4(rate, np.concatenate([y, yd]), h)
    return normalised(mech, z[:n_y]), z[n_y:]


def flying_state(robot: cld.Robot, seed: int = 3) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    y = robot.integrate(robot.random_independent(rng), np.zeros(robot.m))
    return y, rng.normal(size=robot.m), rng.normal(size=robot.p)


def test_rk4_is_of_fourth_order() -> None:
    errors = []
    for steps in (20, 40):
        z = np.array([1.0, 0.0])
        for _ in range(steps):
            z = rk4(lambda z: np.array([z[1], -z[0]]), z, 1.0 / steps)
        errors.append(abs(z[0] - np.cos(1.0)))
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.1)


def test_native_steps_have_the_bits_of_the_formula(leg: cld.Robot) -> None:
    y, yd = START, SPEED
    for _ in range(20):
        y, yd = long_way(leg, y, yd, TAU, 1e-3)
    found = leg.step(START, SPEED, TAU, 1e-3, steps=20)
    assert found[0].tobytes() == y.tobytes() and found[1].tobytes() == yd.tobytes()


def test_many_steps_are_single_steps_in_turn(random_flyer: cld.Robot) -> None:
    y, yd, tau = flying_state(random_flyer)
    at_once = random_flyer.step(y, yd, tau, 1e-3, steps=10)
    for _ in range(10):
        y, yd = random_flyer.step(y, yd, tau, 1e-3)
    np.testing.assert_allclose(at_once[0], y, atol=1e-14)
    np.testing.assert_allclose(at_once[1], yd, atol=1e-13)


def test_native_steps_of_a_floating_base_follow_the_formula(flying_leg: cld.Robot) -> None:
    y, yd = np.zeros(13), np.zeros(12)
    y[6], y[10] = 1.0, 0.6
    yd[:] = np.linspace(-1.0, 1.0, 12)
    tau = np.linspace(-5.0, 20.0, 6)
    found = flying_leg.step(y, yd, tau, 1e-3, steps=50)
    for _ in range(50):
        y, yd = long_way(flying_leg, y, yd, tau, 1e-3)
    np.testing.assert_allclose(found[0], y, atol=1e-13)
    np.testing.assert_allclose(found[1], yd, atol=1e-12)
    assert np.linalg.norm(found[0][3:7]) == pytest.approx(1.0, abs=1e-15)


def test_steps_on_the_manifold_are_of_fourth_order(spinning_crank: cld.Robot) -> None:
    y, yd = np.array([0.1, 0, 0, 0, 0, 0, 1.0, 0.3]), np.array([2.0, -3, 1, 0.5, 1, -1, 8.0])
    tau = np.array([0.5])
    truth = spinning_crank.step(y, yd, tau, 0.4 / 6400, steps=6400)
    errors = []
    for count in (200, 400, 800):
        found = spinning_crank.step(y, yd, tau, 0.4 / count, steps=count)
        gap = spinning_crank.difference(truth[0], found[0])
        errors.append(max(np.max(np.abs(gap)), np.max(np.abs(found[1] - truth[1]))))
    assert errors[0] > 1e-8  # above rounding
    for coarse, fine in itertools.pairwise(errors):
        assert coarse / fine == pytest.approx(16.0, rel=0.2)


def test_friction_is_the_projected_force_of_every_joint(random_flyer: cld.Robot) -> None:
    """Against M_y ydd = tau_y - C_y - G^T drag, at speed."""
    robot, rng = random_flyer, np.random.default_rng(8)
    joints = robot.names.spanning[1:]
    viscous, coulomb = rng.uniform(0.1, 2.0, (2, len(joints)))
    friction = cld.Friction(
        dict(zip(joints, viscous, strict=True)), dict(zip(joints, coulomb, strict=True))
    )
    h = 1e-6
    for seed in range(3):
        y, yd, tau = flying_state(robot, seed)
        ahead, behind = (robot.step(y, yd, tau, s, friction=friction)[1] for s in (h, -h))
        found = (ahead - behind) / (2 * h)
        G = robot.loop_jacobian(y)
        qd = (G @ yd)[6:]
        drag = np.concatenate([np.zeros(6), viscous * qd + coulomb * np.tanh(qd / 1e-2)])
        rest = robot.actuator_jacobian(y).T @ tau - robot.bias(y, yd) - G.T @ drag
        expected = np.linalg.solve(robot.mass_matrix(y), rest)
        assert relative(found[None], expected[None]) <= 1e-6


def test_wrenches_act_with_and_without_friction(leg: cld.Robot) -> None:
    push = {"foot": np.array([0.3, 1.0, -0.2, 5.0, 1.0, 3.0])}
    h = 1e-7
    expected = leg.forward_dynamics(START, SPEED, TAU, push)
    for friction in (None, cld.Friction({"knee": 1e-9})):
        _, yd = leg.step(START, SPEED, TAU, h, push, friction=friction)
        assert relative(((yd - SPEED) / h)[None], expected[None]) <= 1e-5
    plain = leg.step(START, SPEED, TAU, h)[1]
    assert relative(((plain - SPEED) / h)[None], expected[None]) > 1e-2


def test_a_batch_is_its_samples(random_flyer: cld.Robot) -> None:
    samples = [flying_state(random_flyer, seed) for seed in range(3)]
    y, yd, tau = (np.array(part) for part in zip(*samples, strict=True))
    ends = random_flyer.step(y, yd, tau, 1e-3, steps=3)
    for i, sample in enumerate(samples):
        one = random_flyer.step(*sample, 1e-3, steps=3)
        np.testing.assert_allclose(ends[0][i], one[0], atol=1e-14)
        np.testing.assert_allclose(ends[1][i], one[1], atol=1e-12)
    empty = random_flyer.step(y[:0], yd[:0], tau[0], 1e-3)
    assert empty[0].shape == (0, len(y[0])) and empty[1].shape == (0, random_flyer.m)


def test_a_guess_chooses_the_assembly_mode(leg: cld.Robot) -> None:
    guess = leg.state(START).q
    found = leg.step(START, SPEED, TAU, 1e-3, steps=2, guess=guess)
    expected = leg.step(START, SPEED, TAU, 1e-3, steps=2)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-10)


def test_beyond_the_proved_domain_steps_go_on_and_agree(leg: cld.Robot) -> None:
    """The ankle may go past its limit of 0.6 rad: closed form within, Newton beyond."""
    numerical = cld.load(*crank_leg.generate(), solver="numerical")
    y, yd = np.array([-0.4, 0.8, 0.55]), np.array([0.0, 0.0, 2.0])
    found, expected = (r.step(y, yd, TAU, 1e-3, steps=150) for r in (leg, numerical))
    assert expected[0][2] > 0.65
    np.testing.assert_allclose(found[0], expected[0], atol=1e-9)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-8)


def test_a_singularity_is_an_error_with_the_last_good_state(leg: cld.Robot) -> None:
    y, yd = START, np.array([0.0, 0.0, 8.0])
    with pytest.raises(ClosureNotFound, match="ankle"):
        leg.step(y, yd, np.zeros(3), 1e-3, steps=1000)
    done = Stepper(leg.programs).run(y, yd, np.zeros(3), 1e-3, 1000)
    assert isinstance(done.error, ClosedLoopError) and 0 < done.steps < 1000
    assert leg.state(done.y, done.yd).residual < 1e-9
    good = leg.step(y, yd, np.zeros(3), 1e-3, steps=done.steps)
    np.testing.assert_allclose(good[0], done.y, atol=1e-12)
    with pytest.raises(ClosureNotFound) as caught:
        leg.step(y, np.array([-0.1 * yd, yd]), np.zeros(3), 1e-3, steps=done.steps + 1)
    assert caught.value.sample == 1


def test_a_run_ends_after_the_step_that_passes_a_bound(leg: cld.Robot) -> None:
    stepper = Stepper(leg.programs)
    stepper.stop_outside(np.array([-9.0, -9.0, -9.0]), np.array([9.0, 9.0, 0.0]))
    done = stepper.run(START, np.array([0.0, 0.0, 2.0]), TAU, 1e-3, 1000)
    assert done.error is None and done.steps < 1000 and 0.0 < done.y[2] < 0.01
    before = leg.step(START, np.array([0.0, 0.0, 2.0]), TAU, 1e-3, steps=done.steps - 1)
    assert before[0][2] <= 0.0


def test_threads_step_on_their_own(leg: cld.Robot) -> None:
    expected = leg.step(START, SPEED, TAU, 1e-4, steps=300)
    found: list[Array] = []

    def work() -> None:
        found.append(leg.step(START, SPEED, TAU, 1e-4, steps=300)[1])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {yd.tobytes() for yd in found} == {expected[1].tobytes()} and len(found) == 4


def test_the_virtual_machine_takes_the_same_steps(
    leg: cld.Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    friction = cld.Friction({"knee": 0.5}, {"hip": 0.2})
    push = {"foot": np.ones(6)}
    expected = leg.step(START, SPEED, TAU, 1e-3, push, steps=3, friction=friction)
    monkeypatch.setenv("CLOSED_LOOP_DYNAMICS_BACKEND", "vm")
    slow = cld.load(*crank_leg.generate())
    found = slow.step(START, SPEED, TAU, 1e-3, push, steps=3, friction=friction)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-10)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"h": np.nan}, "h must be finite"),
        ({"h": 0.0}, "not zero"),
        ({"h": "fast"}, "not a number"),
        ({"steps": 0}, "steps"),
        ({"steps": 1.5}, "steps"),
        ({"y": [0.0, 0.0]}, "y has shape"),
        ({"y": [0.0, np.nan, 0.0]}, r"y\[1\]"),
        ({"tau_u": [0.0, 0.0, np.inf]}, r"tau_u\[2\]"),
        ({"wrenches": {"fot": np.ones(6)}}, "did you mean 'foot'"),
        ({"friction": cld.Friction({"knees": 1.0})}, "did you mean 'knee'"),
        ({"friction": cld.Friction({}, {"knee": -1.0})}, "negative"),
    ],
)
def test_bad_input_is_named(leg: cld.Robot, change: dict[str, object], match: str) -> None:
    good = {"y": START, "yd": SPEED, "tau_u": TAU, "h": 1e-3}
    with pytest.raises(InvalidInput, match=match):
        leg.step(**(good | change))
