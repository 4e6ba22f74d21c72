"""Bad input: the nodes go on, hold the last good command, say what is wrong, and recover."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from geometry_msgs.msg import WrenchStamped
from ros_support.graph import SUBMECHANISMS, URDF, Graph
from ros_support.leg import (
    ACTUATORS,
    GOAL,
    START,
    Loops,
    message,
    motion,
    positions,
    stamp,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.trajectory import Points, Setpoint, Spline, cycloidal
from closed_loop_dynamics.ros.conversions import set_stamp
from tools.robots import crank_leg

pytestmark = pytest.mark.ros
NAN = float("nan")


@pytest.fixture(scope="module")
def leg() -> cld.Robot:
    return cld.load(*crank_leg.generate())


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """One graph for all bad inputs to one kind of node: none of them may harm the next test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        graph = Graph(tmp_path_factory.mktemp("shared"))
        yield graph
        graph.close()


# -- bad trajectories -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def feedforward(shared: Graph) -> tuple[Graph, Any, list[JointState]]:
    """A feedforward node on its own clock, resting at START."""
    commands = shared.listen(JointState, "/feedforward/actuator_command", depth=10)
    process = shared.start("feedforward", {"control_rate": 100.0, "initial_position": START})
    shared.wait_active("feedforward")
    shared.wait(lambda: commands, "commands")
    return shared, process, commands


def changed(change: Callable[[JointTrajectory], None]) -> JointTrajectory:
    trajectory = motion(duration=0.3)
    change(trajectory)
    return trajectory


def set_position(value: float) -> Callable[[JointTrajectory], None]:
    def change(trajectory: JointTrajectory) -> None:
        trajectory.points[3].positions[1] = value

    return change


BAD_TRAJECTORIES = {
    "NaN": (changed(set_position(NAN)), "not finite"),
    "infinity": (changed(set_position(float("inf"))), "not finite"),
    "out of limits": (changed(set_position(9.0)), "outside"),
    "no points": (changed(lambda t: t.points.clear()), "no points"),
    "subset": (changed(lambda t: t.joint_names.pop()), "missing"),
    "unknown joint": (changed(lambda t: t.joint_names.__setitem__(0, "hp")), "unknown joint 'hp'"),
    "short row": (changed(lambda t: t.points[3].positions.pop()), "2 positions for 3 joints"),
    "times": (changed(lambda t: t.points.reverse()), "times must increase"),
    "moving end": (changed(lambda t: t.points[-1].velocities.__setitem__(0, 1.0)), "rest"),
    "too fast": (motion(duration=0.03), "speed"),
    "far start": (
        message(Points.of([0.0, 1.0], [GOAL, GOAL], [[0.0] * 3] * 2, [[0.0] * 3] * 2)),
        "away from the command",
    ),
}


@pytest.mark.parametrize("name", BAD_TRAJECTORIES)
def test_bad_trajectory_is_refused_while_the_old_one_goes_on(feedforward: Any, name: str) -> None:
    graph, process, commands = feedforward
    trajectory, reason = BAD_TRAJECTORIES[name]
    before = list(commands[-1].position)
    errors = len(graph.errors("feedforward"))
    graph.send("/feedforward/joint_trajectory", trajectory)
    graph.wait(lambda: len(graph.errors("feedforward")) > errors, "an ERROR")
    assert reason in graph.errors("feedforward")[-1]
    assert reason in process.text()
    count = len(commands)
    graph.wait(lambda: len(commands) > count + 5, "more commands")
    assert process.alive
    assert all(list(c.position) == before for c in commands[count:])
    # A good one heals: stay where we are.
    stay = Points.of([0.05], [START], [[0.0] * 3], [[0.0] * 3])
    graph.send("/feedforward/joint_trajectory", message(stay))
    graph.wait(lambda: graph.message("feedforward") == "active", "recovery")


def test_running_trajectory_survives_a_bad_one_and_is_replaced_by_a_good_one(
    feedforward: Any, leg: cld.Robot
) -> None:
    graph, _, commands = feedforward
    accepted = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    start, goal = (leg.state(np.array(y)).u for y in (START, GOAL))

    def is_at(u: np.ndarray) -> bool:
        return np.allclose(commands[-1].position, u, atol=1e-9)

    stay = message(Points.of([0.05], [START], [[0.0] * 3], [[0.0] * 3]))
    graph.send_until("/feedforward/joint_trajectory", stay, lambda: accepted, "an answer")
    answers = len(accepted)
    graph.send("/feedforward/joint_trajectory", motion(duration=2.0))
    graph.wait(lambda: len(accepted) > answers, "the trajectory to be accepted")
    graph.wait(lambda: not is_at(start), "motion")
    graph.send("/feedforward/joint_trajectory", BAD_TRAJECTORIES["NaN"][0])
    graph.wait(lambda: is_at(goal), "the goal")
    begin, rest = stamp(accepted[-1]), np.zeros(3)
    spline = Spline(
        cycloidal(START, GOAL, 2.0), begin, Setpoint(begin, np.array(START), rest, rest)
    )
    moving = [c for c in commands if begin < stamp(c) < begin + 2.0]
    assert moving
    for command in moving:  # on the accepted motion, however late the message
        y = spline.sample(stamp(command)).y
        np.testing.assert_allclose(command.position, leg.state(y).u, atol=1e-6)
    graph.send("/feedforward/joint_trajectory", motion(START, 0.5, GOAL))
    graph.wait(lambda: is_at(start), "the way back")


def test_each_refusal_is_told_at_once(feedforward: Any) -> None:
    graph, _, _ = feedforward
    before = len(graph.errors("feedforward"))
    for name in ("NaN", "no points", "subset"):
        trajectory, reason = BAD_TRAJECTORIES[name]
        graph.send("/feedforward/joint_trajectory", trajectory)
        graph.wait(lambda r=reason: any(r in e for e in graph.errors("feedforward")[before:]), name)


def test_commands_go_on_while_a_long_trajectory_is_checked(feedforward: Any) -> None:
    """8 segments of 10 s: 8000 samples."""
    graph, process, commands = feedforward
    accepted = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    count = 8
    rows = np.array(START) + 0.1 * (np.arange(count)[:, None] % 2)
    rest = np.zeros((count, 3))
    rows[-1] = START
    long = Points.of(10.0 * np.arange(1, count + 1), rows, rest, rest)
    stay = message(Points.of([0.05], [START], [[0.0] * 3], [[0.0] * 3]))
    graph.send_until("/feedforward/joint_trajectory", stay, lambda: accepted, "an answer")
    answers, at = len(accepted), len(commands)
    graph.send("/feedforward/joint_trajectory", message(long))
    graph.wait(lambda: len(accepted) > answers, "the long trajectory")
    begin, sent = stamp(accepted[-1]), stamp(commands[at - 1])
    meanwhile = [c for c in commands[at:] if stamp(c) < begin]
    # The cycle was not held up, or the machine is so fast that there was no time for it.
    assert len(meanwhile) >= 3 or begin - sent < 0.05
    assert process.alive and len(accepted[-1].points) == 1000 * count + 1
    graph.send("/feedforward/joint_trajectory", stay)
    graph.wait(lambda: len(accepted) > answers + 1, "the end of it")


def test_points_that_are_nanoseconds_apart_are_points(feedforward: Any, leg: cld.Robot) -> None:
    graph, _, commands = feedforward
    there = np.add(START, (0.05, 0.0, 0.0))
    close = message(Points.of([0.2, 0.2 + 1e-7], [there, there], [[0.0] * 3] * 2))
    graph.send("/feedforward/joint_trajectory", close)
    goal = leg.state(there).u
    graph.wait(lambda: np.allclose(commands[-1].position, goal, atol=1e-9), "the goal")
    assert all(np.isfinite(c.position + c.velocity + c.effort).all() for c in commands)
    graph.send("/feedforward/joint_trajectory", motion(START, 0.5, there))
    start = leg.state(np.array(START)).u
    graph.wait(lambda: np.allclose(commands[-1].position, start, atol=1e-9), "the way back")


LIMITS = {
    "singular": ({"min_singular_value": 0.0917}, ("", ""), (-0.6, 1.1, 0.5), "near a singularity"),
    "actuator": ({}, ('lower="-0.102"', 'lower="-0.05"'), GOAL, "knee_cylinder = "),
    "unreachable": ({}, ('upper="0.6"', 'upper="1.6"'), (-0.2, 0.4, 1.5), "not reachable"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_motions_that_the_loops_forbid_are_refused(graph: Any, name: str) -> None:
    """Within the limits of the independent joints, but not possible."""
    settings, (old, new), goal, reason = LIMITS[name]
    assert old in URDF.read_text()
    text = URDF.read_text().replace(old, new)
    commands = graph.listen(JointState, "/feedforward/actuator_command")
    robot = {"robot_description": text, "submechanism_file": str(SUBMECHANISMS)}
    slow = {"control_rate": 100.0, "initial_position": START}
    graph.start("feedforward", {**slow, **settings}, robot=robot)
    graph.wait_active("feedforward")
    graph.wait(lambda: commands, "commands")
    before = list(commands[-1].position)
    graph.send("/feedforward/joint_trajectory", motion(goal, 2.0))
    graph.wait(lambda: graph.errors("feedforward"), "an ERROR")
    assert reason in graph.errors("feedforward")[0]
    count = len(commands)
    graph.wait(lambda: len(commands) > count + 5, "more commands")
    assert list(commands[-1].position) == before


def test_a_stamp_that_has_just_passed_does_not_make_a_step(feedforward: Any) -> None:
    """The motion leads in to the next point ahead, however long the check took."""
    graph, _, commands = feedforward
    accepted = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    there = np.add(START, (0.08, 0.0, 0.0))
    late = message(Points.of([0.0, 5.0], [there, there], [[0.0] * 3] * 2, [[0.0] * 3] * 2))
    graph.connect(JointTrajectory, "/feedforward/joint_trajectory")  # or it may be later than late
    set_stamp(late.header.stamp, graph.node.get_clock().now().nanoseconds - 100_000_000)
    at = len(commands)
    graph.send("/feedforward/joint_trajectory", late)
    graph.wait(lambda: accepted, "an answer")
    begin = stamp(accepted[-1])
    graph.wait(lambda: stamp(commands[-1]) > begin + 5.0, "the end")
    moving = [c for c in commands[at:] if begin <= stamp(c) < begin + 0.1]
    assert moving
    assert max(abs(c.position[0] - START[0]) for c in moving) < 0.01
    assert commands[-1].position[0] == pytest.approx(there[0], abs=1e-9)
    graph.send("/feedforward/joint_trajectory", motion(START, 0.5, there))
    graph.wait(lambda: abs(commands[-1].position[0] - START[0]) < 1e-9, "the way back")


# -- bad efforts and wrenches ---------------------------------------------------------------------


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


# -- bad measurements -----------------------------------------------------------------------------


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
    "unknown joint": ({**GOOD, "name": ["hip", "knee_cylinder", "crank"]}, "unknown joint"),
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
    commands = graph.listen(Float64MultiArray, "/feedforward/effort_command")
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
    count = len(commands)
    graph.wait(lambda: len(commands) > count + 5, "more commands")
    assert process.alive
    assert all(np.isfinite(c.data).all() for c in commands)
    assert np.abs(commands[-1].data).max() > 1.0  # gravity is still compensated
