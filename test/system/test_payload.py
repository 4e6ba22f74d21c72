"""A payload set while the feedforward node works counts in its efforts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from ros_support.graph import SUBMECHANISMS, URDF
from ros_support.leg import START, positions, stamp, start_pair
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

import closed_loop_dynamics as cld

pytestmark = pytest.mark.ros
COM = [0.05, 0.0, -0.03]


def set_value(graph: Any, parameter: str, node: str = "feedforward", **value: Any) -> Any:
    setting = Parameter(name=parameter, value=ParameterValue(**value))
    request = SetParameters.Request(parameters=[setting])
    return graph.call(SetParameters, f"/{node}/set_parameters", request).results[0]


def test_payload_is_a_run_time_parameter(graph: Any) -> None:
    robot = cld.load(URDF, SUBMECHANISMS)
    rest = np.zeros(3)
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command")
    settings = {"initial_position": START, "control_rate": 100.0, "payload_link": "foot"}
    graph.start("feedforward", settings | {"payload_com": COM})
    graph.wait_active("feedforward")

    def wait_for(mass: float) -> None:
        payload = {"foot": cld.Payload(mass, COM)}
        expected = robot.inverse_dynamics(START, rest, rest, payload=payload)
        graph.wait(
            lambda: efforts and np.allclose(efforts[-1].data, expected, atol=1e-9),
            f"the efforts with {mass} kg",
        )

    wait_for(0.0)
    assert set_value(graph, "payload_mass", type=3, double_value=2.5).successful
    wait_for(2.5)
    refused = set_value(graph, "payload_mass", type=3, double_value=-1.0)
    assert not refused.successful
    refused = set_value(graph, "payload_inertia", type=8, double_array_value=[1.0, 0.0])
    assert not refused.successful and "2 numbers, not 6" in refused.reason
    impossible = [1.0, 0.0, 0.0, 1.0, 0.0, 5.0]
    refused = set_value(graph, "payload_inertia", type=8, double_array_value=impossible)
    assert not refused.successful and "principal moments" in refused.reason
    seen = len(efforts)
    graph.wait(lambda: len(efforts) > seen + 3, "more commands")
    wait_for(2.5)


def test_a_simulated_payload_is_held_by_who_knows_it(graph: Any) -> None:
    """In lockstep: the same payload in both nodes, the leg stays; a heavier one pulls it away."""
    states = graph.listen(JointState, "/joint_states", depth=10000)
    payload = {"payload_link": "foot", "payload_mass": 2.0, "payload_com": COM}
    start_pair(graph, simulator=payload, feedforward=payload | {"initial_position": START})
    graph.wait_active("simulator", "feedforward")
    graph.wait(lambda: states and stamp(states[-1]) > 0.5, "half a second")
    assert max(np.abs(positions(s) - START).max() for s in states) < 1e-6
    heavier = set_value(graph, "payload_mass", "simulator", type=3, double_value=4.0)
    assert heavier.successful
    graph.wait(lambda: np.abs(positions(states[-1]) - START).max() > 0.01, "the leg to sink")


def test_payload_on_an_unknown_link_refuses_to_configure(graph: Any) -> None:
    graph.start("feedforward", {"initial_position": START, "payload_link": "foto"})
    graph.wait(lambda: graph.errors("feedforward"), "the refusal")
    assert "did you mean 'foot'" in graph.errors("feedforward")[0]
    assert graph.state("feedforward") == "unconfigured"
