"""What is measured is gone, stands still, or comes back elsewhere; over real DDS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import (
    GOAL,
    START,
    expect_no_step,
    expect_speeds_within_limits,
    motion,
    positions,
    stamp,
    start_feedforward,
    start_follower,
    start_simulator,
    velocities,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from support.crank_legs import standing
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.motion.observer import FROZEN

pytestmark = pytest.mark.ros

RATE = 200.0
REAL_TIME = {"lockstep": False, "control_rate": RATE}
#: Of feedforward: ``state_timeout`` and ``stop_time`` [s]. A loaded machine that forgets the
#: simulator for the default of a tenth of a second must not look like a loss.
TIMEOUT, STOP_TIME = 0.5, 0.3
OPEN_LOOP = {**REAL_TIME, "diagnostics_period": 0.2, "state_timeout": TIMEOUT}
MEASURED = {**OPEN_LOOP, "mode": "measured", "feedback_frequency": 10.0}
#: A robot that moves, and is not held by its drives because a command comes late [rad/s].
MOVING = 0.05
AWAY = (0.8, 0.8, 0.4)
#: A measurement may wait in queues of a loaded machine for so long [s]; the motion itself waits,
#: too, while its node gets no processor.
DELAY = 0.15
S = np.linspace(0.0, 1.0, 10_001)
#: Share of the time of a motion, share of its way.
CYCLOID = S, S - np.sin(2.0 * np.pi * S) / (2.0 * np.pi)


class Run:
    """A leg in the middle of a motion from START to GOAL, and all that is heard of it."""

    def __init__(self, graph: Any, parameters: dict[str, Any], **wiring: Any) -> None:
        self.graph = graph
        self.said = graph.listen(String, "/feedforward/state")
        self.states = graph.listen(JointState, "/joint_states", depth=10_000)
        self.commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10_000)
        topic = "/feedforward/effort_command"
        self.efforts = graph.listen(Float64MultiArray, topic, depth=10_000)
        follower = parameters.get("trajectory_follower", False)
        self.robot = (start_follower if follower else start_simulator)(graph, REAL_TIME)
        self.node = start_feedforward(graph, parameters, **wiring)
        graph.wait_active("simulator", "feedforward")
        graph.wait_state("holding")

    def move(self, duration: float) -> None:
        """Until a fifth of the time is over."""
        self.duration = duration
        self.graph.send("/feedforward/joint_trajectory", motion(duration=duration))
        self.graph.wait(lambda: self.gone > 0.2 * duration, "the motion to be under way")

    @property
    def gone(self) -> float:
        """How far the reference has come on the motion, by the newest that was heard [s]."""
        return self._time(self._way[-1] if self.commands else 0.0)

    def gone_at(self, when: float) -> float:
        """The same at a time of the messages' stamps; all of them have been heard meanwhile [s]."""
        before = [k for k, command in enumerate(self.commands) if stamp(command) <= when]
        return self._time(self._way[before[-1]])

    @property
    def _way(self) -> np.ndarray:  # of the hip
        heard = np.array([command.position[0] for command in self.commands])
        return (heard - START[0]) / (GOAL[0] - START[0])

    def _time(self, way: float) -> float:
        return self.duration * float(np.interp(way, *CYCLOID[::-1]))

    def expect_stop(self, begin: float, states: list[str], reason: str) -> None:
        """The reference left the motion in time, in these steps, and that was told with ``reason``.

        Args:
            begin: where the reference was when it should have begun [s].
        """
        told = self.said[-len(states) :]
        assert [each.data.partition(":")[0] for each in told] == states
        assert all(reason in each.data for each in told)
        stop = f"supervisor: tracking -> {states[0]}: {reason}"
        assert any(stop in error for error in self.graph.errors("feedforward"))
        most, farthest = begin + TIMEOUT + 0.5 * STOP_TIME + DELAY, self._time(self._way.max())
        assert farthest <= most, (farthest, most)


@pytest.mark.parametrize("followed", [False, True], ids=["efforts", "trajectory"])
def test_without_its_robot_a_motion_without_feedback_does_not_go_on(
    graph: Any, followed: bool
) -> None:
    """kill -9 in mode feedforward; and the same in the recipe of joint_trajectory_controller."""
    mapped = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    run = Run(graph, {**OPEN_LOOP, "trajectory_follower": followed})
    run.move(6.0)
    run.robot.kill()
    graph.wait_state("off")
    begin = run.gone_at(stamp(run.states[-1]))
    lost = "no believable measurement of the robot"
    run.expect_stop(begin, ["stopping", "damping", "off"], lost)
    assert graph.level("feedforward") == 2
    graph.wait(lambda: not any(run.efforts[-1].data), "all efforts to cease")
    expect_no_step(run.efforts, RATE)
    # Not by itself later, either, and whoever follows the trajectory was told to stop there.
    count = len(run.commands)
    graph.wait(lambda: len(run.commands) > count + 6 * RATE, "what would have been its end")
    assert not any(run.efforts[-1].data)
    assert run.gone < 0.5 * run.duration
    last = mapped[-1].points[-1]
    np.testing.assert_allclose(last.velocities, 0.0, atol=1e-9)
    np.testing.assert_allclose(last.positions, run.commands[-1].position, atol=1e-3)


class Encoders:
    """Between robot and node, on ``/encoders``: they may stand still.

    Attributes:
        restamped: what they repeat then has the stamp of what it stands for.
        since: stamp of what they say since then [s].
    """

    def __init__(self, graph: Any, restamped: bool) -> None:
        self.restamped = restamped
        self.stand_still = False
        self._last: JointState | None = None
        self.since = 0.0
        self._out = graph.node.create_publisher(JointState, "/encoders", 10)
        graph.on(JointState, "/simulator/actuator_states", self._relay)

    def _relay(self, state: JointState) -> None:
        if (
            self._last is None
            or not self.stand_still
            or max(map(abs, self._last.velocity)) < MOVING
        ):
            self._last, self.since = state, stamp(state)
        elif self.restamped:
            self._last.header.stamp = state.header.stamp
        self._out.publish(self._last)


def test_measurements_that_are_repeated_are_a_loss(graph: Any) -> None:
    """Numbers and stamps are old, and come as often as ever."""
    encoders = Encoders(graph, restamped=False)
    run = Run(graph, MEASURED, remaps={"actuator_states": "encoders"})
    run.move(3.0)
    encoders.stand_still = True
    graph.wait_state("off")
    begin = run.gone_at(encoders.since)
    lost = "no believable measurement of the robot"
    run.expect_stop(begin, ["stopping", "damping", "off"], lost)
    graph.wait(lambda: not any(run.efforts[-1].data), "all efforts to cease")
    count = len(run.states)
    graph.wait(lambda: len(run.states) > count + 2 * RATE, "two seconds of it")
    assert run.said[-1].data.startswith("off")
    assert not any(run.efforts[-1].data)
    expect_no_step(run.efforts, RATE)
    expect_speeds_within_limits(run.states)


def test_measurements_that_stand_still_prove_nothing(graph: Any) -> None:
    """The numbers are old, their stamps are new: speeds with which no encoder moves.

    Efforts that answer such speeds would drive the robot about.
    """
    encoders = Encoders(graph, restamped=True)
    # It is not the distance from the reference that tells.
    run = Run(graph, {**MEASURED, "path_tolerance": 1.0}, remaps={"actuator_states": "encoders"})
    run.move(3.0)
    encoders.stand_still = True
    graph.wait_state("off")
    frozen = min(run.states, key=lambda state: abs(stamp(state) - encoders.since))
    begin, believed = run.gone_at(encoders.since), FROZEN / np.abs(velocities(frozen)).max()
    lost = "no believable measurement of the robot"
    run.expect_stop(begin + believed, ["stopping", "damping", "off"], lost)
    count = len(run.states)
    graph.wait(lambda: len(run.states) > count + 3 * RATE, "three seconds of it")
    expect_no_step(run.efforts, RATE)
    expect_speeds_within_limits(run.states)
    speeds = np.abs([velocities(state) for state in run.states[-int(RATE) :]])
    assert speeds.max() < 0.1, speeds.max(axis=0)


@pytest.mark.parametrize("followed", [False, True], ids=["efforts", "trajectory"])
def test_a_robot_that_comes_back_elsewhere_is_held_there(graph: Any, followed: bool) -> None:
    """In the middle of a motion it is lost; its encoders come back 0.8 rad away.

    In mode measured; and in the recipe of joint_trajectory_controller, which comes back with it.
    """
    mapped = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    recipe = {**OPEN_LOOP, "trajectory_follower": True}
    run = Run(graph, recipe if followed else MEASURED)
    run.move(3.0)
    run.robot.kill()
    graph.wait_state("off")
    elsewhere = positions(run.states[-1]) + AWAY
    run.states.clear()
    start = start_follower if followed else start_simulator
    start(graph, {**REAL_TIME, "initial_position": elsewhere.tolist()})
    graph.wait_state("holding")
    assert run.said[-1].data == "holding: the robot is known again, and calm"
    count = len(run.states)
    graph.wait(lambda: len(run.states) > count + 2 * RATE, "two seconds of holding")
    expect_no_step(run.efforts, RATE)
    expect_speeds_within_limits(run.states)
    there = np.array([positions(state) for state in run.states])
    np.testing.assert_allclose(there, np.tile(elsewhere, (len(there), 1)), atol=0.05)
    held = standing().state(elsewhere).u
    np.testing.assert_allclose(run.commands[-1].position, held, atol=0.05)
    np.testing.assert_allclose(mapped[-1].points[-1].positions, held, atol=0.05)
    assert run.said[-1].data == "holding: the robot is known again, and calm"
