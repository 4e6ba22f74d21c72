"""What the feedforward node does with trajectories that come: from a message to a motion that runs.

Times are seconds since ``epoch``, the node's first cycle: as seconds since 1970 a double could not
tell points apart that are a fraction of a microsecond from each other.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from trajectory_msgs.msg import JointTrajectory

from ..errors import ClosedLoopError
from .admission import Admission
from .conversions import NANO, nanoseconds, points_from, trajectory_message
from .task_trajectory import TaskCommands
from .trajectory import Motion, Spline
from .trajectory_check import Checker

#: A message, and the task space whose coordinates its columns are; None: independent joints.
Incoming = tuple[JointTrajectory, TaskCommands | None]


class Intake:
    """Checks trajectories for a node and hands them over when their time comes.

    Args:
        node: whose clock, logger and diagnostics are used.
        running: the running motion at a time [s].
        publish: called with the mapped trajectory of each that is accepted.
        at_once: check within the cycle (lockstep: simulated time waits for us).
    """

    def __init__(
        self,
        node: Any,
        checker: Checker,
        running: Callable[[float], Motion],
        publish: Callable[[JointTrajectory], None],
        at_once: bool,
    ) -> None:
        self.epoch = 0
        self._node = node
        self._checker = checker
        self._running = running
        self._publish = publish
        self.admission: Admission[Incoming, JointTrajectory] = Admission(self, not at_once)

    # -- time -----------------------------------------------------------------------------------

    def seconds(self, nanosec: int) -> float:
        """A time of the node's clock, since the epoch."""
        return (nanosec - self.epoch) / NANO

    def clock(self) -> float:
        """Now."""
        return self.seconds(self._node.get_clock().now().nanoseconds)

    # -- the judge of the admission -------------------------------------------------------------

    def lead_in(self, incoming: Incoming, begin: float) -> Spline:
        """The motion that takes over from the running one at ``begin``."""
        message, task = incoming
        names = self._checker.robot.names.independent if task is None else task.task.axes
        points = points_from(message, names)
        self._checker.check_points(points, names)
        stamp = nanoseconds(message.header.stamp)
        start = self.seconds(stamp) if stamp else begin
        before = self._running(begin)
        if task is None:
            return Spline(points, start, before)
        return task.spline(points, start, before)

    def size(self, spline: Spline) -> int:
        """Samples that a check looks at."""
        return len(spline.grid(self._checker.rules.period))

    def check(self, spline: Spline, begin: float, wanted: Callable[[], bool]) -> JointTrajectory:
        """The motion in actuator space."""
        table = self._checker.check(spline, begin, self._running(begin).y, wanted)
        first = float(table.times[0])
        return trajectory_message(
            self._checker.robot.names.actuator,
            self.epoch + round(first * NANO),
            table.times - first,
            table.u,
            table.ud,
            table.udd,
            table.tau,
        )

    def announce(self, spline: Spline, begin: float, mapped: JointTrajectory) -> None:
        """Tell everybody."""
        self._node.diagnostics.clear("trajectory")
        self._publish(mapped)
        self._node.get_logger().info(
            f"trajectory accepted: {len(spline.times)} points, {len(mapped.points)} samples, ends "
            f"in {spline.end - begin:.3f} s"
        )

    def refuse(self, error: Exception) -> None:
        """Say why; the running motion goes on."""
        if not isinstance(error, ClosedLoopError):
            self._node.get_logger().error("".join(traceback.format_exception(error)))
        self._node.diagnostics.fault("trajectory", str(error), every=0.0)
