"""Lifecycle, parameters, namespaces, sources of the robot, services, completion, determinism."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_support.graph import SUBMECHANISMS, URDF
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
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray

import closed_loop_dynamics as cld
from tools.robots import crank_leg

pytestmark = pytest.mark.ros


def test_all_transitions_again_and_again(graph: Any) -> None:
    commands = graph.listen(JointState, "/feedforward/actuator_command")
    settings = {"autostart": False, "initial_position": START, "control_rate": 100.0}
    process = graph.start("feedforward", settings)
    assert graph.state("feedforward") == "unconfigured"
    for _ in range(2):
        assert not graph.change("feedforward", "activate")  # not from here: refused, alive
        assert graph.change("feedforward", "configure")
        assert not graph.change("feedforward", "configure")
        assert graph.state("feedforward") == "inactive"
        silent = len(commands)
        assert graph.change("feedforward", "activate")
        graph.wait(lambda n=silent: len(commands) > n + 3, "commands")
        assert graph.change("feedforward", "deactivate")
        assert graph.state("feedforward") == "inactive"
        assert graph.change("feedforward", "cleanup")
        assert graph.state("feedforward") == "unconfigured"
    assert graph.change("feedforward", "unconfigured_shutdown")
    assert graph.state("feedforward") == "finalized"
    assert process.interrupt() == 0


def test_a_trajectory_waits_until_the_robot_is_seen(graph: Any) -> None:
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=1000)
    graph.start("feedforward", {"control_rate": 100.0})
    graph.wait_active("feedforward")
    graph.send("/feedforward/joint_trajectory", motion(duration=0.5))
    graph.wait(lambda: "waits until actuator_states" in graph.message("feedforward"), "patience")
    assert not commands  # it does not know where the robot is
    robot = cld.load(*crank_leg.generate())
    start, goal = (robot.state(np.array(y)).u for y in (START, GOAL))
    seen = JointState(name=list(robot.names.actuator), position=start.tolist())
    graph.send_until("/actuator_states", seen, lambda: commands, "commands")
    np.testing.assert_allclose(commands[0].position, start, atol=1e-6)
    graph.wait(lambda: np.allclose(commands[-1].position, goal, atol=1e-6), "the goal")


def test_activated_again_it_begins_where_the_robot_is(graph: Any) -> None:
    """Not where the parameter said it was in the beginning."""
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=1000)
    graph.start("feedforward", {"control_rate": 100.0, "initial_position": START})
    graph.wait_active("feedforward")
    robot = cld.load(*crank_leg.generate())
    goal = robot.state(np.array(GOAL)).u
    graph.send("/feedforward/joint_trajectory", motion(duration=0.5))
    graph.wait(lambda: commands and np.allclose(commands[-1].position, goal, atol=1e-9), "the goal")

    def activate_again() -> None:
        assert graph.change("feedforward", "deactivate")
        commands.clear()
        assert graph.change("feedforward", "activate")

    activate_again()  # nobody measures: where it was told to be
    graph.wait(lambda: commands, "commands")
    np.testing.assert_allclose(commands[0].position, goal, atol=1e-9)

    here = robot.state(np.array(GOAL) + 0.05).u
    seen = JointState(name=list(robot.names.actuator), position=here.tolist())
    # It is told apart from nobody's silence once the node has heard (and refused) something.
    graph.send_until(
        "/actuator_states", JointState(), lambda: graph.errors("feedforward"), "it to be heard"
    )
    activate_again()
    graph.send_until("/actuator_states", seen, lambda: commands, "commands")
    np.testing.assert_allclose(commands[0].position, here, atol=1e-6)


def test_nodes_end_cleanly_when_interrupted(graph: Any) -> None:
    pair = start_pair(graph)
    graph.wait_active("simulator", "feedforward")
    assert [process.interrupt() for process in pair] == [0, 0]
    assert "Traceback" not in pair[0].text() + pair[1].text()


BAD_PARAMETERS = [
    ("simulator", {"urdf_file": "/no/such.urdf"}, "there is no file '/no/such.urdf'"),
    ("simulator", {"urdf_file": str(SUBMECHANISMS)}, "crank_leg.yaml"),
    ("simulator", {"submechanism_file": str(URDF)}, "crank_leg.urdf"),
    ("simulator", {"control_rate": -5.0}, "control_rate"),
    ("simulator", {"control_rate": "fast"}, "control_rate"),
    ("simulator", {"step": 0.0015}, "not a multiple"),
    ("simulator", {"initial_position": [0.0]}, "1 numbers for 3 joints"),
    ("simulator", {"initial_position": [0.0, 9.0, 0.0]}, "knee = 9 is outside"),
    ("simulator", {"friction_joints": ["kne"], "viscous_friction": [1.0]}, "did you mean 'knee'"),
    ("simulator", {"lockstep": True, "use_sim_time": True}, "use_sim_time"),
    ("simulator", {"fallback": "hld"}, "did you mean 'hold'"),
    ("feedforward", {"mode": "forward"}, "did you mean 'feedforward'"),
    ("joint_state_completer", {"robot_description": "<robot"}, "not both"),
]


def test_bad_parameters_refuse_to_configure_with_the_reason(graph: Any) -> None:
    """All at once: starting processes is what takes time."""
    processes = [
        graph.start(kind, parameters, namespace=f"n{k}")
        for k, (kind, parameters, _) in enumerate(BAD_PARAMETERS)
    ]
    for k, (kind, _, reason) in enumerate(BAD_PARAMETERS):
        name = f"n{k}/{kind}"
        graph.wait(lambda n=name: graph.errors(n), f"{name} to refuse")
        assert reason in graph.errors(name)[0]
        assert reason in processes[k].text()
        assert processes[k].alive
        assert graph.state(name) == "unconfigured"


def test_bad_parameter_can_be_mended_while_the_node_waits(graph: Any) -> None:
    graph.start("feedforward", {"mode": "measurd", "initial_position": START})
    graph.wait(lambda: graph.errors("feedforward"), "the refusal")
    assert not graph.set_string("feedforward", "mode", "measur").successful
    assert graph.set_string("feedforward", "mode", "measured").successful
    assert graph.change("feedforward", "configure")
    assert graph.change("feedforward", "activate")
    graph.wait(lambda: graph.values("feedforward").get("mode") == "measured", "the new mode")


def test_integers_are_taken_for_real_numbers(graph: Any) -> None:
    graph.start("simulator", {"control_rate": 100, "initial_position": [0, 1, 0]})
    graph.wait_active("simulator")


def test_robot_comes_from_the_latched_topic(graph: Any) -> None:
    robot = {"submechanism_file": str(SUBMECHANISMS)}
    process = graph.start("joint_state_completer", robot=robot)
    graph.wait(lambda: "waiting for topic" in process.text(), "the node to wait")
    qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = graph.node.create_publisher(String, "robot_description", qos)
    publisher.publish(String(data=URDF.read_text()))
    graph.wait_active("joint_state_completer")


def test_robot_comes_as_text(graph: Any) -> None:
    text = {"robot_description": URDF.read_text(), "submechanisms": SUBMECHANISMS.read_text()}
    process = graph.start("joint_state_completer", robot=text)
    graph.wait_active("joint_state_completer")
    assert "2 loops" in process.text()


def test_two_robots_in_two_namespaces(graph: Any) -> None:
    """Left moves, right rests."""
    heard = {side: graph.listen(JointState, f"/{side}/joint_states") for side in ("left", "right")}
    clocks = graph.listen(Clock, "/clock")
    for side in ("left", "right"):
        start_pair(graph, namespace=side)
    for side in ("left", "right"):
        graph.wait_active(f"{side}/simulator", f"{side}/feedforward")
    graph.send("/left/feedforward/joint_trajectory", motion(duration=0.3))
    graph.wait(
        lambda: heard["left"] and np.abs(positions(heard["left"][-1]) - GOAL).max() < 1e-3,
        "the goal of the left robot",
    )
    np.testing.assert_allclose(positions(heard["right"][-1]), START, atol=1e-6)
    assert clocks


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
    robot = cld.load(*crank_leg.generate())
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
