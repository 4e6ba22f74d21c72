"""The robot stays under control: dead peers, hands, rivals, emergencies; over real DDS."""

from __future__ import annotations

import re
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros_support.leg import (
    ACTUATORS,
    GOAL,
    INDEPENDENT,
    START,
    message,
    motion,
    positions,
    stamp,
    start_feedforward,
    start_simulator,
    velocities,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray, String
from std_srvs.srv import Trigger
from support.crank_legs import standing
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.trajectory import Points, cycloidal
from closed_loop_dynamics.ros.conversions import nanoseconds

pytestmark = pytest.mark.ros

REAL_TIME = {"lockstep": False, "control_rate": 200.0}
#: A motion goes on for so long without a cycle [s]; what comes later stretches it.
LATE = 0.02
BUTTONS = {
    "reliable": QoSProfile(depth=10),
    "best effort": QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT),
    "latched": QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL),
}
MEASURED = {**REAL_TIME, "mode": "measured", "feedback_frequency": 10.0, "diagnostics_period": 0.2}


def ask(graph: Any, what: str) -> Any:
    return graph.call(Trigger, f"/feedforward/{what}", Trigger.Request())


def test_without_its_peer_the_node_stops_and_says_why_and_holds_where_it_comes_back(
    graph: Any,
) -> None:
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command", depth=1000)
    first = start_simulator(graph, REAL_TIME)
    start_feedforward(graph, MEASURED)
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    graph.send("/feedforward/joint_trajectory", motion(duration=3.0))
    graph.wait_state("tracking")
    first.kill()
    graph.wait_state("off")
    assert "no believable measurement" in graph.values("feedforward")["reason"]
    assert graph.level("feedforward") == 2
    graph.wait(lambda: not any(efforts[-1].data), "all efforts to cease")
    most = Limits.of(standing().mechanism.tree, ACTUATORS).effort
    steps = np.abs(np.diff([effort.data for effort in efforts], axis=0)) / most
    assert steps.max() <= 20.0 / REAL_TIME["control_rate"] * (1.0 + 1e-9)  # max_effort_rate
    graph.send("/feedforward/joint_trajectory", motion(duration=1.0))
    graph.wait(lambda: "off: no believable" in graph.message("feedforward"), "a refusal")
    elsewhere = np.add(START, [0.3, 0.4, 0.1])
    start_simulator(graph, {**REAL_TIME, "initial_position": elsewhere.tolist()})
    states = graph.listen(JointState, "/joint_states", depth=1000)
    graph.wait_state("holding")
    graph.wait(lambda: len(states) > 200, "a second of holding")
    speeds = np.abs([velocities(state, ("hip", "knee", "ankle")) for state in states])
    assert speeds.max() < 4.0  # half of their limits: damped, then held, never drawn anywhere
    assert speeds[-1].max() < 0.1
    assert np.abs(positions(states[-1]) - elsewhere).max() < 0.6


@pytest.mark.parametrize("offset", [-0.02, -0.04])
def test_an_offset_of_an_encoder_stops_the_motion_and_is_believed_without_a_step(
    graph: Any, offset: float
) -> None:
    """The knee's encoder is off by ``offset`` [m] from the middle of a motion on, for good.

    What it claims is within its limits: beyond them it would never be believed.
    """
    off = [0.0]
    heard = graph.node.create_publisher(JointState, "/encoders", 10)

    def relay(state: JointState) -> None:
        state.position[list(state.name).index("knee_cylinder")] += off[0]
        heard.publish(state)

    graph.on(JointState, "/simulator/actuator_states", relay)
    states = graph.listen(JointState, "/joint_states", depth=10_000)
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command", depth=10_000)
    said = graph.listen(String, "/feedforward/state")
    start_simulator(graph, REAL_TIME)
    start_feedforward(graph, MEASURED, remaps={"actuator_states": "encoders"})
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    graph.send("/feedforward/joint_trajectory", motion(duration=3.0))
    graph.wait_state("tracking")
    graph.wait(lambda: positions(states[-1])[1] > 0.5 * (START[1] + GOAL[1]), "its middle")
    off[0] = offset
    graph.wait(lambda: said[-1].data.startswith("holding"), "to be believed")
    begun = [each.data for each in said].index("tracking: a motion has begun")
    stop, *_ = after = [each.data for each in said[begun + 1 :]]
    why = "stopping: (off the path: knee|no believable measurement)"
    assert re.match(why, stop), after
    assert "holding: the motion has ended" not in after
    assert any(f"supervisor: tracking -> {stop}" in each for each in graph.errors("feedforward"))
    count = len(states)
    graph.wait(lambda: len(states) > count + 400, "two seconds of holding")
    graph.wait(
        lambda: np.abs([velocities(state) for state in states[-100:]]).max() < 0.1,
        "half a second of rest, wherever it was left",
    )
    speeds = np.abs([velocities(state) for state in states]).max(axis=0)
    tree = standing().mechanism.tree
    assert (speeds <= Limits.of(tree, INDEPENDENT).velocity).all(), speeds
    steps = np.abs(np.diff([effort.data for effort in efforts], axis=0)).max(axis=0)
    rate = 20.0 * Limits.of(tree, ACTUATORS).effort / REAL_TIME["control_rate"]  # max_effort_rate
    assert (steps <= rate * (1.0 + 1e-9)).all(), steps / rate


def test_a_robot_that_was_moved_by_hand_is_where_the_next_motion_begins(graph: Any) -> None:
    """In mode feedforward, which takes no feedback; a gripper on the same topic does not matter."""
    robot = standing()
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10)
    told = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory", depth=10)
    start_feedforward(graph, {**REAL_TIME, "diagnostics_period": 0.2})
    here = [np.array(START)]
    ended = threading.Event()
    encoders = graph.node.create_publisher(JointState, "/simulator/actuator_states", 10)

    def speak() -> None:
        while not ended.wait(0.005):
            u = robot.state(here[0]).u
            names = [*ACTUATORS, "gripper"]
            encoders.publish(JointState(name=names, position=[*u, 0.7], velocity=[0.0] * 4))

    def where(u: Any) -> np.ndarray:
        return robot.independent_from_actuator(np.array(u))

    def lead(there: np.ndarray) -> None:
        begin = here[0]
        for share in np.linspace(0.0, 1.0, 100):
            here[0] = begin + share * (there - begin)
            time.sleep(0.01)

    thread = threading.Thread(target=speak)
    thread.start()
    try:
        graph.wait_state("holding")
        there = np.add(START, [0.0, 0.5, 0.0])
        lead(there)
        graph.wait(
            lambda: np.abs(where(commands[-1].position) - there).max() < 0.2,  # path_tolerance
            "the command to be where the robot is",
        )
        why = r"supervisor: holding -> holding: moved from outside: knee 0\.20\d* \(allowed: 0\.2\)"
        told_of_it = [each for each in graph.errors("feedforward") if re.search(why, each)]
        assert told_of_it, graph.errors("feedforward")
        # By so little that nobody minds: still the motion begins where the robot is.
        near = where(commands[-1].position) - np.array([0.0, 0.1, 0.0])
        lead(near)
        told.clear()
        points = Points.of([1.0, 2.0], [there, START])
        graph.send("/feedforward/joint_trajectory", message(points))
        graph.wait(lambda: told and len(told[-1].points) > 1, "the motion to be told")
        np.testing.assert_allclose(where(told[-1].points[0].positions), near, atol=2e-3)
    finally:
        ended.set()
        thread.join()


def test_efforts_are_sent_before_anything_else(graph: Any) -> None:
    sent: dict[str, list[int]] = {"effort_command": [], "actuator_command": []}
    for (topic, times), kind in zip(sent.items(), (Float64MultiArray, JointState), strict=True):
        graph.node.create_subscription(
            kind,
            f"/feedforward/{topic}",
            lambda _, info, times=times: times.append(info["source_timestamp"]),
            1000,
        )
    start_simulator(graph, REAL_TIME)
    start_feedforward(graph, MEASURED)
    graph.wait(lambda: min(map(len, sent.values())) > 300, "commands")
    efforts, commands = (np.array(times[:300]) for times in sent.values())
    last = np.searchsorted(efforts, commands) - 1
    gaps = (commands - efforts[last])[last >= 0]
    assert np.median(gaps) < 0.5e9 / REAL_TIME["control_rate"]  # else it is that of the last cycle


def test_rivals_emergencies_and_requests(graph: Any) -> None:
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command", depth=1000)
    states = graph.listen(JointState, "/joint_states", depth=10)
    start_simulator(graph, REAL_TIME)
    start_feedforward(graph, MEASURED)
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    graph.send("/feedforward/joint_trajectory", motion(duration=2.0))
    graph.wait_state("tracking")
    assert ask(graph, "hold").success
    graph.wait_state("holding")

    assert ask(graph, "gravity_compensation").success
    graph.wait_state("compensating")
    assert ask(graph, "hold").success
    graph.wait_state("holding")

    graph.send("/feedforward/emergency_stop", Bool(data=True))
    graph.wait_state("damping", "off")
    answer = ask(graph, "resume")
    assert not answer.success and "emergency stop is pressed" in answer.message
    graph.wait_state("off")
    graph.send("/feedforward/emergency_stop", Bool(data=False))
    graph.wait(lambda: ask(graph, "resume").success, "to be resumed")
    graph.wait_state("holding")

    rival = graph.node.create_publisher(Float64MultiArray, "/feedforward/effort_command", 10)
    graph.wait(lambda: "/probe publishes" in graph.message("feedforward"), "the rival")
    answer = ask(graph, "resume")
    assert not answer.success and "/probe" in answer.message
    graph.node.destroy_publisher(rival)
    graph.wait(lambda: ask(graph, "resume").success, "to be resumed")
    graph.wait_state("holding")
    here = positions(states[-1])
    graph.send("/feedforward/joint_trajectory", message(cycloidal(here, GOAL, 2.0)))

    # Deactivated in motion: the robot is let go of, not left with the last efforts.
    graph.wait_state("tracking")
    assert graph.change("feedforward", "deactivate")
    graph.wait(lambda: not any(efforts[-1].data), "all efforts to cease")


@pytest.mark.parametrize("reliability", list(BUTTONS))
def test_while_the_emergency_stop_is_pressed_nothing_powers_the_robot(
    graph: Any, reliability: str
) -> None:
    """Pressed before the node is there, by buttons of every quality of service."""
    button = graph.node.create_publisher(Bool, "/feedforward/emergency_stop", BUTTONS[reliability])
    button.publish(Bool(data=True))
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command", depth=1000)
    start_simulator(graph, REAL_TIME)
    start_feedforward(graph, {**MEASURED, "damping_time": 0.2})
    graph.wait_active("simulator")
    if reliability != "latched":
        graph.wait(lambda: button.get_subscription_count() >= 1, "the node")
        graph.wait_state("holding")
    for _ in range(2):
        button.publish(Bool(data=True))
        graph.wait_state("off")
        for service in ("resume", "gravity_compensation", "hold", "stop", "damp"):
            assert not ask(graph, service).success, service
        # None at all if it has been off since before we could hear it.
        graph.wait(lambda: not efforts or not any(efforts[-1].data), "efforts of zero")
        assert graph.change("feedforward", "deactivate")
        button.publish(Bool(data=True))  # heard by an inactive node as well
        assert graph.change("feedforward", "activate")
        graph.wait_state("damping", "off")
    graph.wait(lambda: said(button, graph), "to be resumed")
    graph.wait_state("holding")
    graph.wait(lambda: efforts and any(efforts[-1].data), "efforts that hold the robot")


def said(button: Any, graph: Any) -> bool:
    """Released, and resumed."""
    button.publish(Bool(data=False))
    return bool(ask(graph, "resume").success)


def test_bytes_that_are_no_message_hold_up_nothing(graph: Any) -> None:
    """Neither the cycle nor an emergency stop nor the last words."""
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command", depth=1000)
    start_simulator(graph, REAL_TIME)
    start_feedforward(graph, MEASURED)
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    garbage = graph.connect(JointState, "/simulator/actuator_states")
    ended = threading.Event()

    def speak() -> None:
        kinds = (b"\0\1\0\0" + b"\xff" * 40, b"\0\1\0\0", b"\0\1\0\0" + b"\0" * 12)
        while not ended.wait(0.002):
            for bad in kinds:
                garbage.publish(bad)

    thread = threading.Thread(target=speak)
    thread.start()
    try:
        graph.wait(lambda: "not readable" in graph.message("feedforward"), "the complaint")
        assert graph.values("feedforward")["state"] == "holding"
        graph.send("/feedforward/emergency_stop", Bool(data=True))
        graph.wait_state("damping", "off")
        graph.send("/feedforward/emergency_stop", Bool(data=False))
        graph.wait(lambda: ask(graph, "resume").success, "to be resumed")
        graph.wait_state("holding")
        assert graph.change("feedforward", "deactivate")
        graph.wait(lambda: not any(efforts[-1].data), "all efforts to cease")
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("stop", ["emergency_stop", "damp", "deactivate", "interrupt"])
def test_whoever_follows_the_mapped_trajectory_is_stopped_with_the_robot(
    graph: Any, stop: str
) -> None:
    """As joint_trajectory_controller does, which plays on what it was told last."""
    mapped = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    commands = graph.listen(JointState, "/feedforward/actuator_command")
    blind = {"initial_position": START, "diagnostics_period": 0.2, "stop_time": 0.5}
    process = start_feedforward(graph, {**REAL_TIME, **blind})
    graph.wait_active("feedforward")
    graph.wait_state("holding")
    graph.send("/feedforward/joint_trajectory", motion(duration=10.0))
    graph.wait(lambda: commands and abs(commands[-1].velocity[0]) > 0.02, "the motion")
    if stop == "emergency_stop":
        graph.send("/feedforward/emergency_stop", Bool(data=True))
    elif stop == "damp":
        assert ask(graph, "damp").success
    elif stop == "deactivate":
        assert graph.change("feedforward", "deactivate")
    else:
        assert process.interrupt() == 0
    graph.wait(lambda: len(mapped) == 2, "the stop")
    running, stopping = mapped
    begin = stamp(stopping) - stamp(running)
    times = [1e-9 * nanoseconds(point.time_from_start) for point in running.points]
    # Where the motion is by then; who has no cycles for a while (a loaded machine) lets it wait.
    pauses = np.diff([*map(stamp, commands), stamp(stopping)])
    waited = np.linspace(0.0, pauses[pauses > LATE].sum(), 200)
    there = [np.interp(begin - waited, times, row) for row in np.transpose(table(running))]
    off = np.abs(np.transpose(there) - stopping.points[0].positions).max(axis=1)
    assert off.min() <= 1e-3
    last = stopping.points[-1]
    assert nanoseconds(last.time_from_start) <= 0.51e9 and not any(last.velocities)
    assert not np.allclose(last.positions, table(running)[-1], atol=0.01)


def table(trajectory: JointTrajectory) -> np.ndarray:
    return np.array([point.positions for point in trajectory.points])


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_node_that_ends_in_motion_lets_go_of_the_robot(
    graph: Any, ending: signal.Signals
) -> None:
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command", depth=10_000)
    start_simulator(graph, REAL_TIME)
    process = start_feedforward(graph, MEASURED)
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    graph.send("/feedforward/joint_trajectory", motion(duration=5.0))
    graph.wait_state("tracking")
    assert process.interrupt(ending) == 0
    graph.wait(lambda: not any(efforts[-1].data), "all efforts to cease")
    steps = np.abs(np.diff([effort.data for effort in efforts], axis=0)).max(axis=0)
    limits = Limits.of(standing().mechanism.tree, ACTUATORS)
    assert (steps <= 20.0 * limits.effort / REAL_TIME["control_rate"] * (1 + 1e-9)).all()
    assert "Traceback" not in process.text()


def test_a_rival_is_named_and_the_robot_held_again_when_it_is_gone(graph: Any) -> None:
    """Zeros, 20 times per second, as somebody may publish who has forgotten a terminal."""
    states = graph.listen(JointState, "/joint_states", depth=10_000)
    start_simulator(graph, REAL_TIME)
    start_feedforward(graph, MEASURED)
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    rival = graph.node.create_publisher(Float64MultiArray, "/feedforward/effort_command", 10)
    ended = time.monotonic() + 3.0
    while time.monotonic() < ended:
        rival.publish(Float64MultiArray(data=[0.0] * 3))
        time.sleep(0.05)
    graph.wait(lambda: "/probe publishes" in graph.message("feedforward"), "the rival")
    assert "/feedforward/effort_command, too" in graph.message("feedforward")
    graph.node.destroy_publisher(rival)
    graph.wait(lambda: ask(graph, "resume").success, "to be resumed")
    graph.wait_state("holding")
    graph.wait(lambda: np.abs(velocities(states[-1])).max() < 0.05, "the leg to stand")
