"""The simulator and who listens to it: completion, determinism, services, markers."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import (
    GOAL,
    INDEPENDENT,
    LOCKSTEP,
    START,
    TO_SIMULATOR,
    motion,
    positions,
    stamp,
    start_pair,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from support.crank_legs import standing
from visualization_msgs.msg import MarkerArray

pytestmark = pytest.mark.ros


def test_completer_gives_what_the_simulator_has(graph: Any) -> None:
    truth = graph.listen(JointState, "/joint_states", depth=10000)
    completed = graph.listen(JointState, "/completed", depth=10000)
    independent = graph.listen(JointState, "/joint_state_completer/independent_states", 10000)
    start_pair(graph)
    graph.start(
        "joint_state_completer",
        remaps={"actuator_states": "simulator/actuator_states", "joint_states": "completed"},
    )
    graph.wait_active("simulator", "feedforward", "joint_state_completer")
    graph.wait(lambda: completed and independent, "completed states")
    # To and fro until enough is seen: the completer takes only the newest state, the simulator does
    # not wait for it, and a loaded machine may keep it waiting for a whole motion.
    ends = itertools.cycle([(START, GOAL), (GOAL, START)])

    def pairs_in_motion() -> int:
        start, goal = next(ends)
        graph.send("/feedforward/joint_trajectory", motion(goal, 0.5, start))
        for what in (truth, completed):
            graph.wait(lambda w=what, g=goal: near(w[-1], g), "the end of the motion")
        states = {stamp(s): s for s in truth}
        pairs[:] = [(states[stamp(s)], s) for s in completed if stamp(s) in states]
        return sum(np.abs(simulated.velocity).max() > 0.1 for simulated, _ in pairs)

    pairs: list[tuple[JointState, JointState]] = []
    graph.wait(lambda: pairs_in_motion() > 20, "states in motion that both have published")
    states = {stamp(s): s for s in truth}
    for simulated, found in pairs:
        assert list(simulated.name) == list(found.name)
        np.testing.assert_allclose(found.position, simulated.position, atol=1e-9)
        np.testing.assert_allclose(found.velocity, simulated.velocity, atol=1e-8)
    robot = standing()
    checked = 0
    for state in independent:
        if stamp(state) in states and len(state.effort):
            source = states[stamp(state)]
            tau = positions_of_effort(source, robot.names.actuator)
            expected = robot.actuator_jacobian(positions(state)).T @ tau
            np.testing.assert_allclose(state.effort, expected, atol=1e-7)
            checked += 1
    assert checked and list(independent[0].name) == list(INDEPENDENT)


def near(state: JointState, goal: Sequence[float]) -> bool:
    return bool(np.abs(positions(state) - goal).max() < 1e-3)


def positions_of_effort(state: JointState, names: tuple[str, ...]) -> np.ndarray:
    return np.array([state.effort[list(state.name).index(name)] for name in names])


def test_lockstep_is_deterministic_to_the_last_bit(graph: Any) -> None:
    """Two simulators at once, the same efforts: the same states, whatever the timing."""
    rng = np.random.default_rng(3)
    efforts = rng.normal(size=(150, 3)) * [10.0, 200.0, 5.0]
    runs: dict[str, list[JointState]] = {}
    for side in ("a", "b"):
        runs[side] = graph.listen(JointState, f"/{side}/simulator/actuator_states")
        settings = {**LOCKSTEP, "initial_position": START}
        graph.start("simulator", settings, namespace=side)
    graph.wait_active("a/simulator", "b/simulator")
    for k, effort in enumerate(efforts):
        command = Float64MultiArray(data=effort.tolist())
        for side, states in runs.items():
            graph.send(f"/{side}/simulator/effort_command", command)
            want = 0.002 * (k + 1)
            graph.wait(lambda s=states, w=want: s and abs(stamp(s[-1]) - w) < 1e-6, f"t = {want}")
    ends = [list(states[-1].position) + list(states[-1].velocity) for states in runs.values()]
    assert ends[0] == ends[1]


def test_pause_step_and_reset(graph: Any) -> None:
    states = graph.listen(JointState, "/joint_states", depth=10)
    settings = {"initial_position": START, "control_rate": 100.0, "publish_clock": True}
    graph.start("simulator", {**settings, "fallback": "limp"}, TO_SIMULATOR)
    graph.wait_active("simulator")
    graph.wait(lambda: states and np.abs(positions(states[-1]) - START).max() > 0.05, "the fall")
    assert not graph.call(Trigger, "/simulator/step", Trigger.Request()).success
    assert graph.call(SetBool, "/simulator/pause", SetBool.Request(data=True)).success
    answer = graph.call(Trigger, "/simulator/step", Trigger.Request())
    match = re.search(r"t = ([\d.]+) s", answer.message)
    assert match
    before = float(match[1])
    answer = graph.call(Trigger, "/simulator/step", Trigger.Request())
    assert f"t = {before + 0.01:.6f} s" in answer.message
    assert graph.call(Trigger, "/simulator/reset", Trigger.Request()).success
    graph.wait(lambda: np.allclose(positions(states[-1]), START), "the initial position")
    assert graph.call(SetBool, "/simulator/pause", SetBool.Request(data=False)).success
    graph.wait(lambda: np.abs(positions(states[-1]) - START).max() > 0.01, "the fall again")


def test_commands_do_not_grow_old_while_time_stands_still(graph: Any) -> None:
    """Both nodes may have been stopped: nobody has missed anything."""
    states = graph.listen(JointState, "/simulator/actuator_states", depth=10)
    settings = {"initial_position": START, "publish_clock": True, "command_timeout": 0.02}
    graph.start("simulator", settings)
    graph.wait_active("simulator")
    graph.wait(lambda: states, "states")
    assert graph.call(SetBool, "/simulator/pause", SetBool.Request(data=True)).success
    effort = [1.0, -2.0, 3.0]
    graph.send("/simulator/effort_command", Float64MultiArray(data=effort))
    graph.wait(lambda: graph.values("simulator").get("input age [s]"), "the command")
    time.sleep(0.1)
    assert graph.call(Trigger, "/simulator/step", Trigger.Request()).success
    graph.wait(lambda: list(states[-1].effort) == effort, "a step with the command")
    for _ in range(15):  # 0.03 s of its own time
        assert graph.call(Trigger, "/simulator/step", Trigger.Request()).success
    graph.wait(lambda: list(states[-1].effort) != effort, "the watchdog of the drives")


def test_diagnostics_and_markers_tell_the_state(graph: Any) -> None:
    markers = graph.listen(MarkerArray, "/simulator/markers")
    start_pair(graph, simulator={"publish_markers": True, "diagnostics_period": 0.2})
    graph.wait_active("simulator", "feedforward")
    wanted = {"loop residual", "smallest singular value", "newton iterations", "energy [J]"}
    wanted |= {"cycle time mean [ms]", "cycle time max [ms]", "input age [s]"}
    graph.wait(lambda: wanted <= set(graph.values("simulator")), "all numbers")
    wanted.discard("energy [J]")
    graph.wait(lambda: wanted <= set(graph.values("feedforward")), "all numbers")
    assert float(graph.values("simulator")["loop residual"]) < 1e-9
    assert 0.01 < float(graph.values("simulator")["smallest singular value"]) < 1.0
    found = graph.wait(lambda: markers and markers[-1], "markers").markers
    spaces = [marker.ns for marker in found]
    assert spaces.count("actuator forces") == 3
    cuts = found[spaces.index("cut points")]
    gaps = found[spaces.index("loop residuals")].points
    assert len(cuts.points) == 2 and cuts.header.frame_id == "base_link"
    for one, other in zip(gaps[::2], gaps[1::2], strict=True):
        assert np.linalg.norm([one.x - other.x, one.y - other.y, one.z - other.z]) < 1e-8


def test_sample_trajectory_is_executed(graph: Any) -> None:
    states = graph.listen(JointState, "/joint_states", depth=10)
    start_pair(graph)
    graph.wait_active("simulator", "feedforward")
    sample = {"joints": list(INDEPENDENT), "start": START, "goal": GOAL, "duration": 0.4}
    graph.start(
        "trajectory_publisher",
        sample,
        {"joint_trajectory": "feedforward/joint_trajectory"},
        robot={},
    )
    graph.wait(lambda: states and np.abs(positions(states[-1]) - GOAL).max() < 5e-2, "the goal")
    graph.wait(lambda: np.abs(positions(states[-1]) - START).max() < 1e-3, "the way back")
