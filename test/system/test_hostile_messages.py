"""Messages that make no sense, to everything that ``feedforward`` hears; over real DDS.

The node lives, says why, and what it has been told before goes on: the robot stays within its speed
limits, efforts within their rate.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_support.leg import (
    ACTUATORS,
    GOAL,
    INDEPENDENT,
    START,
    expect_speeds_within_limits,
    motion,
    positions,
    start_feedforward,
    start_simulator,
)
from ros_support.streams import expect_gentle
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray, MultiArrayDimension, String
from support.crank_legs import standing
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.model.joint_limits import Limits

pytestmark = [pytest.mark.ros, pytest.mark.slow]

PERIOD = 0.005
SETTINGS = {"lockstep": False, "control_rate": 1.0 / PERIOD, "diagnostics_period": 0.2}
MEASURED = {**SETTINGS, "mode": "measured", "feedback_frequency": 10.0}
NAN, INF, HUGE = float("nan"), float("inf"), 1e308
MANY = 100_000
ROWS = "position,velocity,kp,kd,effort"


def state(names: Any, position: Any, velocity: Any = (), sec: int = 0) -> JointState:
    found = JointState(name=list(names), position=list(position), velocity=list(velocity))
    found.header.stamp.sec = sec
    return found


def states(names: tuple[str, ...]) -> dict[str, tuple[JointState, str]]:
    """What is wrong with positions of these joints, and how that is said."""
    first, *others = names
    return {
        "NaN": (state(names, [0.0, NAN, 0.0]), "not finite"),
        "infinite": (state(names, [0.0, 0.0, -INF]), "not finite"),
        "speeds": (state(names, [0.0] * 3, [0.0, INF, 0.0]), "not finite"),
        "short": (state(names, [0.0]), "1 numbers of position for 3 joints"),
        "long": (state(names, [0.0] * MANY), f"{MANY} numbers of position for 3 joints"),
        "twice": (state([first, first, *others], [0.0] * 4), f"joint '{first}' appears twice"),
        "missing": (state(others, [0.0] * 2), f"joint '{first}' is missing"),
    }


def trajectory(change: Callable[[JointTrajectory], Any]) -> JointTrajectory:
    found = motion(duration=1.0)
    change(found)
    return found


def row(k: int, what: str, value: float) -> Callable[[JointTrajectory], None]:
    return lambda found: getattr(found.points[k], what).__setitem__(0, value)


def many_points(found: JointTrajectory) -> None:
    found.points = [found.points[1]] * (MANY // 50)


def springs(value: float = 0.0, row: int = 0, label: str = "hip,knee,ankle", size: int = 3) -> Any:
    table = np.zeros((5, 3))
    table[row, 1] = value
    found = Float64MultiArray(data=table.ravel().tolist())
    found.layout.dim = [
        MultiArrayDimension(label=ROWS, size=5),
        MultiArrayDimension(label=label, size=size),
    ]
    return found


#: topic -> what is wrong -> the message, and how that is said.
HOSTILE: dict[str, dict[str, tuple[Any, str]]] = {
    "/simulator/actuator_states": {
        **states(ACTUATORS),
        "huge": (state(ACTUATORS, [HUGE, 0.0, 0.0], [0.0] * 3), "not believed"),
        "fast": (state(ACTUATORS, standing().state(START).u, [HUGE] * 3), "not believed"),
    },
    "/feedforward/reference": {
        **states(INDEPENDENT),
        "huge": (state(INDEPENDENT, [0.0, HUGE, 0.0]), "a number is beyond 1e+08"),
        "misspelt": (
            state(("hip", "kne", "ankle"), [0.0] * 3),
            "'knee' is missing; 'kne' is there",
        ),
    },
    "/feedforward/impedance_command": {
        "NaN": (springs(NAN), "a position is not finite"),
        "infinite": (springs(INF, 4), "a effort is not finite"),
        "huge": (springs(HUGE, 2), "a kp is not finite, or beyond 1e+15"),
        "negative": (springs(-1.0, 3), "kd -1 is negative"),
        "nothing": (Float64MultiArray(), "two dimensions"),
        "long": (Float64MultiArray(data=[0.0] * MANY), "two dimensions"),
        "size": (springs(size=2**32 - 1), "15 numbers, 4294967295 joints"),
        "twice": (springs(label="hip,hip,ankle"), "joint 'hip' appears twice"),
        "misspelt": (springs(label="hip,kne,ankle"), "unknown joint 'kne'; did you mean 'knee'"),
    },
    "/feedforward/joint_trajectory": {
        "NaN": (trajectory(row(3, "positions", NAN)), "not finite"),
        "infinite": (trajectory(row(2, "velocities", INF)), "not finite"),
        "huge": (trajectory(row(3, "positions", HUGE)), "point 3 has positions that are not"),
        "huge speed": (trajectory(row(3, "velocities", HUGE)), "point 3 has velocities that are"),
        "short": (trajectory(lambda t: t.points[3].positions.pop()), "2 positions for 3 joints"),
        "twice": (trajectory(lambda t: t.joint_names.__setitem__(0, "knee")), "appears twice"),
        "misspelt": (trajectory(lambda t: t.joint_names.__setitem__(0, "hp")), "did you mean"),
        "nothing": (JointTrajectory(), "joint 'hip' is missing"),
        "many": (trajectory(many_points), "times must increase"),
        "before": (
            trajectory(lambda t: setattr(t.points[0].time_from_start, "sec", -(2**31))),
            "the first time is negative",
        ),
    },
}
#: What changes nothing: another release of the button.
HARMLESS = {"/feedforward/emergency_stop": Bool(data=False)}
#: Latched; of no interest to who has read a file (else: test_manners).
DESCRIPTION = "/robot_description"


def test_nothing_that_makes_no_sense_moves_the_robot(graph: Any) -> None:
    found = graph.listen(JointState, "/joint_states", depth=10_000)
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10_000)
    start_simulator(graph, SETTINGS)
    node = start_feedforward(graph, MEASURED)
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    heard = dict(graph.node.get_subscriber_names_and_types_by_node("feedforward", "/"))
    assert {*HOSTILE, *HARMLESS, DESCRIPTION} == {*heard} - {"/parameter_events", "/clock"}, heard
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    graph.node.create_publisher(String, DESCRIPTION, latched).publish(String(data="<robot"))

    # One by one: each is told.
    for topic, messages in HOSTILE.items():
        for what, (message, reason) in messages.items():
            begin = len(graph.statuses)
            graph.send_until(  # best effort: one may get lost
                topic,
                message,
                lambda b=begin, r=reason: any(r in text for _, _, text in graph.statuses[b:]),
                f"'{reason}' because of {what} on {topic}",
            )
            assert node.alive
    graph.wait_state("holding")
    assert np.abs(positions(found[-1]) - START).max() < 0.05

    # All at once, in the middle of a motion: it goes on, or ends where it can be told why.
    every = [
        *(
            (topic, message)
            for topic, messages in HOSTILE.items()
            for what, (message, _) in messages.items()
            if what not in ("long", "many")  # it is no wonder if nothing else gets through
        ),
        *HARMLESS.items(),
    ]
    storm = cycle([(graph.connect(type(message), topic), message) for topic, message in every])
    ended = threading.Event()

    def shout() -> None:
        while not ended.wait(0.005):
            publisher, message = next(storm)
            publisher.publish(message)

    thread = threading.Thread(target=shout)
    thread.start()
    try:
        graph.send("/feedforward/joint_trajectory", motion(GOAL, 2.0))
        graph.wait_state("tracking")
        graph.wait_state("holding", "damping", "off")
    finally:
        ended.set()
        thread.join()
    graph.wait_state("holding")
    assert node.alive and "Traceback" not in node.text()
    limits = Limits.of(standing().mechanism.tree, ACTUATORS).effort
    expect_gentle(list(commands), limits, 20.0, PERIOD)
    expect_speeds_within_limits(list(found))
