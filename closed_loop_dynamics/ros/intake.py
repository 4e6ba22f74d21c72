"""What the feedforward node does with trajectories that come: from a message to a motion that runs.

Each is examined on its own, beside the cycle; what is good is spliced in by the cycle, which leads
in from the running motion to the next point ahead, so that nothing jumps however long the
examination took.

Times are seconds since ``epoch``, the node's first cycle: as seconds since 1970 a double could not
tell points apart that are a fraction of a microsecond from each other.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ..errors import ClosedLoopError
from ..motion.admission import Admission, Interrupted
from ..motion.task_trajectory import TaskCommands
from ..motion.trajectory import LEAD_IN, PER_SEGMENT, Motion, Points, Spline, TrajectoryRefused
from ..motion.trajectory_check import ActuatorTable, Checker
from .conversions import NANO, nanoseconds, points_from, trajectory_message

#: A message, and the task space whose coordinates its columns are; None: independent joints.
Incoming = tuple[JointTrajectory, TaskCommands | None]
#: A trajectory that starts from the running command, within these, needs no lead-in.
SAME_POSITION, SAME_VELOCITY = 1e-9, 1e-6


@dataclass(frozen=True, eq=False)
class Candidate:
    """A trajectory whose own points and segments are good.

    Attributes:
        points, task: what it says, in coordinates of what (see :data:`Incoming`).
        start: time that the times of its points count from [s]; None: when it is spliced in.
        table: its motion in actuator space; without a start, times count from 0.
    """

    points: Points
    task: TaskCommands | None
    start: float | None
    table: ActuatorTable

    def spline(self, points: Points, start: float, before: Motion | None) -> Spline:
        """A motion through ``points``."""
        if self.task is None:
            return Spline(points, start, before)
        return self.task.spline(points, start, before)


class Intake:
    """Examines trajectories for a node and splices them in.

    Args:
        node: whose clock, logger and diagnostics are used.
        period: of the control cycle [s].
        publish: called with the mapped trajectory of each that is accepted.
        at_once: examine within the cycle (lockstep: simulated time waits for us).
    """

    def __init__(
        self,
        node: Any,
        checker: Checker,
        period: float,
        publish: Callable[[JointTrajectory], None],
        at_once: bool,
    ) -> None:
        self.epoch = 0
        self._node = node
        self._checker = checker
        self._period = period
        self._publish = publish
        self.admission: Admission[Incoming, Candidate] = Admission(self, not at_once)

    # -- time -----------------------------------------------------------------------------------

    def seconds(self, nanosec: int) -> float:
        """A time of the node's clock, since the epoch."""
        return (nanosec - self.epoch) / NANO

    # -- examination, beside the cycle ----------------------------------------------------------

    def examine(self, incoming: Incoming, wanted: Callable[[], bool]) -> Candidate:
        """The motion of the points, without the way to the first of them."""
        message, task = incoming
        names = self._checker.robot.names.independent if task is None else task.task.axes
        points = points_from(message, names)
        self._checker.check_points(points, names)
        stamp = nanoseconds(message.header.stamp)
        start = self.seconds(stamp) if stamp else None
        own = Spline(points, start or 0.0) if task is None else task.spline(points, start or 0.0)
        begin = own.times[0]
        if start is not None:  # what is over need not be possible
            begin = max(begin, self.seconds(self._node.get_clock().now().nanoseconds))
        table = self._checker.check(own, float(begin), wanted=wanted)
        if not wanted():
            raise Interrupted
        return Candidate(points, task, start, table)

    def refuse(self, error: Exception) -> None:
        """Say why; the running motion goes on."""
        if not isinstance(error, ClosedLoopError):
            self._node.get_logger().error("".join(traceback.format_exception(error)))
        self._node.diagnostics.fault("trajectory", str(error), at_once=True)

    # -- splicing, in the cycle -----------------------------------------------------------------

    def splice(self, running: Motion) -> Spline | None:
        """The motion that takes over from ``running`` at its time, if there is one."""
        candidate = self.admission.take()
        if candidate is None:
            return None
        try:
            spline, leads_in = self._lead_in(candidate, running)
        except Exception as error:
            self.refuse(error)
            return None
        self._node.diagnostics.clear("trajectory")
        self.admission.later(self._announce, candidate, spline, leads_in, running.time)
        return spline

    def _lead_in(self, candidate: Candidate, running: Motion) -> tuple[Spline, bool]:
        """The motion from the running one to the next point ahead and on; does it lead in?"""
        now, points = running.time, candidate.points
        start = now if candidate.start is None else candidate.start
        times = start + points.times
        if times[-1] < now:
            raise TrajectoryRefused(f"it ended {now - times[-1]:.3g} s ago")
        ahead = int(np.searchsorted(times, now, side="right"))
        if ahead > 0:
            own = candidate.spline(points, start, None)
            here = own.sample(now)
            self._checker.check_jump(here.y, running.y)
            if ahead == len(points.times):
                self._checker.check_step(here.y - running.y, self._period)
            if ahead == len(points.times) or _same(here, running):
                return own, False
            points = points.after(ahead)
        spline = candidate.spline(points, start, running)
        self._checker.table(spline, spline.first_segment(self._checker.rules.period, LEAD_IN))
        return spline, True

    def _announce(self, candidate: Candidate, spline: Spline, leads_in: bool, now: float) -> None:
        first = np.array([now])
        if leads_in:
            first = spline.first_segment(self._checker.rules.period, PER_SEGMENT)
        lead = self._checker.mapped(spline, first)
        shift = now if candidate.start is None else 0.0
        table = lead.followed_by(candidate.table.later(shift))
        mapped = trajectory_message(
            self._checker.robot.names.actuator,
            self.epoch + round(now * NANO),
            table.times - now,
            table.u,
            table.ud,
            table.udd,
            table.tau,
        )
        self._publish(mapped)
        self._node.get_logger().info(
            f"trajectory accepted: {len(candidate.points.times)} points, {len(table.times)} "
            f"samples, ends in {spline.end - now:.3f} s"
        )


def _same(a: Motion, b: Motion) -> bool:
    return bool(
        np.abs(a.y - b.y).max() <= SAME_POSITION and np.abs(a.yd - b.yd).max() <= SAME_VELOCITY
    )
