"""Lost peers, long runs, other clocks: the graph goes on by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import (
    GOAL,
    START,
    Loops,
    message,
    motion,
    positions,
    stamp,
    start_feedforward,
    start_pair,
    start_simulator,
)
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.crank_legs import standing
from trajectory_msgs.msg import JointTrajectory

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.trajectory import Points, Setpoint, Spline, cycloidal
from closed_loop_dynamics.ros.conversions import set_stamp

pytestmark = pytest.mark.ros

MEASURED = {"mode": "measured", "feedback_frequency": 20.0}


def test_killed_nodes_come_back_and_the_other_goes_on(graph: Any) -> None:
    states = graph.listen(JointState, "/joint_states", depth=1000)
    first = start_simulator(graph)
    second = start_feedforward(graph, MEASURED)
    graph.wait_active("simulator", "feedforward")
    graph.send("/feedforward/joint_trajectory", motion(duration=1.0))
    graph.wait(lambda: states and np.abs(positions(states[-1]) - START).max() > 0.1, "motion")

    second.kill()
    repeated = graph.wait(lambda: "lockstep: no answer" in first.text(), "the loss to be seen")
    assert repeated and first.alive
    at = stamp(states[-1])
    said = len(second.text())
    third = start_feedforward(graph, MEASURED)
    graph.wait(lambda: stamp(states[-1]) > at + 0.1, "time to go on")
    here = positions(states[-1])
    graph.send_until(
        "/feedforward/joint_trajectory",
        message(cycloidal(here, GOAL, 1.0)),
        lambda: "trajectory accepted" in third.text()[said:],
        "the new node to take the trajectory",
    )
    graph.wait(lambda: np.abs(positions(states[-1]) - GOAL).max() < 1e-3, "the goal")

    first.kill()
    states.clear()
    start_simulator(graph)
    graph.wait(lambda: states and stamp(states[-1]) > 0.1, "the new simulator to run")
    graph.wait(lambda: "time went back" in third.text(), "the restart to be seen")
    assert third.alive
    said = len(third.text())
    graph.send_until(  # while it comes to rest it takes none
        "/feedforward/joint_trajectory",
        motion(duration=0.5),
        lambda: "trajectory accepted" in third.text()[said:],
        "a trajectory to be taken again",
    )
    graph.wait(lambda: np.abs(positions(states[-1]) - GOAL).max() < 1e-3, "the goal again")


def test_simulator_in_real_time_holds_itself_without_commands(graph: Any) -> None:
    states = graph.listen(JointState, "/joint_states", depth=10)
    # Soft feedback: a loaded machine delays it.
    settings = {"lockstep": False, "control_rate": 100.0}
    soft = {**settings, "mode": "measured", "feedback_frequency": 3.0}
    start_simulator(graph, settings)
    feedforward = start_feedforward(graph, soft)
    graph.wait_active("feedforward")
    graph.wait(lambda: "input age [s]" in graph.values("simulator"), "commands to arrive")
    feedforward.kill()
    graph.wait(lambda: "holding" in graph.message("simulator"), "the fallback")
    held = positions(states[-1])
    count = len(states)
    graph.wait(lambda: len(states) > count + 50, "half a second")
    np.testing.assert_allclose(positions(states[-1]), held, atol=2e-2)
    start_feedforward(graph, soft)
    graph.wait(lambda: graph.message("simulator") == "active", "recovery")


def test_simulated_time_is_honoured(graph: Any) -> None:
    """The simulator, at half real time, is the clock of a node that has a timer of its own.

    Slow, so that a loaded machine that forgets the node for a second makes no jump of time.
    """
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10000)
    settings = {"lockstep": False, "control_rate": 100.0}
    start_simulator(graph, {**settings, "publish_clock": True, "real_time_factor": 0.5})
    start_feedforward(graph, {**settings, "use_sim_time": True, "initial_position": START})
    graph.wait_active("simulator", "feedforward")
    accepted = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    graph.send("/feedforward/joint_trajectory", motion(duration=1.0))
    graph.wait(lambda: accepted, "an answer to the trajectory")
    begin = stamp(accepted[0])
    assert 0.0 < begin < 1e6  # since the start of the simulation, not since 1970
    graph.wait(lambda: commands and stamp(commands[-1]) > begin + 1.0, "the end of the motion")
    robot, rest = standing(), np.zeros(3)
    start = Setpoint(begin, np.array(START), rest, rest)
    spline = Spline(cycloidal(START, GOAL, 1.0), begin, start)
    moving = [c for c in commands if begin < stamp(c) < begin + 1.0]
    assert moving
    for command in moving:  # where the motion is at that simulated time, however late the message
        y = spline.sample(stamp(command)).y
        np.testing.assert_allclose(command.position, robot.state(y).u, atol=1e-6)


class Ticking:
    """The probe is the clock; each tick may also say where the actuators are.

    The next tick comes when the last one was answered by a command: time must not run away from a
    node that a loaded machine forgets for a while. What nobody answers within a second, such as
    ticks before the node is active, needs no answer.
    """

    def __init__(self, graph: Any, robot: cld.Robot, commands: list[JointState]) -> None:
        self._graph, self._robot, self._commands = graph, robot, commands
        self._last, self._patience = -1.0, 0.0
        self.measured: np.ndarray | None = None
        self.obeys = False  # it is where it was last told to be

    def _answered(self) -> bool:
        heard = self._commands
        return bool(heard) and abs(stamp(heard[-1]) - self._last) < 1e-6

    def until(self, times: Iterator[float], condition: Callable[[], Any], what: str) -> None:
        def after() -> Any:
            if not self._answered() and self._commands and time.monotonic() < self._patience:
                return condition()
            self._last, self._patience = next(times), time.monotonic() + 1.0
            message = Clock()
            set_stamp(message.clock, round(self._last * 1e9))
            self._graph.send("/clock", message)
            if self.obeys:
                self.measured = np.array(self._commands[-1].position)
            if self.measured is not None:
                names = list(self._robot.names.actuator)
                seen = JointState(name=names, position=self.measured.tolist())
                self._graph.send("/simulator/actuator_states", seen)
            return condition()

        self._graph.wait(after, what)


def ticks(begin: float) -> Iterator[float]:
    return iter(np.arange(begin, begin + 9e4, 0.02))


def test_a_robot_that_is_not_seen_after_a_jump_of_time_is_let_go(graph: Any) -> None:
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10000)
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command", depth=10000)
    settings = {"lockstep": False, "use_sim_time": True, "mode": "measured"}
    start_feedforward(graph, {**settings, "control_rate": 100.0, "feedback_frequency": 15.0})
    robot = standing()
    ticking = Ticking(graph, robot, commands)
    ticking.measured = robot.state(np.array(START)).u
    ticking.until(ticks(1000.0), lambda: any(efforts[-1].data), "efforts that hold the robot")
    ticking.measured = None
    ticking.until(ticks(1e6), lambda: not any(efforts[-1].data), "all efforts to cease")


@pytest.mark.parametrize(
    ("later", "said"), [(1.0, "time went back"), (1e6, "time jumped ahead")], ids=["back", "ahead"]
)
def test_a_clock_that_jumps_does_not_move_the_robot(graph: Any, later: float, said: str) -> None:
    """In the middle of a motion: without measurements the node stays where its commands were."""
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10000)
    settings = {"lockstep": False, "use_sim_time": True, "initial_position": START}
    process = start_feedforward(graph, {**settings, "control_rate": 100.0})
    robot = standing()
    start, goal = (robot.state(np.array(y)).u for y in (START, GOAL))

    def share() -> float:  # of the way, as far as it is commanded
        return float(np.min((commands[-1].position - start) / (goal - start)))

    clock, ticking = ticks(1000.0), Ticking(graph, robot, commands)
    ticking.until(clock, lambda: commands, "commands")
    graph.send("/feedforward/joint_trajectory", motion(duration=4.0))
    ticking.until(clock, lambda: share() > 0.3, "the motion to be under way")
    changed = ticks(later)

    def since() -> list[JointState]:
        return [command for command in commands if not 999.0 < stamp(command) < 9e4]

    ticking.until(changed, lambda: len(since()) > 10, "commands after the jump")
    assert said in process.text()
    before = commands[-len(since()) - 1]
    for command in since():
        np.testing.assert_allclose(command.position, before.position, atol=0.05 * np.ptp(goal))
        np.testing.assert_array_equal(command.position, since()[0].position)
        np.testing.assert_array_equal(command.velocity, 0.0)
    # It takes new motions, in the new time.
    here = robot.independent_from_actuator(commands[-1].position)
    graph.send("/feedforward/joint_trajectory", message(cycloidal(here, GOAL, 1.0)))
    ticking.until(changed, lambda: share() > 1.0 - 1e-6, "the goal")


def test_after_a_restart_of_time_it_begins_where_the_robot_is(graph: Any) -> None:
    """A simulator that was started anew: pure feedforward does not hold the old goal there."""
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10000)
    settings = {"lockstep": False, "use_sim_time": True, "control_rate": 100.0}
    process = start_feedforward(graph, settings)
    robot = standing()
    start, goal = (robot.state(np.array(y)).u for y in (START, GOAL))
    clock, ticking = ticks(1000.0), Ticking(graph, robot, commands)
    ticking.measured = start
    ticking.until(clock, lambda: commands, "commands")
    np.testing.assert_allclose(commands[0].position, start, atol=1e-6)
    ticking.obeys = True
    graph.send("/feedforward/joint_trajectory", motion(duration=1.0))
    ticking.until(clock, lambda: np.allclose(commands[-1].position, goal, atol=1e-9), "the goal")
    again = ticks(0.1)
    ticking.obeys, ticking.measured = False, start
    ticking.until(again, lambda: "time went back" in process.text(), "the restart to be seen")
    ticking.until(again, lambda: np.allclose(commands[-1].position, start, atol=1e-6), "the start")
    ticking.obeys = True
    graph.send("/feedforward/joint_trajectory", motion(duration=1.0))
    ticking.until(again, lambda: np.allclose(commands[-1].position, goal, atol=1e-9), "the goal")


def test_ten_minutes_of_simulated_time_without_drift_or_growth(graph: Any) -> None:
    """10 Hz control and 5 ms steps: far faster than real time."""
    minutes, rate = 10, 10.0
    states = graph.listen(JointState, "/joint_states", depth=10000)
    settings = {"control_rate": rate, "step": 0.005}
    pair = start_pair(
        graph,
        simulator=settings,
        feedforward={"control_rate": rate, "mode": "measured", "feedback_frequency": 3.0},
    )
    graph.wait_active("simulator", "feedforward")
    t = np.arange(2.0, 60.0 * minutes, 2.0)
    sway = 0.5 - 0.5 * np.cos(2 * np.pi * t / 20.0)
    table = np.array(START) + sway[:, None] * (np.array(GOAL) - START)
    table[-1] = START
    speeds = np.gradient(table, t, axis=0)
    speeds[-1] = 0.0
    graph.send("/feedforward/joint_trajectory", message(Points.of(t, table, speeds)))

    graph.wait(lambda: "trajectory accepted" in pair[1].text(), "the trajectory")
    begin = stamp(states[-1])
    graph.wait(lambda: stamp(states[-1]) > begin + 60.0, "the first minute", 300.0)
    early = [process.memory() for process in pair]
    graph.wait(lambda: stamp(states[-1]) > begin + 60.0 * minutes + 5.0, "ten minutes", 600.0)
    growth = [process.memory() - m for process, m in zip(pair, early, strict=True)]
    assert max(growth) < 20e6
    np.testing.assert_allclose(positions(states[-1]), START, atol=5e-3)
    loops = Loops()
    assert max(loops.gap(s) for s in states) <= 1e-8
