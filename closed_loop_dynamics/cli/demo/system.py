"""The demo on real middleware: simulator and feedforward as processes, talking over DDS.

The trajectory is sent in the independent joints; the feedforward node turns it into forces of
motors and cylinders, the simulator into motion; this process listens, and compares.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ...robot import Robot
from ...shipped import ShippedRobot
from .graph import Graph, Heard
from .recording import RATE, Recording, UpAndDown

FEEDBACK = 20.0  # stiffness in real time [rad/s]; pure feedforward drifts with each late command
FEEDFORWARD = "feedforward"


def record(
    leg: ShippedRobot, robot: Robot, motion: UpAndDown, *, real_time: bool = False
) -> Recording:
    """Start the nodes, send the motion, listen until it is over."""
    from diagnostic_msgs.msg import DiagnosticArray
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String
    from trajectory_msgs.msg import JointTrajectory

    from ...ros.conversions import points_message

    with Graph() as graph:
        reports = graph.listen(DiagnosticArray, "/diagnostics")
        states = graph.listen(JointState, "/joint_states")
        commands = graph.listen(JointState, f"/{FEEDFORWARD}/actuator_command")
        accepted = graph.listen(JointTrajectory, f"/{FEEDFORWARD}/actuator_trajectory")
        supervised = graph.listen(String, f"/{FEEDFORWARD}/state", latched=True)
        _start_nodes(graph, leg, motion.start, real_time)
        graph.wait(
            lambda: states and commands and _value(reports, "trajectory") == "holding",
            "start of the nodes",
        )
        message = points_message(robot.names.independent, motion.points)
        graph.send(f"/{FEEDFORWARD}/joint_trajectory", message)
        graph.wait(lambda: accepted, "answer to the trajectory")
        begin = _stamp(accepted[0].message)
        end = begin + motion.length
        graph.wait(lambda: _stamp(states[-1].message) > end, "end of the motion")
    t, _, position, effort = _within(begin, end, states)
    _, arrived, _, _ = _within(begin, end, commands)
    at = {name: k for k, name in enumerate(robot.names.spanning)}
    independent = [at[name] for name in robot.names.independent]
    actuator = [at[name] for name in robot.names.actuator]
    return Recording(
        how="real time, with feedback" if real_time else "pure feedforward, in lockstep",
        time=t - begin,
        command=motion.spline(begin).table(t)[0],
        y=position[:, independent],
        q=position,
        u=position[:, actuator],
        tau=effort[:, actuator],
        rates=[
            *_supervision([heard.message.data for heard in supervised]),
            *_rates(arrived, t[-1] - t[0], float(_value(reports, "cycle time mean [ms]") or "nan")),
        ],
    )


def _start_nodes(graph: Graph, leg: ShippedRobot, start: Array, real_time: bool) -> None:
    files = {"urdf_file": leg.urdf, "submechanism_file": leg.submechanisms}
    common = {**files, "control_rate": RATE, "lockstep": not real_time, "diagnostics_period": 0.5}
    graph.start(
        "simulator",
        {**common, "initial_position": start.tolist(), "publish_clock": real_time},
        {"~/effort_command": f"{FEEDFORWARD}/effort_command"},
    )
    feedback = {"mode": "measured", "feedback_frequency": FEEDBACK, "use_sim_time": True}
    graph.start(
        FEEDFORWARD,
        {**common, **(feedback if real_time else {}), "publish_joint_states": False},
        {"actuator_states": "simulator/actuator_states"},
    )


def _supervision(states: list[str]) -> list[str]:
    """What the supervisor did, and why."""
    words = (state.partition(": ")[::2] for state in states)
    lines = [f"{state:>9}  {reason}" for state, reason in words]
    return [f"  {'supervisor':<24}{lines[0]}", *(" " * 26 + line for line in lines[1:])]


def _rates(arrived: Array, length: float, cycle: float) -> list[str]:
    """How fast commands followed each other by the wall clock."""
    arrived = np.sort(arrived)
    took = arrived[-1] - arrived[0]
    periods = 1e3 * np.diff(arrived)
    p50, p99 = np.percentile(periods, [50, 99])
    return [
        f"  {'control rate':<24}{len(arrived) / took:>9.0f} Hz ({length / took:.2f} × real time)",
        f"  {'control period':<24}{p50:>9.2f} ms median, {p99:.2f} ms p99, "
        f"{periods.max():.2f} ms longest",
        f"  {'of which computing':<24}{cycle:>9.2f} ms in the feedforward node, mean",
    ]


def _value(reports: list[Heard], key: str) -> str:
    """The newest value that the feedforward node has reported, or nothing."""
    found = (
        pair.value
        for heard in reversed(list(reports))
        for status in heard.message.status
        for pair in status.values
        if status.name == FEEDFORWARD and pair.key == key
    )
    return str(next(found, ""))


def _stamp(message: Any) -> float:
    return float(message.header.stamp.sec) + 1e-9 * float(message.header.stamp.nanosec)


def _within(begin: float, end: float, heard: list[Heard]) -> tuple[Array, Array, Array, Array]:
    """Stamps, arrivals, positions and efforts of joint states; each stamp once, in order."""
    rows = {
        stamp: (h.arrived, h.message.position, h.message.effort)
        for h in list(heard)
        if begin <= (stamp := _stamp(h.message)) <= end
    }
    stamps = sorted(rows)
    columns = [np.array([rows[t][k] for t in stamps]) for k in range(3)]
    return np.array(stamps), columns[0], columns[1], columns[2]
