"""The demo on real middleware: simulator and feedforward as processes, talking over DDS.

The RH5-style leg makes its sample motion: the foot goes up by 15 cm and down again, level and below
the hip. The trajectory is sent in the independent joints; the feedforward node turns it into forces
of motors and cylinders, the simulator into motion; this process listens, and compares.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array
from ...motion.trajectory import Points, Setpoint, Spline, cycloidal
from ...robot import Robot, load
from ...shipped import Sample, shipped_robot
from .graph import Graph, Heard
from .pictures import save
from .system_report import draw, table

RATE = 500.0  # [Hz]
AFTER = 0.5  # how long to watch the leg hold its last position [s]
FEEDBACK = 20.0  # stiffness in real time [rad/s]; pure feedforward drifts with each late command
FEEDFORWARD = "feedforward"


@dataclass(frozen=True, eq=False)
class Recording:
    """What was heard while the leg moved, one row per published state.

    Attributes:
        time: (N,) since the start of the motion [s].
        command, y: (N, m) commanded and simulated independent positions.
        q: (N, n) the published spanning tree.
        u, tau: (N, p) actuator positions and forces.
        arrived: (K,) when commands arrived here, by the wall clock [s].
        cycle: mean time that the feedforward node computes per command [s].
        real_time: the simulator did not wait for commands.
    """

    time: Array
    command: Array
    y: Array
    q: Array
    u: Array
    tau: Array
    arrived: Array
    cycle: float
    real_time: bool


def run(output: Path, *, real_time: bool = False) -> None:
    """Start the graph, move the leg, print the table, draw the picture."""
    began = time.perf_counter()
    leg = shipped_robot("rh5_leg")
    robot = load(leg.urdf, leg.submechanisms)
    start, points = up_and_down(leg.sample, robot.names.independent)
    print(f"rh5_leg loaded in {time.perf_counter() - began:.1f} s; starting the nodes ...")
    with Graph() as graph:
        files = {"urdf_file": leg.urdf, "submechanism_file": leg.submechanisms}
        recording = _record(graph, robot, files, (start, points), real_time)
    print(table(robot, recording))
    save(output, lambda: draw(robot, recording))


def up_and_down(sample: Sample, names: tuple[str, ...]) -> tuple[Array, Points]:
    """Where a sample motion starts, and its points to the goal and back."""
    start, goal = (
        np.array([of.get(name, 0.0) for name in names]) for of in (sample.start, sample.goal)
    )
    up, down = (cycloidal(*way, sample.duration) for way in ((start, goal), (goal, start)))
    later = replace(down, times=down.times + sample.duration)
    fields = ("times", "positions", "velocities", "accelerations")
    return start, Points(*(np.concatenate([getattr(p, f) for p in (up, later)]) for f in fields))


def _record(
    graph: Graph, robot: Robot, files: dict[str, Path], motion: tuple[Array, Any], real_time: bool
) -> Recording:
    from diagnostic_msgs.msg import DiagnosticArray
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory

    from ...ros.conversions import points_message

    start, points = motion
    reports = graph.listen(DiagnosticArray, "/diagnostics")
    states = graph.listen(JointState, "/joint_states")
    commands = graph.listen(JointState, f"/{FEEDFORWARD}/actuator_command")
    accepted = graph.listen(JointTrajectory, f"/{FEEDFORWARD}/actuator_trajectory")
    _start_nodes(graph, files, start, real_time)
    graph.wait(
        lambda: states and commands and _value(reports, "trajectory") == "holding",
        "start of the nodes",
    )
    message = points_message(robot.names.independent, points)
    graph.send(f"/{FEEDFORWARD}/joint_trajectory", message)
    graph.wait(lambda: accepted, "answer to the trajectory")
    begin = _stamp(accepted[0].message)
    end = begin + float(points.times[-1]) + AFTER
    graph.wait(lambda: _stamp(states[-1].message) > end, "end of the motion")
    zero = np.zeros(robot.m)
    spline = Spline(points, begin, Setpoint(begin, start, zero, zero))
    t, _, position, effort = _within(begin, end, states)
    _, arrived, _, _ = _within(begin, end, commands)
    at = {name: k for k, name in enumerate(robot.names.spanning)}
    independent = [at[name] for name in robot.names.independent]
    actuator = [at[name] for name in robot.names.actuator]
    return Recording(
        time=t - begin,
        command=spline.table(t)[0],
        y=position[:, independent],
        q=position,
        u=position[:, actuator],
        tau=effort[:, actuator],
        arrived=arrived,
        cycle=1e-3 * float(_value(reports, "cycle time mean [ms]") or "nan"),
        real_time=real_time,
    )


def _start_nodes(graph: Graph, files: dict[str, Path], start: Array, real_time: bool) -> None:
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
