"""Feedforward and simulator in lockstep: the commanded motion comes out, the loops stay closed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import (
    ACTUATORS,
    GOAL,
    START,
    Loops,
    expect_on_the_motion,
    motion,
    positions,
    stamp,
    start_pair,
)
from sensor_msgs.msg import JointState
from support.crank_legs import standing
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.motion.trajectory import Setpoint, Spline, cycloidal

pytestmark = pytest.mark.ros


def test_pure_feedforward_tracks_a_cycloidal_motion_with_closed_loops(graph: Any) -> None:
    states = graph.listen(JointState, "/joint_states", depth=10000)
    mapped = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    start_pair(graph)
    graph.wait_active("simulator", "feedforward")
    graph.send("/feedforward/joint_trajectory", motion(duration=2.0))
    graph.wait(lambda: mapped, "the mapped trajectory")
    begin = stamp(mapped[0])
    graph.wait(lambda: states and stamp(states[-1]) > begin + 2.2, "the end of the motion")

    after = [s for s in states if begin + 2.0 <= stamp(s) <= begin + 2.2]
    assert len(after) > 50
    error = max(np.abs(positions(s) - GOAL).max() for s in after)
    assert error <= 1e-3
    loops = Loops()
    assert max(loops.gap(s) for s in states) <= 1e-8


def test_mapped_trajectory_is_the_motion_in_actuator_space(graph: Any) -> None:
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10000)
    mapped = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    start_pair(graph)
    graph.wait_active("simulator", "feedforward")
    graph.send("/feedforward/joint_trajectory", motion(duration=0.5))
    graph.wait(lambda: mapped, "the mapped trajectory")
    begin = stamp(mapped[0])
    graph.wait(lambda: commands and stamp(commands[-1]) > begin + 0.5, "the end of the motion")

    assert list(mapped[0].joint_names) == list(ACTUATORS)
    at = {round(stamp(c), 9): c for c in commands}
    compared = 0
    for point in mapped[0].points:
        time = round(begin + point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec, 9)
        if time in at:
            np.testing.assert_allclose(at[time].position, point.positions, atol=1e-9)
            np.testing.assert_allclose(at[time].velocity, point.velocities, atol=1e-9)
            compared += 1
    assert compared > 5
    assert all(len(p.effort) == len(ACTUATORS) for p in mapped[0].points)


def test_in_real_time_every_command_is_on_the_motion_whatever_interrupts_it(graph: Any) -> None:
    """A control thread of its own; transitions and other motions in the middle of a motion."""
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10000)
    trees = graph.listen(JointState, "/joint_states", depth=10000)
    mapped = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    graph.start("feedforward", {"control_rate": 200.0, "initial_position": START})
    graph.wait_active("feedforward")
    robot, rest, loops = standing(), np.zeros(3), Loops()
    here = np.array(START)
    for round_trip in range(3):
        there = np.array(GOAL if round_trip % 2 == 0 else START)
        commands.clear()
        trees.clear()
        mapped.clear()
        graph.send("/feedforward/joint_trajectory", motion(there, 2.0, here))
        graph.wait(lambda: mapped, "an answer to the trajectory")
        begin = stamp(mapped[0])
        graph.wait(lambda b=begin: commands and stamp(commands[-1]) > b + 0.8, "half of it")
        assert graph.change("feedforward", "deactivate")
        switch = graph.node.get_clock().now().nanoseconds * 1e-9
        assert graph.change("feedforward", "activate")

        def since(switch: float = switch) -> list[JointState]:
            return [command for command in commands if stamp(command) > switch]

        graph.wait(lambda: len(since()) > 10, "commands")
        spline = Spline(cycloidal(here, there, 2.0), begin, Setpoint(begin, here, rest, rest))
        moving = [command for command in commands if stamp(command) < switch]
        expect_on_the_motion(robot, spline, [c for c in moving if stamp(c) > begin])
        for command in since():  # nobody measures: it rests where it was told to be
            np.testing.assert_allclose(command.position, moving[-1].position, atol=1e-9)
            np.testing.assert_array_equal(command.velocity, 0.0)
        assert trees and max(loops.gap(tree) for tree in trees) <= 1e-8
        here = robot.independent_from_actuator(commands[-1].position)
