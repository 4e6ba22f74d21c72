"""From a trajectory that is offered to a spline that takes over from the running one. No ROS here.

Two steps that remember nothing: :func:`examine` beside the control cycle, which may take seconds,
then :func:`splice` within it, which leads in from the running motion to the next point ahead, so
that nothing jumps however long the examination took. ``execution`` decides when.

Times are seconds since an epoch near the present: as seconds since 1970 a double could not tell
points apart that are a fraction of a microsecond from each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .task_trajectory import TaskCommands
from .trajectory import LEAD_IN, PER_SEGMENT, Points, Setpoint, Spline, TooLate
from .trajectory_check import ActuatorTable, Checker, Interrupted

#: A trajectory that starts from the running command, within these, needs no lead-in.
SAME_POSITION, SAME_VELOCITY = 1e-9, 1e-6


def once(read: Callable[[], Points]) -> Callable[[], Points]:
    """The same, read once: what it was read from need not be kept for a second chance."""
    found: list[Points] = []
    sources = [read]

    def again() -> Points:
        if not found:
            found.append(sources[0]())
            sources.clear()
        return found[0]

    return again


@dataclass(frozen=True, eq=False)
class Offer:
    """A trajectory that somebody wants to be executed.

    Attributes:
        read: gives its points, or raises TrajectoryRefused. Called beside the cycle, because
            reading a long message takes long; once more for each second chance.
        stamp: time that the times of its points count from [ns]; 0: when it is spliced in.
        task: the task space whose coordinates its columns are; None: independent joints.
        wanted: somebody still wants it. Called beside the cycle.
        begins: called in the cycle, with the running motion, when it is about to take over.
            Raises TrajectoryRefused: it must not. Interrupted: nobody wants it any more.
    """

    read: Callable[[], Points]
    stamp: int = 0
    task: TaskCommands | None = None
    wanted: Callable[[], bool] = lambda: True
    begins: Callable[[Setpoint], None] = lambda running: None

    def spline(self, points: Points, start: float, before: Setpoint | None = None) -> Spline:
        """A motion through ``points``, of the platform or of the joints."""
        if self.task is None:
            return Spline(points, start, before)
        return self.task.spline(points, start, before)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A trajectory whose own points and segments are good.

    Attributes:
        offer: who it was.
        points: what it says.
        start: time that the times of its points count from [s]; None: when it is spliced in.
        table: its motion in actuator space; without a start, times count from 0.
    """

    offer: Offer
    points: Points
    start: float | None
    table: ActuatorTable

    def not_after_its_end(self, now: float, at: float) -> float:
        """``at``, but not after its last point, if that is known; not before ``now`` [s]."""
        return at if self.start is None else max(now, min(at, self.start + self.points.times[-1]))


@dataclass(frozen=True, eq=False)
class Accepted:
    """A trajectory that has taken over, as a whole.

    Attributes:
        offer: who it was.
        begin: when it took over [ns].
        table: its motion in actuator space, lead-in included; times count from ``begin`` [s].
        points: how many it has.
        duration: from ``begin`` to its end [s].
    """

    offer: Offer
    begin: int
    table: ActuatorTable
    points: int
    duration: float


@dataclass(frozen=True, eq=False)
class Splice:
    """A candidate as it takes over.

    Attributes:
        candidate: what takes over.
        spline: the motion from then on.
        time: when it takes over [s].
        leads_in: the first segment comes from the running motion.
    """

    candidate: Candidate
    spline: Spline
    time: float
    leads_in: bool

    def accepted(self, checker: Checker, begin: int) -> Accepted:
        """All that there is to say about it; it takes over at ``begin`` [ns]."""
        first = np.array([self.time])
        if self.leads_in:
            first = self.spline.first_segment(checker.rules.period, PER_SEGMENT)
        shift = self.time if self.candidate.start is None else 0.0
        table = checker.mapped(self.spline, first).followed_by(self.candidate.table.later(shift))
        return Accepted(
            self.candidate.offer,
            begin,
            table.later(-self.time),
            len(self.candidate.points.times),
            self.spline.end - self.time,
        )


def examine(
    offer: Offer,
    checker: Checker,
    seconds: Callable[[int], float],
    clock: Callable[[], int],
    wanted: Callable[[], bool],
) -> Candidate:
    """The motion of the points, without the way to the first of them.

    Args:
        seconds: makes times since the epoch [s] of times of the clock [ns].
        clock: the present time [ns].
        wanted: asked now and then; once it says False nobody waits for the answer any more.

    Raises:
        TrajectoryRefused: it must not be executed.
        Interrupted: it is not wanted any more.
    """
    points = offer.read()
    checker.check_points(points, None if offer.task is None else offer.task.task.axes)
    start = seconds(offer.stamp) if offer.stamp else None
    own = offer.spline(points, start or 0.0)
    begin = float(own.times[0])
    if start is not None:  # what is over need not be possible
        begin = max(begin, seconds(clock()))
    table = checker.check(own, begin, wanted=wanted)
    if not wanted():
        raise Interrupted
    return Candidate(offer, points, start, table)


def splice(candidate: Candidate, running: Setpoint, checker: Checker, period: float) -> Splice:
    """The motion from the running one to the next point ahead and on.

    Args:
        running: the setpoint at the time when the candidate takes over.
        period: of the control cycle [s].

    Raises:
        TrajectoryRefused: it is over, starts too far away, or the way to it is not possible.
    """
    now, points = running.time, candidate.points
    start = now if candidate.start is None else candidate.start
    times = start + points.times
    if times[-1] < now:
        raise TooLate(f"it ended {now - times[-1]:.3g} s ago")
    ahead = int(np.searchsorted(times, now, side="right"))
    if ahead > 0:
        own = candidate.offer.spline(points, start)
        here = own.sample(now)
        checker.check_jump(here.y, running.y)
        if ahead == len(points.times):
            checker.check_step(here.y - running.y, period)
        if ahead == len(points.times) or _same(here, running):
            return Splice(candidate, own, now, leads_in=False)
        points = points.after(ahead)
    spline = candidate.offer.spline(points, start, running)
    checker.table(spline, spline.first_segment(checker.rules.period, LEAD_IN))
    return Splice(candidate, spline, now, leads_in=True)


def _same(a: Setpoint, b: Setpoint) -> bool:
    return bool(
        np.abs(a.y - b.y).max() <= SAME_POSITION and np.abs(a.yd - b.yd).max() <= SAME_VELOCITY
    )
