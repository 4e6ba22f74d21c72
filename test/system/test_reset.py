"""``~/reset`` of the simulator under a running controller: the robot stays where it was put."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import (
    GOAL,
    LOCKSTEP,
    START,
    motion,
    positions,
    start_feedforward,
    start_simulator,
)
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

pytestmark = pytest.mark.ros
REAL_TIME = {"lockstep": False, "control_rate": 200.0}
MEASURED = {"mode": "measured", "feedback_frequency": 10.0, "diagnostics_period": 0.2}


@pytest.mark.parametrize("timing", [REAL_TIME, LOCKSTEP], ids=["real time", "lockstep"])
def test_a_robot_that_is_reset_is_held_there(graph: Any, timing: dict[str, Any]) -> None:
    """Not drawn back to where the last motion ended."""
    states = graph.listen(JointState, "/joint_states", depth=1000)
    start_simulator(graph, timing)
    start_feedforward(graph, {**timing, **MEASURED})
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    graph.send("/feedforward/joint_trajectory", motion(duration=1.0))
    graph.wait(lambda: np.abs(positions(states[-1]) - GOAL).max() < 0.01, "the goal")
    assert graph.call(Trigger, "/simulator/reset", Trigger.Request()).success
    graph.wait(lambda: np.abs(positions(states[-1]) - START).max() < 0.01, "the reset")

    def held() -> bool:
        count = len(states)
        graph.wait(lambda: len(states) > count + 100, "half a second")
        moved = np.abs(positions(states[-1]) - positions(states[count])).max()
        return graph.values("feedforward")["state"] == "holding" and moved < 1e-3

    graph.wait(held, "the robot to be held")
    assert np.abs(positions(states[-1]) - START).max() < 0.05
