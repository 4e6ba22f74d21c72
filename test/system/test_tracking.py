"""Feedforward and simulator in lockstep: the commanded motion comes out, the loops stay closed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import (
    ACTUATORS,
    GOAL,
    Loops,
    motion,
    positions,
    stamp,
    start_pair,
)
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

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
    for point in mapped[0].points:
        time = round(begin + point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec, 9)
        if time in at:
            np.testing.assert_allclose(at[time].position, point.positions, atol=1e-9)
            np.testing.assert_allclose(at[time].velocity, point.velocities, atol=1e-9)
    assert all(len(p.effort) == len(ACTUATORS) for p in mapped[0].points)
