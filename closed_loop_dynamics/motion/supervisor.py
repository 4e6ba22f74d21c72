"""Whether the robot does what it is told, and what follows if not. One state machine, no ROS here.

The rule: *a command is only as good as the last proof that the robot obeyed.* Proof is a fresh
measurement near the reference. Without it the reference stops along its path, then the robot is
damped, then nothing drives it any more; each step with its reason.

    tracking ──> holding         the motion has ended, or the robot was asked to hold
    tracking ──> stopping        no proof, or asked to: the reference comes to rest
    stopping ──> holding         at rest, and the robot is where it should be
    any ──> damping              out of control, an emergency, no proof at rest
    damping ──> off              after a while, if nothing is known of the robot, in an emergency,
                                 or if it is still fast
    off ──> damping ──> holding  where the robot then is: by itself once lost measurements are back,
                                 else when it is asked to resume

``compensating`` is for hands: gravity is compensated, nothing is held. ``impedance`` is for
policies: springs and dampers that somebody commands, for as long as commands come.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from .policy import Facts, Policy


class State(str, Enum):
    """What the controller does."""

    TRACKING = "tracking"
    HOLDING = "holding"
    STOPPING = "stopping"
    COMPENSATING = "compensating"
    IMPEDANCE = "impedance"
    DAMPING = "damping"
    OFF = "off"


class Request(str, Enum):
    """What somebody may ask for."""

    HOLD = "hold"
    STOP = "stop"
    DAMP = "damp"
    EMERGENCY = "emergency"
    RESUME = "resume"
    COMPENSATE = "gravity_compensation"


#: The reason that a request is.
WORDS = {
    Request.HOLD: "asked to hold",
    Request.STOP: "asked to stop",
    Request.DAMP: "asked to damp",
    Request.EMERGENCY: "emergency stop",
    Request.RESUME: "asked to resume",
    Request.COMPENSATE: "asked to compensate gravity only",
}
#: The emergency, as a reason.
EMERGENCY = WORDS[Request.EMERGENCY]
#: Requests that wait for a cycle, at most: more are refused.
MOST_ASKED = 50
#: Why nothing is done before the first cycle, and why the robot is held after it.
UNKNOWN, ACTIVATED = "nobody knows yet where the robot is", "activated"
#: How the reasons begin of a robot that does not follow, or that has not arrived.
OFF_THE_PATH, MISSED = "off the path", "the goal is missed"
#: Share of the speed that is out of control which a damped robot must have come below by then.
HELPED = 0.5
#: A robot that leaves its reference again within this time, and is not calm, is out of control [s].
AGAIN = 1.0
#: In these somebody else leads the robot, while it is known.
LED = frozenset({State.COMPENSATING, State.IMPEDANCE})
#: In these the robot follows a reference; in the others the reference follows the robot.
IN_CONTROL = frozenset({State.TRACKING, State.HOLDING, State.STOPPING})


class Transition(NamedTuple):
    """A step of the machine.

    Attributes:
        reason: one clause, for people.
        anchor: the reference begins anew where the robot is.
        fault: somebody should look at it.
    """

    before: State
    after: State
    reason: str
    anchor: bool = False
    fault: bool = False


def always() -> bool:
    """Of what does not depend on anything."""
    return True


class Supervisor:
    """The state machine. :meth:`update` belongs to the control cycle, :meth:`ask` to anybody.

    Attributes:
        state: what the controller does.
        reason: why.
        fault: somebody should look at that.
        pressed: the emergency stop is pressed; see :meth:`press`.
        resumed: somebody has asked to resume, in the last cycle.
    """

    def __init__(self, policy: Policy, pressed: bool = False) -> None:
        self.policy = policy
        self.pressed = pressed
        self._judges = {
            State.TRACKING: self._tracking,
            State.STOPPING: self._stopping,
            State.HOLDING: self._holding,
            State.COMPENSATING: self._compensating,
            State.IMPEDANCE: self._impedance,
            State.DAMPING: self._damping,
            State.OFF: self._off,
        }
        self.restart()

    def restart(self, reason: str = UNKNOWN) -> None:
        """As after power-on: off, until the first cycle, which holds the robot where it is."""
        self.state, self.reason, self.fault, self.resumed = State.OFF, reason, False, False
        self._latched = ""  # why control is not taken again without being asked
        self._asked: deque[tuple[Request, Callable[[], bool], str]] = deque()
        self._since = self._calm_since = self._over_since = self._astray_since = -math.inf
        self._facts: Facts | None = None

    # -- for anybody ----------------------------------------------------------------------------

    @property
    def closed(self) -> str:
        """Why no motion may begin; empty: it may, or will once the robot is known."""
        if self._facts is None:
            return ""
        if self._latched:
            return f"{self.state.value} ({self._latched}): ask to resume first"
        if self.state in IN_CONTROL and not (self.state is State.STOPPING and self.fault):
            return ""
        return f"{self.state.value}: {self.reason}"

    @property
    def in_charge(self) -> bool:
        """The robot follows a reference, or somebody whom we let."""
        return not self._latched and (self.state in IN_CONTROL or self.state in LED)

    @property
    def waiting(self) -> bool:
        """The robot was lost, and is known again and calm: its drives hold it. Or it will fall."""
        facts = self._facts
        return not self._latched and facts is not None and self.policy.calm(facts)

    @property
    def missed(self) -> str:
        """Which joint is not at its goal by now, or does not stand; empty: none."""
        return "" if self._facts is None else self.policy.missed(self._facts)

    def press(self, pressed: bool) -> None:
        """The emergency stop is pressed, or released: a press counts, however short it is."""
        self.pressed = pressed
        if pressed:
            self.ask(Request.EMERGENCY)

    def ask(
        self, request: Request, still_wanted: Callable[[], bool] = always, why: str = ""
    ) -> str:
        """Ask for another state; why it is refused, or nothing.

        Requests are answered in order, one in each cycle; an emergency comes first.

        Args:
            still_wanted: asked in the cycle that would answer the request.
            why: one clause, in place of the request's own.
        """
        refusal = self._refusal(request)
        if not refusal:
            if request is Request.EMERGENCY:
                self._asked.clear()
            self._asked.append((request, still_wanted, why or WORDS[request]))
        return refusal

    def _refusal(self, request: Request) -> str:
        facts = self._facts
        if request is Request.EMERGENCY:
            return ""
        if len(self._asked) >= MOST_ASKED:
            return f"{MOST_ASKED} other requests wait for a control cycle"
        if self._latched == EMERGENCY and request is not Request.RESUME:
            return self.closed
        # Nothing that is asked for before the next cycle undoes an emergency.
        if self.pressed or any(asked is Request.EMERGENCY for asked, _, _ in self._asked.copy()):
            return "the emergency stop is pressed"
        if request is Request.DAMP:
            return ""
        if facts is None:
            return "no control cycle yet"
        if request in (Request.HOLD, Request.STOP):
            known = self.state in IN_CONTROL or self.state in LED
            return "" if known else f"{self.closed}; resume first"
        if request is Request.COMPENSATE and self._latched and self.state not in IN_CONTROL | LED:
            return self.closed
        if self.policy.lost(facts):
            return "nothing is known of the robot: no fresh actuator_states"
        leaves_it = self.state not in IN_CONTROL or request is Request.COMPENSATE
        if leaves_it and not self.policy.calm(facts):
            return "the robot moves too fast"
        return ""

    # -- the cycle ------------------------------------------------------------------------------

    def update(self, facts: Facts) -> Transition | None:
        """The step that the facts of this cycle, or a request, call for."""
        first, self._facts, self.resumed = self._facts is None, facts, False
        if first:
            self.state, self.reason = State.HOLDING, ACTIVATED
        if self.pressed and self._latched != EMERGENCY:
            self.ask(Request.EMERGENCY)
        if not self.policy.calm(facts):
            self._calm_since = facts.time
        if facts.following:
            self._over_since = facts.time
        asked, still_wanted, why = self._asked.popleft() if self._asked else (None, always, "")
        found = self._answer(asked, why, facts) if asked is not None and still_wanted() else None
        found = found or self._judge(facts)
        if found is None and first:
            found = Transition(State.OFF, State.HOLDING, ACTIVATED)
        if found is not None:
            self.state, self.reason, self.fault = found.after, found.reason, found.fault
            self._since = facts.time
        return found

    def _to(
        self, after: State, reason: str, *, anchor: bool = False, fault: bool = False
    ) -> Transition:
        return Transition(self.state, after, reason, anchor, fault)

    def _answer(self, asked: Request, reason: str, facts: Facts) -> Transition | None:
        if asked is Request.RESUME:
            self._latched, self.resumed = "", True
            if self.state in IN_CONTROL or self.state is State.IMPEDANCE:
                return None
            return self._to(State.HOLDING, reason, anchor=True)
        if asked in (Request.DAMP, Request.EMERGENCY):
            if self._latched == EMERGENCY:
                return None  # there is no more than that
            self._latched = reason
            powerless = self.state is State.OFF and asked is Request.EMERGENCY
            after = State.OFF if powerless else State.DAMPING
            return self._to(after, reason, fault=asked is Request.EMERGENCY)
        if asked is Request.COMPENSATE:
            return self._to(State.COMPENSATING, reason)
        # A motion may have begun in this very cycle.
        moving = self.state is State.TRACKING or (self.state in IN_CONTROL and facts.following)
        if asked is Request.STOP:
            self._latched = reason
            if self.state is State.HOLDING and not moving:
                return self._to(State.HOLDING, reason)
        if moving:
            return self._to(State.STOPPING, reason)
        if self.state in LED:
            return self._to(State.HOLDING, reason, anchor=True)
        return None

    def _judge(self, facts: Facts) -> Transition | None:
        wild = self.policy.wild(facts) if self.state in IN_CONTROL or self.state in LED else ""
        if wild:
            self._latched = f"out of control: speed of {wild}"
            return self._to(State.DAMPING, self._latched, fault=True)
        if self.state in IN_CONTROL and facts.impedance and not self.policy.lost(facts):
            return self._to(State.IMPEDANCE, "impedance commands have come")
        return self._judges[self.state](facts)

    def _tracking(self, facts: Facts) -> Transition | None:
        if self.policy.lost(facts):
            return self._to(State.STOPPING, facts.no_proof, fault=True)
        away = self.policy.away(facts)
        if away:
            return self._astray(State.STOPPING, f"{OFF_THE_PATH}: {away}", facts)
        if facts.interrupted:
            return self._to(State.STOPPING, facts.interrupted, anchor=True, fault=True)
        if facts.following:
            return None
        missed = self.policy.missed(facts)
        if not missed:
            return self._to(State.HOLDING, "the motion has ended")
        if facts.time - self._over_since < self.policy.goal_time:
            return None
        return self._to(State.HOLDING, f"{MISSED}: {missed}", fault=True)

    def _stopping(self, facts: Facts) -> Transition | None:
        if facts.following:
            return self._to(State.TRACKING, "a motion has begun")
        away = self.policy.away(facts)
        if away:  # measurements may have come back elsewhere
            return self._astray(State.STOPPING, f"{OFF_THE_PATH}: {away}", facts)
        if facts.moving:
            return None
        if self.policy.lost(facts):
            return self._to(State.DAMPING, facts.no_proof, fault=True)
        return self._to(State.HOLDING, self.reason)

    def _holding(self, facts: Facts) -> Transition | None:
        if facts.following:
            return self._to(State.TRACKING, "a motion has begun")
        if self.policy.lost(facts):
            return self._to(State.DAMPING, facts.no_proof, fault=True)
        away = self.policy.away(facts)
        if away:
            return self._astray(State.HOLDING, f"moved from outside: {away}", facts)
        return None

    def _astray(self, after: State, reason: str, facts: Facts) -> Transition:
        """The reference begins anew where the robot is, but not after a robot that runs away."""
        again = facts.time - self._astray_since < AGAIN
        self._astray_since = facts.time
        if again and not self.policy.calm(facts):
            self._latched = f"out of control: {reason}, again"
            return self._to(State.DAMPING, self._latched, fault=True)
        return self._to(after, reason, anchor=True, fault=True)

    def _compensating(self, facts: Facts) -> Transition | None:
        if self.policy.lost(facts):
            return self._to(State.DAMPING, facts.no_proof, fault=True)
        return None

    def _impedance(self, facts: Facts) -> Transition | None:
        if self.policy.lost(facts):
            return self._to(State.DAMPING, facts.no_proof, fault=True)
        if not facts.impedance:
            return self._to(State.HOLDING, "impedance commands have ceased", anchor=True)
        return None

    def _damping(self, facts: Facts) -> Transition | None:
        if not self._latched and facts.time - self._calm_since >= self.policy.calm_time:
            return self._to(State.HOLDING, "the robot is known again, and calm", anchor=True)
        if facts.time - self._since < self.policy.damping_time:
            return None
        if self.policy.lost(facts) or self._latched == EMERGENCY:
            return self._to(State.OFF, self.reason, fault=True)
        wild = self.policy.wild(facts, HELPED)
        if wild:  # it may be the damping that drives it
            return self._to(State.OFF, f"damping does not help: speed of {wild}", fault=True)
        return None

    def _off(self, facts: Facts) -> Transition | None:
        if self._latched or self.policy.lost(facts):
            return None
        if not self.policy.calm(facts):
            return self._to(State.DAMPING, "the robot is known again")
        if facts.time - self._calm_since < self.policy.calm_time:
            return None
        return self._to(State.HOLDING, "the robot is known again, and calm", anchor=True)
