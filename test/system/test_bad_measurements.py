"""Bad measurements are dropped with the reason; the nodes go on and recover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.graph import Graph
from ros_support.leg import ACTUATORS, START
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros
NAN = float("nan")


@pytest.fixture(scope="module")
def completer(shared: Graph) -> tuple[Graph, Any, list[JointState]]:
    """A completer that takes what the test measures."""
    states = shared.listen(JointState, "/completed", depth=10)
    settings = {"patience": 3600.0, "max_jump": 0.2}  # however long the test takes to speak again
    process = shared.start("joint_state_completer", settings, {"joint_states": "completed"})
    shared.wait_active("joint_state_completer")
    return shared, process, states


GOOD = {"name": list(ACTUATORS), "position": [0.0, 0.0, 0.0], "velocity": [0.0, 0.0, 0.0]}
BAD_MEASUREMENTS = {
    "NaN": ({**GOOD, "position": [0.0, NAN, 0.0]}, "not finite"),
    "wrong length": ({**GOOD, "velocity": [0.0]}, "1 numbers of velocity"),
    "misspelt joint": ({**GOOD, "name": ["hip", "knee_cylinder", "crank"]}, "'crank' is there"),
    "missing joint": ({"name": ["hip"], "position": [0.0]}, "missing"),
    "nothing": ({}, "missing"),
    "out of workspace": ({**GOOD, "position": [0.0, -0.5, 0.0]}, "knee"),
    "past a singularity": ({**GOOD, "position": [0.0, 0.1, 0.0]}, "knee"),
    "jump": ({**GOOD, "position": [0.0, -0.06, 0.0]}, "jump"),
}


@pytest.mark.parametrize("name", BAD_MEASUREMENTS)
def test_bad_measurement_is_dropped(completer: Any, name: str) -> None:
    graph, process, states = completer
    fields, reason = BAD_MEASUREMENTS[name]

    def measured() -> bool:
        graph.send("/actuator_states", JointState(**GOOD))
        return graph.message("joint_state_completer") == "active" and bool(states)

    graph.wait(measured, "good measurements")
    errors = len(graph.errors("joint_state_completer"))
    graph.send_until(  # best effort: a message may get lost
        "/actuator_states",
        JointState(**fields),
        lambda: graph.errors("joint_state_completer")[errors:],
        "an ERROR",
    )
    assert reason in graph.errors("joint_state_completer")[errors]
    assert process.alive
    assert all(np.isfinite(s.position).all() and np.abs(s.position).max() < 1e-9 for s in states)
    graph.wait(measured, "recovery")


def test_measured_mode_survives_bad_measurements(graph: Any) -> None:
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command")
    commands = graph.listen(JointState, "/feedforward/actuator_command")
    settings = {"mode": "measured", "control_rate": 100.0, "initial_position": START}
    process = graph.start("feedforward", settings)
    graph.wait_active("feedforward")
    for name, (fields, reason) in BAD_MEASUREMENTS.items():
        if name == "jump":
            continue  # from where? it has not believed anything yet
        graph.send_until(
            "/actuator_states",
            JointState(**fields),
            lambda r=reason: any(r in e for e in graph.errors("feedforward")),
            f"an ERROR because of {name}",
        )
    wild = JointState(**{**GOOD, "velocity": [0.0, 1e300, 0.0]})
    graph.send_until(
        "/actuator_states",
        wild,
        lambda: "not believed: knee at a speed" in process.text(),
        "the broken encoder to be seen",
    )
    assert process.alive
    # It has never been known where the robot is: nothing drives it, and that is told.
    assert not commands and not efforts
    graph.wait_state("off")
