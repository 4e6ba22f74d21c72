"""The node ``joint_state_completer``: encoders of the driven joints to the whole spanning tree.

Takes ``actuator_states``; gives ``joint_states`` with all passive joints, and
``~/independent_states`` whose efforts are the independent-joint torques of the measured actuator
forces. Works on each message as it comes, newest only (queue of one), with the stamp it came with.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from sensor_msgs.msg import JointState

from ..motion.observer import Observer
from ..quantities.state import State
from .conversions import JointStateReader, nanoseconds
from .health import WARN
from .parameters import Spec
from .robot_node import RobotNode
from .run import run
from .serialized import JointStateBuffer
from .topics import encoder_quality


class JointStateCompleter(RobotNode):
    """See the module."""

    PARAMETERS = (
        Spec("max_jump", 0.2, "largest believable step of an independent joint", 1e-6, 100.0),
        Spec("patience", 1.0, "start anew after nothing believable for [s]", 0.0, 3600.0),
        Spec("limit_tolerance", 0.05, "share of its range a joint may leave it by", 0.0, 10.0),
        Spec("input_timeout", 1.0, "warn when there is no input for [s]", 0.01, 3600.0),
    )

    def __init__(self) -> None:
        super().__init__("joint_state_completer")

    def setup(self) -> None:
        """Read parameters and create the interfaces."""
        p, names = self.parameters, self.robot.names
        self._observer = Observer(self.robot, p["max_jump"], p["patience"], p["limit_tolerance"])
        self._reader = JointStateReader(names.actuator)
        self._tree = JointStateBuffer(names.spanning, effort=False)
        self._independent = JointStateBuffer(names.independent)
        self._bare = JointStateBuffer(names.independent, effort=False)
        self._timeout = p["input_timeout"]
        self._warm_up()
        self.add_subscription(
            JointState, "actuator_states", "actuator_states", self._on_state, encoder_quality()
        )
        self._tree_out = self.add_publisher(JointState, "joint_states")
        self._independent_out = self.add_publisher(JointState, "~/independent_states")

    def _warm_up(self) -> None:
        """Compile what the cycle will call, so that its first call is as fast as the others."""
        y = self.robot.random_independent(np.random.default_rng(0))
        self.robot.prepare("velocities", "loop_jacobian")
        state = self.robot.state(y, np.zeros(self.robot.m))
        self._observer.observe(0.0, state.u, state.ud)

    def start(self) -> None:
        """Forget the past."""
        self._observer.forget()
        self._state: State | None = None
        self._heard = time.monotonic()
        self.add_timer(self._timeout, self._watch, self.steady)

    def _on_state(self, message: JointState) -> None:
        began = time.perf_counter()
        measured = self._reader.read(message)
        now = time.monotonic()
        seen = self._observer.observe(now, measured.position, measured.velocity, measured.effort)
        state = self.robot.state(seen.y, seen.yd)
        assert state.qd is not None
        stamp = nanoseconds(message.header.stamp)
        self._tree_out.publish(self._tree.fill(stamp, state.q, state.qd))
        buffer = self._bare if seen.tau_y is None else self._independent
        self._independent_out.publish(buffer.fill(stamp, seen.y, seen.yd, seen.tau_y))
        self._state, self._heard = state, now
        self.diagnostics.clear("actuator_states")
        self.diagnostics.clear("input age")
        self.cycle_done(began)

    def _watch(self) -> None:
        if time.monotonic() - self._heard > self._timeout:
            text = f"nothing valid on actuator_states for {self._timeout:g} s"
            self.diagnostics.fault("input age", text, WARN, every=5.0)

    def measure(self) -> State | None:
        """Age of the input."""
        self.health.values["input age [s]"] = f"{time.monotonic() - self._heard:.4f}"
        return self._state


main = partial(run, JointStateCompleter)
