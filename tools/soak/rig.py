"""One robot on real nodes, wired as the launch files do it, with a relay in every wire.

simulator/actuator_states ──> relay ──> feedforward
feedforward/effort_command ──> relay ──> simulator
/clock, in simulated time, ──> relay ──> feedforward
or, as ros2_control does it: feedforward/actuator_trajectory ──> simulator with a follower in it
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
import yaml
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.clock_steps import NANO
from closed_loop_dynamics.motion.trajectory import cycloidal
from closed_loop_dynamics.robot import load
from closed_loop_dynamics.ros.conversions import nanoseconds, points_message, set_stamp
from closed_loop_dynamics.ros.launch_checks import RANGE, transport_environment
from closed_loop_dynamics.shipped import ShippedRobot, shipped_robot

from .faults import EFFORTS, FOLLOWED, SIMULATED, STATES
from .listener import Listener
from .monitor import Monitor
from .processes import NodeProcess, overheard, wait
from .relay import Relay

#: The module that runs the package's nodes.
NODES = "closed_loop_dynamics.ros"
#: Of drives and of who controls them.
PRIORITY = 50
#: For what takes long on a loaded machine, such as the start of a process [s].
DEADLINE = 120.0
#: The default of feedforward's max_effort_rate [1/s].
EFFORT_RATE = 20.0
#: Where simulated time begins, for room to jump back [ns].
EPOCH = 1_000_000 * NANO


class RigError(RuntimeError):
    """Nothing more can be learnt: nodes do not come up, or do not answer."""


class Rig:
    """Nodes, relays and monitor, in a ROS domain of their own; a context.

    Attributes:
        motion: how long motions last [s].
        rate: of control [Hz].
        start, goal: (m,) of the last motion that was sent.
        clock_offset: what the relay adds to /clock [ns].
    """

    def __init__(self, name: str, wiring: str, folder: Path, domain: int) -> None:
        os.environ[RANGE] = "LOCALHOST"
        os.environ.update(transport_environment("UDPv4"))  # again, for each rig of a process
        self._wiring, self._domain = wiring, domain
        files = shipped_robot(name)
        self._robot = robot = load(files.urdf, files.submechanisms)
        self._ends = [
            np.array([where.get(joint, 0.0) for joint in robot.names.independent])
            for where in (files.sample.start, files.sample.goal)
        ]
        self.start = self.goal = self._ends[0]
        self.motion = files.sample.duration
        settings = yaml.safe_load(files.nodes.read_text())["/**/feedforward"]["ros__parameters"]
        self.rate = float(settings["control_rate"])
        self.limits = Limits.of(robot.mechanism.tree, robot.names.actuator)
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain)
        self.node = rclpy.create_node("soak", context=self._context)
        self._ear = rclpy.create_node("soak_relay", context=self._context)
        self._listener = Listener(self._ear)
        step = EFFORT_RATE / self.rate * self.limits.effort
        self.monitor = Monitor(self.node, self._listener, robot, step)
        self.relays = self._relay_messages()
        self.clock_offset = EPOCH
        if wiring == SIMULATED:
            self._relay_clock()
        topic = "/feedforward/joint_trajectory"
        self._trajectories = self.node.create_publisher(JointTrajectory, topic, 10)
        self._clients: dict[str, Any] = {}
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._start_nodes(files, folder, domain)

    def _relay_messages(self) -> dict[str, Relay]:
        limits = self.limits
        ranged = np.isfinite(limits.upper - limits.lower)
        span = np.where(ranged, limits.upper - limits.lower, 1.0)
        states = ("/simulator/actuator_states", "/soak/actuator_states")
        efforts = ("/feedforward/effort_command", "/soak/effort_command")
        heard = self.monitor.on_efforts
        return {
            STATES: Relay(self._ear, self._listener, JointState, states, span, depth=2),
            EFFORTS: Relay(
                self._ear, self._listener, Float64MultiArray, efforts, limits.effort, 10, heard
            ),
        }

    def _relay_clock(self) -> None:
        out = self._ear.create_publisher(Clock, "/clock", 10)

        def relay(raw: bytes, _: int) -> None:
            message = deserialize_message(raw, Clock)
            set_stamp(message.clock, nanoseconds(message.clock) + self.clock_offset)
            out.publish(message)

        self._listener.on(Clock, "/soak/clock", relay, depth=2)

    def _start_nodes(self, files: ShippedRobot, folder: Path, domain: int) -> None:
        own = {"urdf_file": files.urdf, "submechanism_file": files.submechanisms}
        sim_time, followed = self._wiring == SIMULATED, self._wiring == FOLLOWED
        recipe = files.nodes.with_name("ros2_control_jtc.yaml")
        plant = ("tools.soak.follower", str(recipe)) if followed else (NODES, "simulator")

        def process(kind: str, program: Sequence[str], given: Any, remaps: Any) -> NodeProcess:
            # Drives, and a controller manager beside them, run in real time.
            priority = PRIORITY if followed and kind == "simulator" else 0
            log = folder / f"{kind}.log"
            return NodeProcess(kind, program, (files.nodes,), given, remaps, log, domain, priority)

        self.simulator = process(
            "simulator",
            plant,
            {**own, "publish_clock": sim_time},
            {
                "~/effort_command": "/soak/effort_command",
                "~/actuator_trajectory": "/feedforward/actuator_trajectory",
                "/clock": "/soak/clock",
            },
        )
        mode = {"mode": "feedforward", "trajectory_follower": True} if followed else {}
        self.feedforward = process(
            "feedforward",
            (NODES, "feedforward"),
            {**own, **mode, "publish_joint_states": False, "use_sim_time": sim_time},
            {"actuator_states": "/soak/actuator_states"},
        )
        self.processes = (self.feedforward, self.simulator)

    def __enter__(self) -> Rig:
        self._thread.start()
        self._listener.start()
        _prefer_wires()
        for process in self.processes:
            process.start()
        try:
            self.need(lambda: self.monitor.y is not None, "the simulator")
            self.need(lambda: self.supervised == "holding", "feedforward to hold the robot")
        except RigError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.end()
        self._listener.end()
        self._executor.shutdown(timeout_sec=5.0)
        self._context.try_shutdown()
        self._thread.join(timeout=5.0)

    # -- what a campaign does -------------------------------------------------------------------

    def need(self, condition: Callable[[], Any], what: str) -> None:
        """Wait for what must come.

        Raises:
            RigError: it does not.
        """
        if not wait(condition, DEADLINE):
            told = self.monitor.diagnostics.get("feedforward", "nothing")
            raise RigError(
                f"waited {DEADLINE:g} s for {what}; feedforward has told us: {told}; "
                f"and a stranger: {overheard(self._domain)}"
            )

    @property
    def supervised(self) -> str:
        """The state of the supervisor, by the newest that was said of it."""
        if self.monitor.state:
            return self.monitor.state
        return self.monitor.diagnostics.get("feedforward", (0, "", {}))[2].get("state", "")

    def send(self) -> None:
        """A motion from where the robot is to the end that is further away."""
        here = self.monitor.y
        assert here is not None
        start, goal = self._ends
        self.start = here
        self.goal = goal if np.abs(here - start).max() < np.abs(here - goal).max() else start
        points = cycloidal(here, self.goal, self.motion)
        self._trajectories.publish(points_message(self._robot.names.independent, points))

    def call(self, name: str, kind: Any = Trigger, request: Any = None) -> Any:
        """The future answer of a service."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        return self._clients[name].call_async(request or kind.Request())


def _prefer_wires() -> None:
    """Real-time priority, where it is allowed, for all threads of this process.

    A wire needs no processor: hogs must not delay what passes through the relays. What is started
    later, nodes and hogs, is not preferred.
    """
    policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            os.sched_setscheduler(int(thread.name), policy, os.sched_param(PRIORITY))
