"""What is told of motions to whoever follows them, beside the control cycle. No ROS in here.

Who follows a motion by the clock (joint_trajectory_controller) must hear of it before it begins:
what is told late has to be caught up with, at any speed. So what a motion does next is settled
here, when it is told: it begins a little later than it could, and until then the one before goes
on (``motion/handover``). Who only listens hears of it as it happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError
from .braking import Braking
from .handover import Handover
from .splice import Accepted, Offer, Splice, splice
from .trajectory import Spline
from .trajectory_check import ActuatorTable, Checker

#: How long before it begins a motion is told to who follows it [s]; half of it is soon enough,
#: but for the time that a message takes for each of its samples.
TOLD_AHEAD, PER_SAMPLE = 0.1, 2e-5
#: The same at most, for a node that is slow to tell [s].
MOST_AHEAD = 4.0
#: Time between the points of a way to rest [s].
TOLD_POINTS = 0.02
#: Why a motion ends that nobody could be told of.
UNTOLD = "who follows it could not be told of it in time"

#: Says what was made ready; takes next to no time.
Saying: TypeAlias = Callable[[], None]
#: When that is too late [s], and what it is; the next ones begin later.
Attempts: TypeAlias = Iterator[tuple[float, Saying]]


class Listener(Protocol):
    """Who is told."""

    def accepted(self, accepted: Accepted) -> Saying:
        """A trajectory takes over, with all that there is to say about it. Beside the cycle."""

    def diverted(self, begin: int, table: ActuatorTable) -> Saying:
        """From ``begin`` [ns] on it goes on to rest so, stopped or bent. Beside the cycle."""

    def refused(self, offer: Offer | None, error: Exception) -> None:
        """Something could not be told. Beside the cycle."""


class Telling:
    """Tells of motions, beside the cycle, but for :meth:`restart` and what is :attr:`begun`.

    Attributes:
        begun: what is asked for now; what was asked for before a jump of time is not told.

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
        """Time begins anew: what waits to be told has no meaning any more."""
        self.begun = object()

    def tell(self, begun: object, work: Callable[..., None], *arguments: Any) -> None:
        """Do one of the following, if time has not jumped since it was asked for."""
        if begun is self.begun:
            try:
                work(*arguments)
            except Exception as error:  # nobody waits for the thread that this is in
                self._listener.refused(None, error)

    def accepted(self, found: Splice) -> None:
        """A trajectory that has taken over."""
        self._taking_over(found)()

    def accepted_ahead(self, motion: Handover) -> None:
        """One that takes over when it was told; later than planned, if need be."""
        try:
            self._say(self._handed_over(motion))
            motion.told = True
        except Exception as error:
            try:
                self.diverted(motion.before)  # it may have been said, too late
            finally:
                motion.interrupted = UNTOLD
            if not isinstance(error, ClosedLoopError):
                raise

    def diverted(self, spline: Spline) -> None:
        """The motion goes on so; a way to rest that somebody follows begins when it is told."""
        if isinstance(spline, Braking) and spline.waits:
            self._say(self._braked(spline))
        else:
            self._say(iter([(np.inf, self._along(spline))]))

    def anchored(self, spline: Spline, duration: float) -> None:
        """The robot is elsewhere: to rest from there, within ``duration`` [s].

        Only the end is told. Who follows may know better where the robot is, or take until then to
        come there, but must not leap.
        """
        self._say(self._left(spline, duration))

    # -- in time --------------------------------------------------------------------------------

    def _say(self, attempts: Attempts) -> None:
        """Say the first of these that is ready in time, and was said in time.

        A process may be stopped between any two lines. What it said too late is replaced.
        """
        for latest, say in attempts:
            if not self._ahead:
                return say()
            if self._now() <= latest:
                say()
                if self._now() <= latest:
                    return

    def _handed_over(self, motion: Handover) -> Attempts:
        ahead = self._ahead
        while True:
            slack = 0.5 * self._ahead + PER_SAMPLE * len(motion.found.candidate.table.times)
            yield motion.found.time - slack, self._taking_over(motion.found)
            now, ahead = self._now(), min(2.0 * (ahead + slack), MOST_AHEAD)
            before = motion.before.sample(now + ahead)
            motion.found = splice(motion.found.candidate, before, self._checker, self._period)

    def _braked(self, spline: Braking) -> Attempts:
        """The cycle goes on along the path until this is said."""

        def settled(begin: float, say: Saying) -> None:
            say()
            spline.begin_at(begin)

        for ahead in self._longer():
            way = spline.beginning(self._now() + ahead)
            yield way.start - 0.5 * ahead, partial(settled, way.start, self._along(way))

    def _left(self, spline: Spline, duration: float) -> Attempts:
        for ahead in self._longer():
            begin = max(spline.start, self._now())
            end = np.array([max(spline.end, begin + duration)])
            yield begin + 0.5 * ahead, self._table(spline, begin, end)

    def _longer(self) -> Iterator[float]:
        """How long ahead [s]: for a node that is slow."""
        ahead = self._ahead
        while True:
            yield ahead
            ahead = min(2.0 * ahead, MOST_AHEAD)

    # -- what is said ---------------------------------------------------------------------------

    def _taking_over(self, found: Splice) -> Saying:
        return self._listener.accepted(found.accepted(self._checker, self._stamp(found.time)))

    def _along(self, spline: Spline) -> Saying:
        begin = spline.start
        end = max(spline.end, begin + 2 * TOLD_POINTS)  # times increase at rest, too
        times = np.linspace(begin, end, max(3, round((end - begin) / TOLD_POINTS)))
        return self._table(spline, begin, times)

    def _table(self, spline: Spline, begin: float, times: Array) -> Saying:
        try:
            table = self._checker.mapped(spline, times)
        except ClosedLoopError:
            return lambda: None  # nowhere that loops close: efforts alone have to do
        return self._listener.diverted(self._stamp(begin), table.later(-begin))
