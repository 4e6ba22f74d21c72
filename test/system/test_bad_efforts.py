"""Bad efforts and wrenches: the simulator drops them, says what is wrong, and recovers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.model.joint_limits import Limits

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from geometry_msgs.msg import WrenchStamped
from ros_support.graph import Graph
from ros_support.leg import START, Loops, positions, stamp
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros
NAN = float("nan")


@pytest.fixture(scope="module")
def simulator(shared: Graph) -> tuple[Graph, Any, list[JointState]]:
    """A simulator in lockstep: it stands still unless a good command comes."""
    states = shared.listen(JointState, "/simulator/actuator_states", depth=10)
    process = shared.start("simulator", {"lockstep": True, "initial_position": START})
    shared.wait_active("simulator")
    shared.wait(lambda: states, "states")
    return shared, process, states


@pytest.mark.parametrize("data", [[NAN, 0.0, 0.0], [1.0], [], [0.0] * 4, [float("inf")] * 3])
def test_bad_effort_is_dropped(simulator: Any, data: list[float]) -> None:
    graph, process, states = simulator
    errors = len(graph.errors("simulator"))
    graph.send("/simulator/effort_command", Float64MultiArray(data=data))
    graph.wait(lambda: len(graph.errors("simulator")) > errors, "an ERROR")
    assert "effort" in graph.errors("simulator")[-1]
    at = stamp(states[-1])
    graph.send("/simulator/effort_command", Float64MultiArray(data=[0.0, 0.0, 0.0]))
    graph.wait(lambda: stamp(states[-1]) > at, "the next step")
    assert stamp(states[-1]) == pytest.approx(at + 0.002)
    assert process.alive
    graph.wait(lambda: graph.level("simulator") < 2, "recovery")


def test_bad_wrench_is_dropped_and_a_good_one_acts(simulator: Any) -> None:
    graph, process, states = simulator
    bad = WrenchStamped()
    bad.header.frame_id = "hand"
    nan = WrenchStamped()
    nan.header.frame_id = "foot"
    nan.wrench.force.x = NAN
    for wrench, reason in ((bad, "unknown link 'hand'"), (nan, "not finite")):
        graph.send("/simulator/wrench", wrench)
        graph.wait(lambda r=reason: r in "".join(graph.errors("simulator")), "an ERROR")
    nan.wrench.force.x = 1.0
    graph.send("/simulator/wrench", nan)
    graph.wait(lambda: "wrench" not in graph.message("simulator"), "recovery")
    at = stamp(states[-1])
    graph.send("/simulator/effort_command", Float64MultiArray(data=[0.0, 0.0, 0.0]))
    graph.wait(lambda: stamp(states[-1]) > at, "the next step")
    assert process.alive


def test_drives_hold_back_efforts_that_would_make_a_joint_too_fast(graph: Any) -> None:
    """Wrong efforts that look like good ones, in lockstep: the leg flails without the drives."""
    leg = cld.load("crank_leg")
    drives = Limits.of(leg.mechanism.tree, leg.names.actuator)
    states = graph.listen(JointState, "/joint_states", depth=10000)
    graph.start("simulator", {"lockstep": True, "initial_position": START})
    graph.wait_active("simulator")
    graph.wait(lambda: states, "states")
    for k in range(100):
        sign = 1.0 if k // 10 % 2 else -1.0
        at = stamp(states[-1])
        graph.send("/simulator/effort_command", Float64MultiArray(data=sign * 0.3 * drives.effort))
        graph.wait(lambda t=at: stamp(states[-1]) > t, "the next step")
    limits = Limits.of(leg.mechanism.tree, states[0].name)
    speeds = np.abs([state.velocity for state in states]) / limits.velocity
    assert 0.9 < speeds.max() <= 1.0 + 1e-9
    graph.wait(lambda: "hold the command back" in graph.message("simulator"), "a warning")


def test_simulator_pushed_into_a_singularity_stands_still_and_comes_back(graph: Any) -> None:
    states = graph.listen(JointState, "/joint_states", depth=10000)
    process = graph.start(
        "simulator", {"lockstep": True, "initial_position": START, "end_stops": False}
    )
    graph.wait_active("simulator")
    graph.wait(lambda: states, "states")
    push = Float64MultiArray(data=[0.0, 0.0, 40.0])

    def pushed() -> bool:
        graph.send("/simulator/effort_command", push)
        return any("stands still" in text for text in graph.errors("simulator"))

    graph.wait(pushed, "the singularity")
    back = Float64MultiArray(data=[0.0, 0.0, -40.0])
    at = positions(states[-1])[2]

    def returned() -> bool:
        graph.send("/simulator/effort_command", back)
        return bool(positions(states[-1])[2] < at - 0.2)

    graph.wait(returned, "the way back")
    graph.wait(lambda: graph.level("simulator") < 2, "recovery")
    assert process.alive
    loops = Loops()
    assert max(loops.gap(s) for s in states) < 1e-8
