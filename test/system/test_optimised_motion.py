"""The time-optimal motion of docs/optimisation.md through the real nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import message, positions, stamp, start_pair
from sensor_msgs.msg import JointState
from support.crank_legs import standing
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.cli.motion_file import as_spline, motion_of
from closed_loop_dynamics.cli.tables import read_csv
from closed_loop_dynamics.motion.trajectory import Points

pytestmark = pytest.mark.ros
TABLE = Path(__file__).resolve().parents[2] / "docs/optimisation/point_to_point.csv"


def test_the_simulator_follows_a_time_optimal_motion(graph: Any) -> None:
    motion = motion_of(standing(), read_csv(str(TABLE)))
    states = graph.listen(JointState, "/joint_states", depth=10000)
    mapped = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    start_pair(
        graph,
        simulator={"initial_position": motion.y[0].tolist()},
        feedforward={"mode": "measured", "feedback_frequency": 15.0},  # config/crank_leg_nodes.yaml
    )
    graph.wait_active("simulator", "feedforward")
    points = Points(motion.times, motion.y, motion.yd, motion.ydd)
    graph.send("/feedforward/joint_trajectory", message(points))
    graph.wait(lambda: mapped, "the mapped trajectory")
    begin, length = stamp(mapped[0]), motion.times[-1]
    graph.wait(lambda: states and stamp(states[-1]) > begin + length + 0.5, "rest")

    spline = as_spline(motion)
    during = [s for s in states if begin <= stamp(s) <= begin + length]
    assert len(during) > 100
    times = np.array([stamp(s) - begin for s in during])
    found = np.array([positions(s) for s in during])
    # Within what the fastest joint does in two control cycles, which messages may take.
    two_cycles = 2 * 0.002 * np.abs(motion.yd).max()
    assert np.abs(found - spline.table(times)[0]).max() <= two_cycles
    assert np.abs(positions(states[-1]) - motion.y[-1]).max() <= 2e-3
