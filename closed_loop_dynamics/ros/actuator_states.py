"""``actuator_states``: from the topic to the controller, with their diagnostics."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from sensor_msgs.msg import JointState

from ..errors import ClosedLoopError
from ..motion.controller import Controller
from ..motion.transit import Transit
from .conversions import JointStateReader, Measurement, OtherJoints, nanoseconds
from .raw_joint_states import RawJointStateReader, stamp_of
from .robot_node import RobotNode
from .topics import encoder_quality

CHANNEL = "actuator_states"
#: Several nodes may speak there: the newest message need not be one that we can read.
DEPTH = 10
#: Others may speak of other joints, if somebody has spoken of ours within this time [s].
HEARD = 1.0


class ActuatorStates:
    """Tells a controller what was measured.

    Args:
        now: the time that stamps are in [ns].
        period: of the cycle that calls :meth:`look` [s].
        answer: in lockstep, where no cycle looks: called with the time of each message [ns], and
            whether it was believed.
    """

    def __init__(
        self,
        node: RobotNode,
        controller: Controller,
        now: Callable[[], int],
        period: float,
        answer: Callable[[int, bool], None] | None = None,
    ) -> None:
        self._diagnostics = node.diagnostics
        self._controller = controller
        self._now = now
        self._transit = Transit()
        self._heard = -math.inf
        self._answer = answer
        self._reader = JointStateReader(node.robot.names.actuator)
        self._raw_reader = RawJointStateReader(self._reader)
        self._topic: Any
        if answer is None:
            quality = encoder_quality(depth=DEPTH)
            self._topic = node.add_polled(JointState, CHANNEL, quality, period)
        else:
            quality = encoder_quality(lossless=True)
            self._topic = node.add_subscription(
                JointState, CHANNEL, CHANNEL, self._on_state, quality
            )

    @property
    def topic_name(self) -> str:
        """The resolved one."""
        return str(self._topic.topic_name)

    def forget(self) -> None:
        """Nothing that has come so far counts."""
        self._transit = Transit()
        if self._answer is None:
            for _ in self._topic.news():
                pass

    def look(self) -> None:
        """At the beginning of a cycle: the newest that can be read. In lockstep there is none."""
        if self._answer is not None:
            return
        newest: tuple[Measurement, float] | None = None
        for data, age in self._topic.news():
            try:
                seen = self._raw_reader.read(data)
                self._heard = time.monotonic()
                late = self._transit.late(stamp_of(data), self._now(), self._heard)
            except OtherJoints as error:
                if time.monotonic() > self._heard + HEARD:
                    self._diagnostics.fault(CHANNEL, str(error))
            except ClosedLoopError as error:
                self._diagnostics.fault(CHANNEL, str(error))
            except Exception as error:  # bytes that are no message: nothing of it may stop a cycle
                self._diagnostics.fault(CHANNEL, f"not readable: {error}")
            else:
                if newest is None or max(age, late) <= newest[1]:
                    newest = seen, max(age, late)
        if newest is not None:
            self._observe(*newest)

    def _on_state(self, message: JointState) -> None:
        assert self._answer is not None
        good = self._observe(self._reader.read(message))
        self._answer(nanoseconds(message.header.stamp), good)

    def _observe(self, seen: Measurement, late: float = 0.0) -> bool:
        try:
            self._controller.observe(seen.position, seen.velocity, seen.effort, late)
        except ClosedLoopError as error:
            self._diagnostics.fault(CHANNEL, str(error))
            return False
        self._diagnostics.clear(CHANNEL)
        return True
