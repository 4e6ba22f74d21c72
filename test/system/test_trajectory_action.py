"""Goals over DDS: an action client in another process, as MoveIt is one."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from action_msgs.msg import GoalStatusArray
from builtin_interfaces.msg import Duration
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_support import control_interfaces
from ros_support.action_client import ABORTED, CANCELED, SUCCEEDED, TrajectoryClient
from ros_support.generated_interfaces import with_package
from ros_support.leg import (
    GOAL,
    INDEPENDENT,
    START,
    message,
    motion,
    positions,
    start_feedforward,
    start_simulator,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray
from std_srvs.srv import Trigger

from closed_loop_dynamics.motion.goals import Code
from closed_loop_dynamics.motion.trajectory import Points, Spline, cycloidal
from closed_loop_dynamics.ros.conversions import nanoseconds

MISSING = control_interfaces.unavailable()
pytestmark = [pytest.mark.ros, pytest.mark.skipif(bool(MISSING), reason=MISSING)]

REAL_TIME = {"lockstep": False, "control_rate": 200.0}
MEASURED = {"mode": "measured", "feedback_frequency": 10.0, "diagnostics_period": 0.2}
REST = np.zeros(3)
LONG = 100.0  # [s]; of motions that are not to end by themselves


@pytest.fixture(scope="session")
def interfaces(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Where control_msgs is, if it had to be made; once for all processes of the session."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    return control_interfaces.provide(base / "interfaces")


class Leg:
    """Simulator, feedforward node, a client, and where the joints are."""

    def __init__(self, graph: Any, simulator: Any, feedforward: Any) -> None:
        self.graph = graph
        self.states = graph.listen(JointState, "/joint_states", depth=10)
        self.simulator = start_simulator(graph, simulator)
        self.process = start_feedforward(graph, feedforward)
        self.client = TrajectoryClient(graph)
        graph.wait_active("simulator", "feedforward")
        graph.wait(lambda: self.states, "joint states")

    @property
    def here(self) -> np.ndarray:
        return positions(self.states[-1])

    def to(self, goal: Any, duration: float = 1.0, **tolerances: Any) -> Any:
        points = Points.of([duration], [goal], [np.zeros(3)], [np.zeros(3)])
        return self.client.send(message(points), **tolerances)

    def long(self, goal: Any, **tolerances: Any) -> Any:
        """A goal that is under way."""
        sent = self.to(goal, LONG, **tolerances)
        self.graph.wait(lambda: sent.feedback, "the motion")
        return sent


@pytest.fixture
def environment(interfaces: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes that are started from now on find control_msgs."""
    if interfaces is not None:
        monkeypatch.setenv("PYTHONPATH", with_package(os.environ, interfaces)["PYTHONPATH"])


@pytest.fixture
def leg(environment: None, graph: Any) -> Leg:
    """Robot and node in lockstep: a loaded machine is slower, nothing else."""
    found = Leg(graph, {}, MEASURED)
    found.graph.wait_state("holding")
    return found


def tolerance(name: str, position: float) -> Any:
    from control_msgs.msg import JointTolerance

    return JointTolerance(name=name, position=position)


def test_goals_succeed_are_canceled_preempted_and_aborted(leg: Leg) -> None:
    # Success, with feedback on the way.
    sent = leg.to(GOAL)
    assert sent.result() == (SUCCEEDED, Code.SUCCESSFUL, "the motion has ended")
    np.testing.assert_allclose(leg.here, GOAL, atol=0.02)
    leg.graph.wait(lambda: len(sent.feedback) >= 2, "feedback")
    for feedback in sent.feedback:
        assert tuple(feedback.joint_names) == INDEPENDENT
        wanted, actual = (np.array(p.positions) for p in (feedback.desired, feedback.actual))
        np.testing.assert_allclose(feedback.error.positions, wanted - actual, atol=1e-12)
        assert np.abs(wanted - actual).max() < 0.2
        rates = (np.array(p.velocities) for p in (feedback.desired, feedback.actual))
        np.testing.assert_allclose(feedback.error.velocities, np.subtract(*rates), atol=1e-12)
        assert feedback.header.stamp.sec > 0
    assert any(np.any(feedback.desired.accelerations) for feedback in sent.feedback)
    # On the quintic from START to GOAL, at the time that it says.
    spline = Spline(Points.of([0.0, 1.0], [START, GOAL], [REST, REST], [REST, REST]))
    for feedback in sent.feedback:
        times = [
            nanoseconds(p.time_from_start) / 1e9
            for p in (feedback.desired, feedback.actual, feedback.error)
        ]
        assert times[0] == times[1] == times[2]
        then = spline.sample(times[0])
        np.testing.assert_allclose(feedback.desired.positions, then.y, atol=1e-3)
        np.testing.assert_allclose(feedback.desired.velocities, then.yd, atol=1e-2)

    # Canceled in mid-motion: at rest on the way.
    sent = leg.to(START, 20.0)
    leg.graph.wait(lambda: leg.here[1] < GOAL[1] - 0.02, "the motion")
    assert sent.cancel() == 1
    status, code, _ = sent.result()
    assert (status, code) == (CANCELED, Code.SUCCESSFUL)
    assert START[1] + 0.02 < leg.here[1] < GOAL[1] - 0.02
    stopped = leg.here
    leg.graph.wait_state("holding")
    np.testing.assert_allclose(leg.here, stopped, atol=0.02)

    # Preempted by a goal, then by the topic.
    first = leg.long(START)
    second = leg.long(GOAL)
    status, code, text = first.result()
    assert (status, code) == (ABORTED, Code.INVALID_GOAL) and "newer trajectory" in text
    zero = np.zeros(3)
    end = Points.of([1.0], [START], [zero], [zero])
    leg.graph.send("/feedforward/joint_trajectory", message(end))
    assert second.result()[0] == ABORTED
    leg.graph.wait(lambda: np.abs(leg.here - START).max() < 0.02, "the motion of the topic")
    leg.graph.wait_state("holding")

    # Somebody else stops it.
    sent = leg.long(GOAL)
    assert leg.graph.call(Trigger, "/feedforward/hold", Trigger.Request()).success
    assert sent.result() == (ABORTED, Code.INVALID_GOAL, "asked to hold")
    leg.graph.wait_state("holding")

    # Deactivated during a goal; a goal of an inactive node is rejected; and on it goes.
    sent = leg.long(GOAL)
    assert leg.graph.change("feedforward", "deactivate")
    assert sent.result() == (ABORTED, Code.INVALID_GOAL, "the node was deactivated")
    assert not leg.to(GOAL).accepted
    assert leg.graph.change("feedforward", "activate")
    assert leg.to(GOAL, 2.0).result()[0] == SUCCEEDED

    # A node that is shut down in the middle says so as well, and lives.
    sent = leg.long(START)
    assert leg.graph.change("feedforward", "active_shutdown")
    assert sent.result()[0] == ABORTED
    assert leg.graph.state("feedforward") == "finalized"
    assert leg.process.alive
    assert "Traceback" not in leg.process.text()
    assert leg.process.interrupt() == 0


def test_goals_are_refused_with_the_right_code_and_held_to_their_tolerances(leg: Leg) -> None:
    from control_msgs.action import FollowJointTrajectory
    from trajectory_msgs.msg import JointTrajectory

    def refusal(trajectory: Any, **tolerances: Any) -> tuple[int, str]:
        status, code, text = leg.client.send(trajectory, **tolerances).result()
        assert status == ABORTED
        return code, text

    result = FollowJointTrajectory.Result
    wrong = motion()
    wrong.joint_names = ["hip", "kne", "ankle"]
    code, text = refusal(wrong)
    assert code == result.INVALID_JOINTS and "did you mean 'knee'" in text
    assert refusal(JointTrajectory())[0] == result.INVALID_JOINTS
    code, text = refusal(motion(goal=(-0.6, 9.0, -0.4)))
    assert code == result.INVALID_GOAL and "knee" in text
    assert refusal(JointTrajectory(joint_names=list(INDEPENDENT)))[0] == result.INVALID_GOAL
    old = motion()
    old.header.stamp.sec = 1000
    code, text = refusal(old)
    assert code == result.OLD_HEADER_TIMESTAMP and "it ended" in text
    code, text = refusal(motion(), path_tolerance=[tolerance("knee", -0.5)])
    assert code == result.INVALID_GOAL and "no tolerance" in text
    code, text = refusal(motion(), goal_tolerance=[tolerance("elbow", 0.5)])
    assert code == result.INVALID_JOINTS and "unknown joint 'elbow'" in text
    leg.graph.wait(lambda: "elbow" in leg.graph.message("feedforward"), "diagnostics")
    np.testing.assert_allclose(leg.here, START, atol=0.02)

    # Some joints only: the others stay.
    knee = Points.of([1.0], [[0.8]], [[0.0]], [[0.0]])
    sent = leg.client.send(message(knee, ["knee"]))
    assert sent.result()[0] == SUCCEEDED, sent.result()
    np.testing.assert_allclose(leg.here, [START[0], 0.8, START[2]], atol=0.02)
    np.testing.assert_allclose(np.array(sent.feedback[-1].desired.positions)[[0, 2]], START[::2])

    # A tolerance that nobody can keep, on the path and at its end.
    code, text = refusal(
        message(cycloidal(leg.here, GOAL, 1.0)), path_tolerance=[tolerance("knee", 1e-9)]
    )
    assert code == result.PATH_TOLERANCE_VIOLATED and "off the path: knee" in text
    code, text = refusal(
        message(cycloidal(leg.here, START, 1.0)),
        goal_tolerance=[tolerance("knee", 1e-9)],
        goal_time_tolerance=Duration(nanosec=1),
    )
    assert code == result.GOAL_TOLERANCE_VIOLATED and "the goal is missed: knee" in text

    # An emergency.
    leg.graph.wait_state("holding")
    sent = leg.long(GOAL)
    leg.graph.send("/feedforward/emergency_stop", Bool(data=True))
    assert sent.result() == (ABORTED, Code.INVALID_GOAL, "emergency stop")
    code, text = refusal(message(cycloidal(leg.here, GOAL, 1.0)))
    assert code == result.INVALID_GOAL and "ask to resume first" in text
    assert "Traceback" not in leg.process.text()


def test_a_goal_whose_robot_is_lost_is_aborted(environment: None, graph: Any) -> None:
    """In real time: without measurements no time passes in lockstep."""
    leg = Leg(graph, REAL_TIME, {**MEASURED, **REAL_TIME, "state_timeout": 2.0})
    leg.graph.wait_state("holding")
    sent = leg.long(GOAL, path_tolerance=[tolerance(name, -1.0) for name in INDEPENDENT])
    leg.simulator.kill()
    status, code, text = sent.result()
    assert (status, code) == (ABORTED, Code.INVALID_GOAL)
    assert "no believable measurement" in text
    assert leg.process.interrupt() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_node_that_is_ended_during_a_goal_says_so_and_lets_go_of_the_robot(
    environment: None, graph: Any, number: signal.Signals
) -> None:
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command")
    leg = Leg(graph, REAL_TIME, {**MEASURED, **REAL_TIME, "state_timeout": 2.0})
    leg.graph.wait_state("holding")
    sent = leg.long(GOAL)
    sent.ask()
    assert leg.process.interrupt(number) == 0
    assert sent.result() == (ABORTED, Code.INVALID_GOAL, "the node was deactivated")
    graph.wait(lambda: not np.any(efforts[-1].data), "efforts that are taken back")
    assert "Traceback" not in leg.process.text()


@pytest.mark.slow
def test_five_hundred_goals_leave_nothing_behind(environment: None, graph: Any) -> None:
    """Motions of a few cycles; some are preempted, canceled or refused."""
    leg = Leg(graph, {}, {**MEASURED, "action_monitor_rate": 200.0})
    leg.graph.wait_state("holding")
    alive: list[Any] = []
    quality = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    topic = "/feedforward/follow_joint_trajectory/_action/status"
    graph.on(GoalStatusArray, topic, alive.append, quality)

    def here_and_there(k: int) -> Any:
        return leg.to((START[0], START[1] + 0.005 * (k % 2), START[2]), 0.04)

    before = (0, 0, 0)
    for k in range(500):
        if k == 100:
            before = leg.process.memory(), leg.process.threads(), leg.process.files()
        if k % 10 == 3:  # preempted, perhaps
            dropped = here_and_there(k)
        sent = here_and_there(k)
        if k % 10 == 6:
            sent.cancel()
            assert sent.result()[0] in (CANCELED, SUCCEEDED)
        elif k % 10 == 8:
            assert leg.to((0.0, 9.0, 0.0)).result()[0] == ABORTED
        else:
            assert sent.result()[0] == SUCCEEDED, sent.result()
        if k % 10 == 3:
            assert dropped.result()[0] in (ABORTED, SUCCEEDED)
    memory, threads, files = leg.process.memory(), leg.process.threads(), leg.process.files()
    assert memory - before[0] < 4e6, f"{(memory - before[0]) / 400:.0f} bytes per goal"
    assert threads <= before[1] + 1 and files <= before[2]

    # Results are kept for ten seconds; then nobody holds the goals any more.
    def forgotten() -> bool:
        here_and_there(0).result()
        return len(alive[-1].status_list) < 200

    graph.wait(forgotten, "results to be forgotten")
    assert "Traceback" not in leg.process.text()
    assert leg.process.interrupt() == 0


@pytest.mark.skipif(control_interfaces.installed(), reason="control_msgs is installed")
def test_without_control_msgs_the_node_works_and_says_so_once(graph: Any) -> None:
    process = start_feedforward(graph, {**REAL_TIME, "initial_position": START})
    graph.wait_active("feedforward")
    for transition in ("deactivate", "cleanup", "configure", "activate"):
        assert graph.change("feedforward", transition)
    assert process.text().count("without control_msgs") == 1
