"""The simulated robot: conservation, dissipation, stops, holding, determinism."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import ClosedLoopError, InvalidInput
from closed_loop_dynamics.simulation.plant import Physics, Plant

START = np.array([-0.4, 0.8, -0.2])


def test_energy_of_a_free_swing_is_conserved(leg: cld.Robot) -> None:
    plant = Plant(leg, Physics(end_stops=False), START)
    before = sum(plant.energy())
    plant.advance(np.zeros(3), 0.1)
    assert plant.energy()[0] > 0.1
    assert sum(plant.energy()) == pytest.approx(before, abs=1e-7)


def test_energy_with_a_payload_is_conserved(leg: cld.Robot) -> None:
    load = {"foot": cld.Payload(3.0, (0.1, 0.05, -0.1), np.diag([0.02, 0.03, 0.04]))}
    carried = SimpleNamespace(parameters=leg.parameters_with(load))
    plant = Plant(leg, Physics(end_stops=False), START, carried)
    before = plant.energy()
    plant.advance(np.zeros(3), 0.1)
    assert plant.energy()[0] > 0.1
    assert sum(plant.energy()) == pytest.approx(sum(before), abs=1e-6)
    T = leg.pose("foot", START)
    height = (T @ [0.1, 0.05, -0.1, 1.0])[2]
    assert before[1] - Plant(leg, Physics(), START).energy()[1] == pytest.approx(3 * 9.81 * height)
    still = Plant(leg, Physics(), START, carried)
    still.advance(None, 0.1)  # holding knows the payload
    np.testing.assert_allclose(still.y, START, atol=1e-9)


def test_friction_takes_energy_away(leg: cld.Robot) -> None:
    physics = Physics(viscous={"knee": 0.5, "ankle_rod": 0.1}, coulomb={"hip": 1.0})
    plant = Plant(leg, physics, START)
    energies = [sum(plant.energy())]
    for _ in range(5):
        plant.advance(np.zeros(3), 0.02)
        energies.append(sum(plant.energy()))
    assert (np.diff(energies) < 0.0).all()


def test_friction_balances_the_force_that_feeds_it(leg: cld.Robot) -> None:
    """dE/dt = -sum of friction power, joint by joint over the spanning tree."""
    physics = Physics(step=1e-4, viscous={"knee_cylinder": 300.0, "ankle_rod": 0.2})
    plant = Plant(leg, physics, START)
    plant.advance(np.zeros(3), 0.05)
    qd = leg.state(plant.y, plant.yd).qd
    assert qd is not None
    i, j = (leg.names.spanning.index(name) for name in physics.viscous)
    power = 300.0 * qd[i] ** 2 + 0.2 * qd[j] ** 2
    before = sum(plant.energy())
    plant.advance(np.zeros(3), 1e-4)
    assert (sum(plant.energy()) - before) / 1e-4 == pytest.approx(-power, rel=2e-2)


def test_end_stop_keeps_the_joint_inside_and_never_adds_energy(leg: cld.Robot) -> None:
    plant = Plant(leg, Physics(), np.array([0.0, 0.05, 0.0]))
    low = plant.limits.lower[1]
    push = np.array([0.0, 50.0, 0.0])  # lengthens the cylinder: straightens the knee
    plant.advance(push, 0.5)
    assert plant.y[1] == pytest.approx(low, abs=1e-3) and plant.y[1] >= low
    plant.yd = np.array([0.3, -2.0, 0.5])
    plant.y[1] = low - 1e-6
    before = plant.energy()[0]
    plant._stop(plant.y, plant.yd)
    assert plant.yd[1] == pytest.approx(0.0, abs=1e-12)
    assert plant.energy()[0] < before


def test_holds_its_position_without_command(leg: cld.Robot) -> None:
    plant = Plant(leg, Physics(), START)
    plant.advance(None, 1.0)
    np.testing.assert_allclose(plant.y, START, atol=1e-9)
    plant.yd = np.array([0.2, -0.2, 0.1])
    plant.advance(None, 2.0)
    np.testing.assert_allclose(plant.y, START, atol=1e-6)


def test_efforts_are_clipped_to_the_limits_of_the_urdf(leg: cld.Robot) -> None:
    plant = Plant(leg, Physics(), START)
    plant.advance(np.array([1e3, -1e5, 1e3]), 1e-3)
    np.testing.assert_allclose(plant.tau, [80.0, -2500.0, 40.0])


def test_wrench_moves_the_leg_as_the_jacobian_says(leg: cld.Robot) -> None:
    plant = Plant(leg, Physics(), START)
    wrench = np.array([0.0, 1.0, 0.0, 5.0, 0.0, 3.0])
    plant.push("foot", wrench)
    tau_y = leg.gravity(START) - leg.jacobian("foot", START).T @ wrench
    tau = np.linalg.solve(leg.actuator_jacobian(START).T, tau_y)
    plant.advance(tau, 0.01)
    np.testing.assert_allclose(plant.y, START, atol=1e-9)


def test_singularity_stops_the_motion_and_leaves_a_good_state(leg: cld.Robot) -> None:
    plant = Plant(leg, Physics(end_stops=False), START)
    with pytest.raises(ClosedLoopError):
        plant.advance(np.array([0.0, 0.0, 40.0]), 5.0)
    assert not plant.yd.any()
    assert leg.state(plant.y).residual < 1e-9


def test_same_commands_give_the_same_bits(leg: cld.Robot) -> None:
    rng = np.random.default_rng(4)
    commands = rng.normal(size=(40, 3)) * [20.0, 300.0, 10.0]
    runs = []
    for _ in range(2):
        plant = Plant(leg, Physics(), START)
        for command in commands:
            plant.advance(command, 0.002)
        runs.append(np.concatenate([plant.y, plant.yd]))
    assert runs[0].tobytes() == runs[1].tobytes()


def test_bad_set_up_is_refused(leg: cld.Robot) -> None:
    with pytest.raises(InvalidInput, match="knee"):
        Plant(leg, Physics(), np.array([0.0, 5.0, 0.0]))
    with pytest.raises(InvalidInput, match="did you mean 'knee'"):
        Plant(leg, Physics(viscous={"knees": 1.0}), START)
    with pytest.raises(InvalidInput, match="negative"):
        Plant(leg, Physics(coulomb={"knee": -1.0}), START)


def test_reset_gives_the_same_bits_again(leg: cld.Robot) -> None:
    """Beyond the joint limits too, where loops start from their newest solution."""
    plant = Plant(leg, Physics(end_stops=False, viscous={"ankle_rod": 0.1}), START)
    runs = []
    for _ in range(2):
        plant.reset()
        plant.push("foot", np.array([0.0, -3.0, 0.0, 1.0, 0.0, 0.0]))
        plant.advance(np.array([0.0, 0.0, 6.0]), 0.065)
        runs.append(np.concatenate([plant.y, plant.yd]).tobytes())
        assert plant.y[2] > plant.limits.upper[2]
        plant.advance(np.array([5.0, 0.0, -30.0]), 0.01)  # leaves another newest solution behind
    assert runs[0] == runs[1]


def test_one_long_advance_is_many_short_ones(leg: cld.Robot) -> None:
    """End stops, friction and wrenches act step by step, however many steps run at once."""
    physics = Physics(coulomb={"hip": 0.5})
    plants = [Plant(leg, physics, START) for _ in range(2)]
    for plant in plants:
        plant.push("foot", np.array([0.0, 0.0, 0.0, 20.0, 0.0, 0.0]))
    tau = np.array([-20.0, 200.0, 5.0])
    plants[0].advance(tau, 0.4)
    for _ in range(400):
        plants[1].advance(tau, 0.001)
    assert plants[0].y.tobytes() == plants[1].y.tobytes()
    at_stop = (plants[0].y == plants[0].limits.lower) | (plants[0].y == plants[0].limits.upper)
    assert at_stop.any()


def test_a_wrench_can_be_taken_back(leg: cld.Robot) -> None:
    pushed, free = (Plant(leg, Physics(), START) for _ in range(2))
    pushed.push("foot", np.ones(6))
    assert set(pushed.wrenches) == {"foot"}
    pushed.push("foot", np.zeros(6))
    assert not pushed.wrenches
    for plant in (pushed, free):
        plant.advance(np.zeros(3), 0.01)
    assert pushed.y.tobytes() == free.y.tobytes()
    with pytest.raises(InvalidInput, match="did you mean 'foot'"):
        pushed.push("food", np.ones(6))
    assert not pushed.wrenches


def test_a_floating_robot_holds_its_joints_and_keeps_its_momentum(flying_leg: cld.Robot) -> None:
    y0 = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, *START])
    plant = Plant(flying_leg, Physics(), y0)
    plant.yd = np.array([0.3, -0.2, 0.5, 1.0, 0.0, 0.0, 0.4, -0.4, 0.3])
    before = flying_leg.centroidal_momentum(plant.y, plant.yd)
    plant.advance(None, 1.0)
    np.testing.assert_allclose(plant.y[7:], START, atol=1e-4)
    np.testing.assert_allclose(plant.yd[6:], 0.0, atol=1e-3)
    fallen = [0.0, 0.0, 0.0, 0.0, 0.0, -9.81 * flying_leg.total_mass]
    after = flying_leg.centroidal_momentum(plant.y, plant.yd)
    np.testing.assert_allclose(after - fallen, before, atol=1e-8)


def test_a_floating_robot_meets_its_end_stops(flying_leg: cld.Robot) -> None:
    y0 = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, *START])
    plant = Plant(flying_leg, Physics(), y0)
    before = flying_leg.centroidal_momentum(plant.y, plant.yd)
    plant.advance(np.array([0.0, 0.0, 2.0]), 0.5)
    assert plant.y[9] == pytest.approx(plant.limits.upper[2], abs=1e-3)
    fallen = [0.0, 0.0, 0.0, 0.0, 0.0, -9.81 * flying_leg.total_mass * 0.5]
    after = flying_leg.centroidal_momentum(plant.y, plant.yd)  # an impact inside changes none
    np.testing.assert_allclose(after - fallen, before, atol=1e-6)
