"""The optimised motions of docs/optimisation.md through the real nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import LOCKSTEP, message, positions, stamp
from ros_support.streams import start_shipped
from sensor_msgs.msg import JointState
from support.shipped import shipped
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.cli.motion_file import as_spline, motion_of
from closed_loop_dynamics.cli.tables import read_csv
from closed_loop_dynamics.motion.trajectory import Points

pytestmark = pytest.mark.ros
TABLES = Path(__file__).resolve().parents[2] / "docs/optimisation"


@pytest.mark.parametrize("name, plan", [("crank_leg", "point_to_point"), ("rh5_leg", "squat")])
def test_the_simulator_follows_an_optimised_motion(graph: Any, name: str, plan: str) -> None:
    robot = shipped(name)
    names = robot.names.independent
    motion = motion_of(robot, read_csv(str(TABLES / f"{plan}.csv")))
    states = graph.listen(JointState, "/joint_states", depth=10000)
    mapped = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    feedback = {"mode": "measured", "feedback_frequency": 15.0}  # as in config/*_nodes.yaml
    drives = {**LOCKSTEP, "limit_speed": False}
    start_shipped(graph, name, motion.y[0], drives, {**LOCKSTEP, **feedback})
    graph.wait_active("simulator", "feedforward")
    points = Points(motion.times, motion.y, motion.yd, motion.ydd)
    graph.send("/feedforward/joint_trajectory", message(points, names))
    graph.wait(lambda: mapped, "the mapped trajectory")
    begin, length = stamp(mapped[0]), motion.times[-1]
    graph.wait(lambda: states and stamp(states[-1]) > begin + length + 0.5, "rest")

    spline = as_spline(motion)
    during = [s for s in states if begin <= stamp(s) <= begin + length]
    assert len(during) > 100
    times = np.array([stamp(s) - begin for s in during])
    found = np.array([positions(s, names) for s in during])
    # Within what the fastest joint does in two control cycles, which messages may take.
    two_cycles = 2 * 0.002 * np.abs(motion.yd).max()
    assert np.abs(found - spline.table(times)[0]).max() <= two_cycles
    assert np.abs(positions(states[-1], names) - motion.y[-1]).max() <= 2e-3
