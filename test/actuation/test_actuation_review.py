"""What a hostile reviewer found in the algorithm suite."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import closed_loop_dynamics as cld
from tools.robots import crank_leg

ROOT = Path(__file__).resolve().parents[2]
Y = np.array([-0.3, 0.6, -0.2])


@pytest.fixture(scope="module")
def leg() -> cld.Robot:
    return cld.load(*crank_leg.generate())


def test_task_space_knows_the_friction_of_passive_joints() -> None:
    text = (ROOT / "config" / "irsbot2.yaml").read_text()
    rubbing = "  joint_friction: {right_elbow: {viscous_friction: 5.0}}\n  task_space:"
    robot = cld.load(ROOT / "urdf" / "irsbot2.urdf", text.replace("  task_space:", rubbing))
    task = robot.task_space()
    x, xd, xdd = task.reference + np.array([0.05, 0.03]), np.array([0.5, -0.2]), np.zeros(2)
    s = task.inverse_kinematics(x, xd, xdd)
    assert s.u is not None and s.ud is not None and s.udd is not None
    expected = robot.inverse_dynamics(s.u, s.ud, s.udd)
    np.testing.assert_allclose(task.inverse_dynamics(x, xd, xdd), expected, rtol=1e-9)


def test_actuation_follows_the_assembly_mode_of_a_guess(leg: cld.Robot) -> None:
    modes = leg.submechanism("ankle").assembly_modes([Y[2]])
    other = next(mode for mode in modes if not mode.current)
    q = leg.state(Y).q.copy()
    for name, value in other.positions.items():
        q[leg.names.spanning.index(name)] = value
    rest = np.zeros(3)
    expected = leg.inverse_dynamics(Y, rest, rest, guess=q)
    assert np.abs(expected - leg.inverse_dynamics(Y, rest, rest)).max() > 0.01
    found = leg.actuation.gravity_compensation(Y, guess=q)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    G_u = leg.actuator_jacobian(Y, q)
    np.testing.assert_allclose(leg.actuation.velocity_to_actuator(Y, Y, q), G_u @ Y, atol=1e-12)


def test_no_friction_and_wrenches_in_any_order(leg: cld.Robot) -> None:
    push = {"foot": [0.0, 0.0, 1.0, 0.0, 0.0, 5.0]}
    plain = leg.step(Y, Y, Y, 1e-3, friction=cld.Friction())
    np.testing.assert_array_equal(plain, leg.step(Y, Y, Y, 1e-3))
    pushed = leg.step(Y, Y, Y, 1e-3, wrenches=push, friction=cld.Friction())
    np.testing.assert_array_equal(pushed, leg.step(Y, Y, Y, 1e-3, wrenches=push))


def test_a_guess_per_sample_of_a_batch(leg: cld.Robot) -> None:
    q = leg.state(Y).q
    y, yd = leg.step(np.tile(Y, (2, 1)), Y, Y, 1e-3, guess=np.tile(q, (2, 1)))
    one = leg.step(Y, Y, Y, 1e-3)
    np.testing.assert_allclose(y, np.tile(one[0], (2, 1)), atol=1e-12)
    np.testing.assert_allclose(yd, np.tile(one[1], (2, 1)), atol=1e-12)


def test_bad_input_is_told_by_our_own_errors(leg: cld.Robot) -> None:
    with pytest.raises(cld.InvalidInput, match="'hip' must be a number"):
        leg.step(Y, Y, Y, 1e-3, friction=cld.Friction(viscous={"hip": "a"}))  # type: ignore[dict-item]
    with pytest.raises(cld.InvalidInput, match="not a Friction"):
        leg.step(Y, Y, Y, 1e-3, friction={"hip": 1.0})  # type: ignore[arg-type]
    with pytest.raises(cld.InvalidInput, match="inertia is not"):
        cld.Payload(1.0, inertia=[[1.0, 2.0], [3.0]])  # type: ignore[list-item]
    with pytest.raises(cld.InvalidInput, match="batches of different length"):
        leg.actuation.velocity_to_actuator(np.tile(Y, (2, 1)), np.zeros((3, 3)))
    with pytest.raises(cld.InvalidInput, match="lower <= upper"):
        leg.actuation.distribute(Y, Y, bounds=(np.full(3, -np.inf), np.full(3, -np.inf)))
    assert leg.actuation.distribute(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)
