"""A stream of references, latest wins: each one bends the running motion. No ROS in here.

Each target makes a new motion from the present setpoint, position, velocity and acceleration
included, to the target and on to rest (``stream_motion``). It is examined to its end before it
takes over, as a trajectory is: limits of joints and actuators, reachability, distance from
singularities. What is refused changes nothing: the last good motion goes on, to rest at the last
good target. So does the robot when messages cease.

A stream that something else has taken over from (a trajectory, a stop) stays out until it has
paused for its timeout, or somebody asks to resume: two masters would tear at the robot.

Trajectories of a single point in the near future are how servoing nodes stream: see :meth:`takes`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .braking import Braking
from .stream_motion import StreamLimits, fastest, library, smooth
from .stream_target import Reference, Target, Targets
from .trajectory import Points, Setpoint, Spline, TrajectoryRefused
from .trajectory_check import Checker

#: Horizon of the fastest streams, and time between two looks at them [s].
SHORTEST, EVERY = 0.06, 0.004
#: Time after a refusal in which nothing is examined: a hopeless stream must not cost every cycle.
PAUSE = 0.02
#: How long it is said why a stream has ended [s].
REMEMBERED = 5.0
#: Samples of a way that are examined.
FEWEST, MOST = 6, 30


@dataclass(frozen=True)
class StreamManner:
    """How a stream is followed.

    Attributes:
        acceleration_time: from rest to the speed limit of the URDF [s]; longer is gentler.
        jerk_time: from no to full acceleration [s].
        timeout: without a message for so long it comes to rest [s].
        stop_time: and does so within this [s].
    """

    acceleration_time: float = 0.3
    jerk_time: float = 0.05
    timeout: float = 0.2
    stop_time: float = 0.3


class Stream:
    """:meth:`advance` and :meth:`bar` belong to the control cycle, the rest to anybody.

    Attributes:
        streaming: the running motion is that of a stream.
        reason: why it is not, or not all of it; empty: all is well.
        unusable: why nothing can be streamed at all.
    """

    def __init__(self, checker: Checker, manner: StreamManner) -> None:
        self._checker = checker
        self._manner = manner
        self._limits = StreamLimits.of(
            checker.independent, manner.acceleration_time, manner.jerk_time
        )
        self.unusable = self._why_unusable()
        self.restart()

    def _why_unusable(self) -> str:
        if library() is None:
            return "no streaming without the package ruckig: pip install ruckig"
        endless = np.flatnonzero(~np.isfinite(self._limits.speed))
        if len(endless):
            name = self._checker.independent.names[int(endless[0])]
            return f"joint '{name}' has no speed limit in the URDF, without which nothing streams"
        return ""

    def restart(self) -> None:
        """Forget everything; time begins anew, too."""
        self._news: deque[Reference] = deque(maxlen=1000)
        self._targets = Targets(SHORTEST, self._limits.jerk)
        self._target: Target | None = None
        self._heard = self._not_before = self._pointed = -np.inf
        self._barred = ""
        self.streaming = False
        self.reason = ""

    # -- for anybody ----------------------------------------------------------------------------

    def push(self, reference: Reference) -> None:
        """A message has come."""
        self._news.append(reference)

    def takes(self, points: Points, ahead: float, running: Setpoint | None) -> bool:
        """Take a trajectory as a message of a stream, if it is meant as one.

        It is if its only point is due within the timeout, and near: who wants to go far has to say
        how long that may take. But who repeats it within the timeout means it.

        Args:
            ahead: time to its end [s].
            running: the setpoint of the running motion.
        """
        known = running is not None and not self.unusable and points.efforts is None
        if not known or len(points.times) != 1 or abs(ahead) > self._manner.timeout:
            return False
        assert running is not None
        due, y, yd = max(ahead, 0.0), points.positions[0], points.velocities[0]
        near = self._checker.rules.max_start_jump + due * self._limits.speed
        again = running.time - self._pointed <= self._manner.timeout
        self._pointed = running.time
        if not again and (np.abs(y - running.y) > near).any():
            return False
        self.push(Reference(y, yd if np.isfinite(yd).all() else None, due))
        return True

    def admit(self) -> None:
        """A stream that is barred may take over again."""
        self._barred = ""

    # -- the cycle ------------------------------------------------------------------------------

    @property
    def begins(self) -> bool:
        """Messages have come, and nothing streams yet."""
        return bool(self._news) and not self.streaming

    def bar(self, by: str) -> None:
        """Something else moves the robot: a stream has to pause before it may take over."""
        self._barred = f"{by}; pause for {self._manner.timeout:g} s, or ask to resume"
        self._target = None
        self.streaming = False

    def advance(self, running: Setpoint, spline: Spline) -> Spline | None:
        """The motion that takes over from the running one in this cycle, if there is any."""
        now = running.time
        self._listen(now)
        silence = now - self._heard
        if self.streaming and silence > self._manner.timeout:
            self.streaming = False
            if spline.end > now:
                self.reason = f"no message for {self._manner.timeout:g} s: comes to rest"
                return Braking(spline, now, self._manner.stop_time)
        elif silence > REMEMBERED:
            self.reason = ""
        target = self._target
        if target is None or now < self._not_before:
            return None
        self._target = None
        try:
            found = self._motion(running, target.later(now - self._heard))
        except TrajectoryRefused as error:
            self.reason = str(error)
            self._not_before = now + PAUSE
            return None
        self.streaming, self.reason = True, ""
        self._not_before = now + EVERY
        return found

    def _listen(self, now: float) -> None:
        """Make a target of the messages that have come since the last cycle."""
        news = [self._news.popleft() for _ in range(len(self._news))]
        if not news:
            return
        if now - self._heard > self._manner.timeout:
            self._targets.restart()
            self._barred = ""
        self._heard = now
        self._target = self._targets.add(now, news)
        if self._barred:
            self._target, self.reason = None, self._barred

    def _motion(self, running: Setpoint, target: Target) -> Spline:
        """The best way that bears examination.

        Raises:
            TrajectoryRefused: none does; the text is about the gentlest one.
        """
        found = smooth(running, target, self._limits)
        if found is not None:
            try:
                return self._examined(found)
            except TrajectoryRefused:
                pass  # another way there may be possible
        refusal = TrajectoryRefused("no way there")
        for way in fastest(running, target.y, self._limits):
            try:
                return self._examined(way)
            except TrajectoryRefused as error:
                refusal = error
        raise refusal

    def _examined(self, way: Spline) -> Spline:
        begin, duration = way.start, way.end - way.start
        count = int(np.clip(duration / self._checker.rules.period, FEWEST, MOST))
        times: Array = np.linspace(begin, way.end, count + 1)
        self._checker.table(way, times)
        return way
