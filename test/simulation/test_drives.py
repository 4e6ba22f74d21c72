"""Drives keep to the speed limits, whatever is commanded, and leave alone what is within them."""

from __future__ import annotations

import numpy as np
import pytest
from support.four_bar import Lambda

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.shipped import shipped_robot
from closed_loop_dynamics.simulation.plant import Physics, Plant

PERIOD = 0.002


def largest_speed(robot: cld.Robot, y0: Array, slow: bool) -> float:
    """Over the limits, under random efforts that change every 20 ms.

    Stops are among it: a joint that runs into its stop throws others.
    """
    names = [*robot.names.independent, *robot.names.actuator]
    limits, largest = Limits.of(robot.mechanism.tree, names), 0.0
    for seed in range(20):
        random, plant = np.random.default_rng(seed), Plant(robot, Physics(limit_speed=slow), y0)
        for k in range(100):
            if k % 10 == 0:
                tau = random.uniform(-1.0, 1.0, robot.p) * plant.drives.limits.effort
            plant.advance(tau, PERIOD)
            speeds = np.concatenate([plant.yd, robot.state(plant.y, plant.yd).ud])
            largest = max(largest, float((np.abs(speeds) / limits.velocity).max()))
    return largest


@pytest.mark.parametrize("name", ["crank_leg", "rh5_leg", "six_ups", "rh5_manus"])
def test_no_command_makes_a_joint_faster_than_its_limit(name: str) -> None:
    files = shipped_robot(name)
    robot = cld.load(files.urdf, files.submechanisms)
    limits = Limits.of(robot.mechanism.tree, robot.names.independent)
    y0 = 0.5 * (limits.lower + limits.upper)
    assert largest_speed(robot, y0, False) > 2.0
    assert largest_speed(robot, y0, True) <= 1.0 + 1e-9


def test_an_arm_that_throws_its_light_joints_about_is_braked_while_it_can_be() -> None:
    """Efforts came 50 ms late in the fault campaign, and drove it to 1.15 times its limits.

    From four fifths on nothing could have braked it; 30 ms on it was at five times its limits.
    """
    robot = cld.load("rh5_manus")
    arm = [f"right_{n}" for n in ("shoulder_swing", "shoulder_lift", "shoulder_turn", "elbow")]
    arm += [f"right_wrist_{n}" for n in ("roll", "pitch", "yaw")]
    efforts = {"torso_yaw": 71.0, "right_elbow_cylinder": -560.0, "right_wrist_roll": -1.0}
    efforts |= {"right_wrist_left": 81.0, "right_wrist_right": -73.0}
    efforts |= dict(zip(arm[:3], (-10.0, -78.0, -9.0), strict=True))
    at = [robot.names.independent.index(joint) for joint in arm]
    y0, tau = np.zeros(robot.m), np.array([efforts.get(n, 0.0) for n in robot.names.actuator])
    y0[at] = -0.7, 0.4, -0.3, -0.4, 1.5, -0.5, 0.4
    plant = Plant(robot, Physics(limit_speed=True), y0)
    plant.yd[at] = 2.0, -2.0, 12.0, -4.0, -8.0, 5.0, -10.0
    limits = Limits.of(
        robot.mechanism.tree, [*robot.names.independent, *robot.names.actuator]
    ).velocity
    for _ in range(40):
        plant.advance(tau, 0.001)
        speeds = np.concatenate([plant.yd, robot.state(plant.y, plant.yd).ud])
        assert (np.abs(speeds) <= limits).all()


def test_commands_within_the_limits_are_left_alone(leg: cld.Robot) -> None:
    start = np.array([-0.4, 0.8, -0.2])
    plants = [Plant(leg, Physics(limit_speed=slow), start) for slow in (False, True)]
    tau = leg.inverse_dynamics(start, np.zeros(3), np.array([1.0, -2.0, 3.0]))
    for _ in range(100):
        for plant in plants:
            plant.advance(tau, PERIOD)
    assert not plants[1].drives.held_back and np.abs(plants[1].yd).max() > 0.1
    np.testing.assert_array_equal(plants[0].y, plants[1].y)
    np.testing.assert_array_equal(plants[0].yd, plants[1].yd)


def test_who_is_held_back_is_named_and_comes_near_the_limit(leg: cld.Robot) -> None:
    plant = Plant(leg, Physics(limit_speed=True), np.array([-0.4, 0.8, -0.2]))
    names = [*leg.names.independent, *leg.names.actuator]
    limit = dict(zip(names, Limits.of(leg.mechanism.tree, names).velocity, strict=True))
    while not plant.drives.held_back:
        plant.advance(plant.drives.limits.effort, PERIOD)
    joint = plant.drives.held_back
    speed = dict(zip(names, np.r_[plant.yd, leg.state(plant.y, plant.yd).ud], strict=True))[joint]
    assert 0.99 < abs(speed) / limit[joint] <= 1.0


def test_a_flying_robot_keeps_to_them_too(flying_leg: cld.Robot) -> None:
    y0 = flying_leg.mechanism.neutral_y()
    joints, speeds = flying_leg.mechanism.flat
    names = flying_leg.names.independent[1:]
    limits = Limits.of(flying_leg.mechanism.tree, names)
    y0[joints] = 0.5 * (limits.lower + limits.upper)
    plant = Plant(flying_leg, Physics(limit_speed=True, end_stops=False), y0)
    held_back = 0
    for _ in range(30):
        plant.advance(0.5 * plant.drives.limits.effort, PERIOD)
        held_back += bool(plant.drives.held_back)
        assert (np.abs(plant.yd[speeds]) <= limits.velocity * (1.0 + 1e-9)).all()
    assert held_back


def test_at_a_dead_point_of_the_drive_a_fast_robot_is_let_go() -> None:
    """No effort brakes it there, and it must not stand still for that."""
    mechanism = Lambda()
    urdf = mechanism.urdf().replace('velocity="1e3"', 'velocity="1e-3"')
    robot = cld.load(urdf, mechanism.yaml())
    dead = np.array([mechanism.singular_hinge()])
    plant = Plant(robot, Physics(limit_speed=True, end_stops=False, clip_effort=False), dead)
    plant.yd[:] = 3.0
    with pytest.raises(cld.ActuationSingular):
        robot.inverse_dynamics(dead, plant.yd, -plant.yd)
    plant.advance(np.zeros(1), PERIOD)
    assert plant.drives.held_back and plant.y[0] != dead[0]
