"""One cycle of control, from what is known of the robot to efforts. No ROS in here.

The controller is the sum of the room: the execution gives the reference, the supervisor decides
what to do with it, the law makes efforts of it, limits have the last word. It is told of
measurements and asked for one command per period; nothing in it waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError
from ..model.joint_limits import Limits
from ..quantities.state import State as RobotState
from ..robot import Robot
from .clock_steps import NANO
from .efforts import EffortLaw, EffortRate
from .execution import Execution
from .impedance import Impedance
from .knowledge import Knowledge
from .manner import Manner
from .observer import Observation, Observer
from .policy import Facts
from .speed_guard import SpeedGuard
from .supervisor import IN_CONTROL, Request, State, Supervisor, Transition
from .trajectory import Setpoint

#: Damping times delay of the loop, at most: at half a turn of phase (pi / 2) it would push.
MOST_DAMPING = 1.0
#: Who ends brakes the robot for so long at most [s], until it is so slow [rad/s or m/s].
LAST_WORDS, STANDING = 2.0, 0.01


class Command(NamedTuple):
    """What the robot is told in one cycle.

    Attributes:
        setpoint: the reference.
        seen: where the robot was believed to be then; None: unknown.
        state: of the whole robot at the reference.
        efforts: (p,).
        excess: what was beyond the limits of the efforts, if anything.
        unseen: why a measured state was not used, if one was asked for.
        transition: what the supervisor has decided in this cycle, if anything.
        dynamics: time that the robot's equations took [s].
        silent: the efforts are not to be sent: drives with a watchdog take over.
        powerless: the robot is out of hand: efforts of zero are its last ones.
    """

    setpoint: Setpoint
    seen: Observation | None
    state: RobotState
    efforts: Array
    excess: str
    unseen: str
    transition: Transition | None
    dynamics: float
    silent: bool = False
    powerless: bool = False


class Controller:
    """See the module. :meth:`observe` is called between two cycles, and :meth:`cycle` is one.

    Attributes:
        known: what is known of the robot.
        lost_track: what the supervisor has decided in a cycle without a command, if anything.
    """

    def __init__(
        self,
        robot: Robot,
        manner: Manner,
        observer: Observer,
        law: EffortLaw,
        supervisor: Supervisor,
        limits: Limits,
        rate: EffortRate,
        steady: Callable[[], float] = time.monotonic,
        impedance: Impedance | None = None,
    ) -> None:
        self.robot = robot
        self.supervisor = supervisor
        self.manner = manner
        self.execution: Execution
        self.known = Knowledge(observer, manner, supervisor.policy.timeout, steady)
        self._law = law
        self._limits = limits
        self._rate = rate
        self._guard = SpeedGuard(robot, law, rate, manner.period)
        self._steady = steady
        self.impedance = impedance
        self.restart()

    def restart(self) -> None:
        """Forget the past."""
        self.known.forget()
        self._begun = False
        self.lost_track: Transition | None = None
        self._last: Array | None = None
        self._good: RobotState | None = None
        self._rate.begin(None)
        self._law.forget()
        self.supervisor.restart()
        if self.impedance is not None:
            self.impedance.restart()

    def observe(
        self, u: Array, ud: Array | None, tau_u: Array | None = None, late: float = 0.0
    ) -> None:
        """Actuators have been measured, with these efforts; see :meth:`.Knowledge.observe`."""
        believed = self.known.observe(u, ud, late)
        if self._begun or not believed or tau_u is None:
            return
        if self._limits.too_strong(tau_u[None]) is None:  # else they are in another unit
            self._rate.begin(tau_u)

    # -- the cycle ------------------------------------------------------------------------------

    def cycle(self, now_ns: int) -> Command | None:
        """The command of the time ``now_ns``; None: nobody knows yet where the robot is."""
        self.execution.closed = self.supervisor.closed
        setpoint = self.execution.advance(now_ns)
        if setpoint is None:
            self._supervise_blindly(now_ns)
            return None
        self._begun = True
        self.known.pace()
        seen, trust = self.known.now()
        facts = self._facts(self._time(now_ns), setpoint, seen)
        transition = self.supervisor.update(facts)
        if transition is not None:
            setpoint = self._follow_up(transition, setpoint, seen)
        if self.supervisor.resumed:
            self._admit()
        if self.supervisor.state not in IN_CONTROL and seen is not None:
            self.execution.follow(seen.y)
            setpoint = Setpoint(setpoint.time, seen.y, seen.yd, np.zeros_like(seen.yd))
        ahead = self.execution.ahead(setpoint, self.manner.lead)
        began = time.perf_counter()
        state = self._state_at(setpoint)
        efforts, unseen = self._efforts(ahead, seen, trust)
        dynamics = time.perf_counter() - began
        # No more than the URDF allows: a measurement may be wrong, a payload far too heavy.
        within, excess = self._limits.cut_off(efforts)
        self.execution.commanded(setpoint)
        said, silent, powerless = self._said(self._slowed(within, seen, facts.time))
        return Command(
            *(setpoint, seen, state, said, excess, unseen),
            *(transition, dynamics, silent, powerless),
        )

    def _supervise_blindly(self, now_ns: int) -> None:
        """There is no reference any more (time has jumped), and nobody knows where the robot is."""
        self.lost_track = None
        if self._begun:
            why, now = self.execution.interruption(), self._time(now_ns)
            facts = Facts(now, False, False, np.inf, True, None, None, interrupted=why)
            self.lost_track = self.supervisor.update(facts)

    def _time(self, now_ns: int) -> float:
        """For who supervises [s]: lockstep counts no other."""
        return now_ns / NANO if self.manner.timeless else self._steady()

    def _state_at(self, setpoint: Setpoint) -> RobotState:
        """Of the whole robot; where a reference cannot be, the last one that could."""
        try:
            self._good = self.robot.state(setpoint.y, setpoint.yd, setpoint.ydd)
        except ClosedLoopError as error:
            if self._good is None:
                raise
            self._give_up(error)
        return self._good

    def _give_up(self, error: Exception) -> None:
        """Nothing can be computed as it is wanted: the robot is damped from the next cycle on."""
        if self.supervisor.state not in (State.DAMPING, State.OFF):
            self.supervisor.ask(Request.DAMP, why=f"out of reach: {error}")

    def _admit(self) -> None:
        """What was barred may take over again."""
        if self.execution.stream is not None:
            self.execution.stream.admit()
        if self.impedance is not None:
            self.impedance.admit()

    def _said(self, efforts: Array) -> tuple[Array, bool, bool]:
        """The efforts (p,) that follow the last ones; whether they are silent, or powerless.

        Where feedback is wanted and what is known grows old, efforts would rather drive the robot:
        first nothing is said, then they are taken back.
        """
        state = self.supervisor.state
        blind = state in IN_CONTROL and self.known.blind
        lost = blind and self.known.lost
        if blind and not lost:
            return (efforts if self._last is None else self._last), True, False
        self._last = self._rate.limited(np.zeros_like(efforts) if lost else efforts)
        powerless = lost or state in (State.DAMPING, State.OFF)
        return self._last, False, powerless and not self.manner.timeless

    def _facts(self, now: float, setpoint: Setpoint, seen: Observation | None) -> Facts:
        error = None if seen is None else setpoint.y - seen.y
        expected = self.manner.needs_measurement or self.known.newest is not None
        moving = (self.execution.remaining or 0.0) > 0.0
        following = moving and self.execution.following
        speed = None if seen is None else seen.yd
        impedance = self._impedance_wanted(now, seen)
        why, missed = self.execution.interruption(), self.known.missed
        return Facts(now, moving, following, missed, expected, error, speed, impedance, why)

    def _impedance_wanted(self, now: float, seen: Observation | None) -> bool:
        if self.impedance is None:
            return False
        refusal = "" if self.supervisor.state is State.IMPEDANCE else self.supervisor.closed
        if seen is None:
            refusal = refusal or "nothing is known of the robot: no fresh actuator_states"
        return self.impedance.wanted(now, refusal)

    def _follow_up(
        self, transition: Transition, setpoint: Setpoint, seen: Observation | None
    ) -> Setpoint:
        """Let the reference do what the supervisor has decided."""
        if transition.before is State.IMPEDANCE and self.impedance is not None:
            self.impedance.bar(transition.reason)
        if transition.anchor and seen is not None:
            self._law.forget()
            begun = self.execution.begin_anew(seen.y, seen.yd, self.manner.stop_time)
            return begun or setpoint
        if transition.after is State.STOPPING or transition.after not in IN_CONTROL:
            # Whoever follows the reference elsewhere (joint_trajectory_controller) stops as well.
            self.execution.brake(self.manner.stop_time)
        return setpoint

    def _efforts(
        self, setpoint: Setpoint, seen: Observation | None, trust: float
    ) -> tuple[Array, str]:
        state = self.supervisor.state
        try:
            if state in IN_CONTROL:
                return self._law.efforts(setpoint, seen, trust, self.known.delay)
            self._law.forget()
            waits = self.supervisor.waiting or self.known.blind
            if state is State.DAMPING and seen is not None and not waits:
                return self._law.damping(seen, self._damping), ""
            if state is State.COMPENSATING and seen is not None:
                return self._law.compensation(seen, self.manner.compensating), ""
            if state is State.IMPEDANCE and seen is not None and self.impedance is not None:
                return self.impedance.efforts(seen, trust), ""
        except ClosedLoopError as error:
            self._give_up(error)
        return np.zeros(self.robot.p), ""

    def _slowed(self, efforts: Array, seen: Observation | None, now: float) -> Array:
        """(p,) as much of these as leaves no joint too fast, by springs or what they have left."""
        state, known = self.supervisor.state, self.known
        if seen is None or state not in (State.IMPEDANCE, State.HOLDING):
            return efforts
        if state is State.HOLDING and self._guard.needless(seen):
            return efforts
        age = 0.0 if self.manner.timeless else known.age
        acts = max(known.delay - age, self.manner.period)
        try:
            return self._guard.efforts(efforts, seen, now, age, acts, self._damping)
        except ClosedLoopError as error:
            self._give_up(error)
            return np.zeros(self.robot.p)

    @property
    def _damping(self) -> float:
        """What the manner says, or as much as the delay of the loop allows."""
        delay = self.known.delay
        return min(self.manner.damping, MOST_DAMPING / delay) if delay else self.manner.damping

    def last_words(self, measure: Callable[[], None]) -> Iterator[Array]:
        """(p,) efforts to leave the robot with, one per period: it is damped, then let go.

        Args:
            measure: called before each of them, to have the robot observed.
        """
        end = self._steady() + min(self.manner.stop_time, LAST_WORDS)
        powered = self.supervisor.state is not State.OFF and not self.manner.timeless
        while powered and self._steady() < end:
            measure()
            self.known.pace()
            seen, _ = self.known.now()
            if seen is None or (np.abs(seen.yd) < STANDING).all():
                break
            try:
                damping = self._law.damping(seen, self._damping)
            except ClosedLoopError:
                break  # what cannot be damped can be let go of
            yield self._rate.limited(self._limits.cut_off(damping)[0])
        zero = np.zeros(self.robot.p)
        while (efforts := self._rate.limited(zero)).any():
            yield efforts
        yield zero
