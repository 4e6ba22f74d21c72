"""Bad trajectories: the nodes go on, hold the last good command, say what is wrong, and recover."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.graph import SUBMECHANISMS, URDF, Graph
from ros_support.leg import GOAL, START, expect_on_the_motion, message, motion, stamp
from sensor_msgs.msg import JointState
from support.crank_legs import standing
from trajectory_msgs.msg import JointTrajectory

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.trajectory import Points, Setpoint, Spline, cycloidal
from closed_loop_dynamics.ros.conversions import set_stamp

pytestmark = pytest.mark.ros
NAN = float("nan")


@pytest.fixture(scope="module")
def leg() -> cld.Robot:
    return standing()


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
    expect_on_the_motion(leg, spline, [c for c in commands if begin < stamp(c) < begin + 2.0])
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
