"""What is told of motions to whoever follows them, beside the control cycle. No ROS in here.

Who follows a motion by the clock (joint_trajectory_controller) must hear of it before it begins:
what is told late has to be caught up with, at any speed. So a motion begins a little later than it
could, and one that could not be told in time begins later still (:meth:`Telling.put_off`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError
from .braking import Braking
from .handover import Handover
from .splice import Accepted, Splice, splice
from .trajectory import Spline
from .trajectory_check import ActuatorTable, Checker

#: How long before it begins a motion is told to who follows it [s]; half of it is soon enough.
TOLD_AHEAD = 0.1
#: The same at most, for a node that is slow to tell [s].
MOST_AHEAD = 2.0
#: Time between the points of a way to rest [s].
TOLD_POINTS = 0.02
#: Why a motion ends that nobody could be told of.
UNTOLD = "who follows it could not be told of it in time"


class Listener(Protocol):
    """Who is told."""

    def accepted(self, accepted: Accepted) -> None:
        """A trajectory takes over, with all that there is to say about it. Beside the cycle."""

    def diverted(self, begin: int, table: ActuatorTable) -> None:
        """From ``begin`` [ns] on it goes on to rest so, stopped or bent. Beside the cycle."""


class Telling:
    """Tells of motions; :meth:`put_off` and :meth:`restart` are for the cycle.

    Args:
        period: of the control cycle [s].
        now: the time of the motion [s].
        stamp: makes times of the clock [ns] of those of the motion.
        ahead: how long before they begin motions are told [s]; 0: nobody follows them.
    """

    def __init__(
        self,
        checker: Checker,
        listener: Listener,
        period: float,
        now: Callable[[], float],
        stamp: Callable[[float], int],
        ahead: float,
    ) -> None:
        self._checker, self._listener, self._period = checker, listener, period
        self._now, self._stamp, self._ahead = now, stamp, ahead
        self.restart()

    def restart(self) -> None:
        """Forget everything."""
        self._instead: deque[tuple[Spline, Spline | None]] = deque()

    def put_off(self, running: Spline) -> tuple[Spline, str]:
        """The running motion, later if it was told too late; why it ends, if it does."""
        while self._instead:
            motion, instead = self._instead.popleft()
            if running is not motion:
                continue  # something else has taken over since, and is told by itself
            if instead is None:
                return (motion.before if isinstance(motion, Handover) else motion), UNTOLD
            running = instead
        return running, ""

    # -- beside the cycle -----------------------------------------------------------------------

    def accepted(self, found: Splice) -> None:
        """A trajectory that has taken over."""
        self._listener.accepted(found.accepted(self._checker, self._stamp(found.time)))

    def accepted_ahead(self, motion: Handover) -> None:
        """One that is about to."""
        told, ahead = motion, self._ahead
        try:
            while self._too_late(told.found.time):
                now, ahead = self._now(), min(2.0 * ahead, MOST_AHEAD)
                before = told.before.sample(now + ahead)
                found = splice(told.found.candidate, before, self._checker, self._period)
                told = Handover(told.before, found, now)
        except ClosedLoopError:
            self._instead.append((motion, None))
            return
        if told is not motion:
            self._instead.append((motion, told))
        self.accepted(told.found)

    def diverted(self, spline: Spline) -> None:
        """The motion goes on so."""
        if self._ahead and isinstance(spline, Braking) and self._too_late(spline.start):
            late, spline = spline, spline.begun(self._now() + self._ahead)
            self._instead.append((late, spline))
        begin = spline.start
        end = max(spline.end, begin + 2 * TOLD_POINTS)  # times increase at rest, too
        times = np.linspace(begin, end, max(3, round((end - begin) / TOLD_POINTS)))
        self._tell(spline, begin, times)

    def anchored(self, spline: Spline, rest: float) -> None:
        """The robot is elsewhere: to rest from there, until the time ``rest`` [s].

        Only the end is told. Who follows may know better where the robot is, or take until then to
        come there, but must not leap.
        """
        self._tell(spline, spline.start, np.array([rest]))

    def _tell(self, spline: Spline, begin: float, times: Array) -> None:
        try:
            table = self._checker.mapped(spline, times)
        except ClosedLoopError:
            return  # nowhere that loops close: efforts alone have to do
        self._listener.diverted(self._stamp(begin), table.later(-begin))

    def _too_late(self, begin: float) -> bool:
        """Who follows would hardly hear in time of what begins then [s]."""
        return self._now() > begin - 0.5 * self._ahead
