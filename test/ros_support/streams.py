"""Streams of messages to a feedforward node, and what is expected of its efforts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rclpy.duration import Duration
from sensor_msgs.msg import JointState

from closed_loop_dynamics.shipped import shipped_robot

from .graph import DEADLINE, Graph, NodeProcess
from .leg import TO_FEEDFORWARD, TO_SIMULATOR, stamp


def first_heard(graph: Graph, topic: str, message: Any) -> Any:
    """A publisher whose first message has been heard: where a stream begins must not get lost."""
    publisher = graph.connect(type(message), topic)
    publisher.publish(message)
    reliable = publisher.wait_for_all_acked(Duration(seconds=DEADLINE))
    assert reliable, f"nobody has heard {topic}"
    return publisher


@contextmanager
def publishing(
    graph: Graph, topic: str, rate: float, make: Callable[[float], Any]
) -> Iterator[None]:
    """Publish what ``make`` says of each time since now, in a thread of its own."""
    publisher = first_heard(graph, topic, make(0.0))
    ended = threading.Event()

    def speak() -> None:
        begin = time.monotonic()
        while not ended.wait(1.0 / rate):
            publisher.publish(make(time.monotonic() - begin))

    thread = threading.Thread(target=speak)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def publishing_in_simulated_time(
    graph: Graph, topic: str, rate: float, make: Callable[[float], Any]
) -> Iterator[None]:
    """The same in the time of ``/joint_states``.

    In lockstep: a loaded machine is slower, nothing else.
    """
    publisher, begin = first_heard(graph, topic, make(0.0)), -1.0
    sent, ended = 0, False

    def speak(state: JointState) -> None:
        nonlocal begin, sent
        begin = stamp(state) if begin < 0.0 else begin
        while sent / rate <= stamp(state) - begin and not ended:
            publisher.publish(make(sent / rate))
            sent += 1

    graph.on(JointState, "/joint_states", speak)
    try:
        yield
    finally:
        ended = True


def start_shipped(
    graph: Graph, name: str, start: np.ndarray, simulator: Any, feedforward: Any
) -> NodeProcess:
    """Simulator and feedforward node, which is returned, of a robot that comes with the package."""
    robot = shipped_robot(name)
    files = {"urdf_file": str(robot.urdf), "submechanism_file": str(robot.submechanisms)}
    initial = {"initial_position": start.tolist()}
    graph.start("simulator", {**initial, **simulator}, TO_SIMULATOR, robot=files)
    own = {"publish_joint_states": False, **feedforward}
    return graph.start("feedforward", own, TO_FEEDFORWARD, robot=files)


def expect_gentle(
    commands: list[JointState], limits: np.ndarray, rate: float, period: float
) -> None:
    """Efforts within (p,) ``limits``, changing by at most ``rate`` limits per second.

    Args:
        commands: messages of ~/actuator_command; some may have got lost on the way.
        period: of the cycle [s].
    """
    efforts, times = np.array([c.effort for c in commands]), np.array([stamp(c) for c in commands])
    assert (np.abs(efforts) <= limits * (1.0 + 1e-9)).all()
    steps = np.abs(np.diff(efforts, axis=0)) / limits
    # A cycle that comes early may step as much as any other.
    allowed = rate * np.maximum(np.diff(times)[:, None], period)
    assert (steps <= allowed * 1.001 + 1e-9).all(), (steps / allowed).max()
