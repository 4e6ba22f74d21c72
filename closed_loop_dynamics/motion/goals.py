"""Goals: trajectories whose sender wants to know how they end. No ROS in here.

A goal is pending until its offer takes over, is refused or is dropped. Then it is the current one,
for as long as the supervisor tracks it, and its tolerances are the supervisor's. One that is
stopped ends when the robot is at rest: its sender may then send the next one at once. Each goal
ends exactly once, with an outcome; whoever serves the senders collects those that have ended.

Three threads meet here, as in ``execution``. What they share changes by single atomic steps (of
dicts and deques): the control cycle waits for nobody.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple

from .policy import Policy
from .splice import Offer
from .supervisor import MISSED, OFF_THE_PATH, Request, State, Supervisor, Transition
from .trajectory import TooLate, WrongJoints
from .trajectory_check import Interrupted


class Code(IntEnum):
    """What went wrong, by the numbers of control_msgs/action/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class End(Enum):
    """How a goal ends."""

    SUCCEEDED = "succeeded"
    CANCELED = "canceled"
    ABORTED = "aborted"


class Outcome(NamedTuple):
    """The end of a goal.

    Attributes:
        reason: one clause, for people.
    """

    end: End
    code: Code
    reason: str


@dataclass(eq=False)
class Goal:
    """One goal.

    Attributes:
        offer: its trajectory.
        policy: when the robot counts as disobedient while it is executed.
        canceling: its sender does not want it any more.
        verdict: how it will end, once the robot is at rest.
        outcome: how it ended; None: it has not.
    """

    offer: Offer
    policy: Policy
    canceling: bool = False
    verdict: Outcome | None = None
    outcome: Outcome | None = None


class Goals:
    """Which goal the robot is about, and how the others ended.

    ``add``, ``cancel``, ``insist``, ``ended`` and ``end_all`` are for whoever serves the senders;
    ``end_all`` when no cycle runs. The rest is for the execution to tell and for the cycle.

    Attributes:
        current: the goal that is executed.
    """

    def __init__(self, supervisor: Supervisor) -> None:
        self.current: Goal | None = None
        self._supervisor = supervisor
        self._default = supervisor.policy
        self._pending: dict[Offer, Goal] = {}
        self._beginning: Goal | None = None
        self._ended: deque[Goal] = deque()

    # -- for whoever serves the senders ---------------------------------------------------------

    def add(self, goal: Goal) -> None:
        """A goal, before its trajectory is offered."""
        self._pending[goal.offer] = goal

    def cancel(self, goal: Goal) -> None:
        """Nobody wants this goal any more: if it is executed, come to rest along the path."""
        goal.canceling = True
        if self._pending.pop(goal.offer, None) is not None:
            self._cancel(goal, "canceled before it began")
        else:  # it is about to begin, under way, or over
            self.insist()

    def insist(self) -> None:
        """Ask for rest, if the current goal is canceled; again, as another request may be newer."""
        goal = self.current
        if goal is not None and goal.canceling and self._supervisor.state is State.TRACKING:
            self._supervisor.ask(Request.HOLD, lambda: self.current is goal)

    def ended(self) -> list[Goal]:
        """Those that have ended since the last call."""
        return [self._ended.popleft() for _ in range(len(self._ended))]

    def end_all(self, reason: str) -> None:
        """Nothing is executed any more."""
        goals = [*self._pending.values(), *([] if self.current is None else [self.current])]
        self._pending.clear()
        self._leave()
        for goal in goals:
            self._abort(goal, Code.INVALID_GOAL, reason)

    # -- what the execution tells ---------------------------------------------------------------

    def wants(self, offer: Offer) -> bool:
        """The goal of an offer was not canceled. Beside the cycle."""
        return offer in self._pending

    def check_wanted(self, offer: Offer) -> None:
        """The trajectory of a goal is about to take over; its offer has to ask here.

        Raises:
            Interrupted: its goal was canceled.
        """
        self._beginning = self._pending.pop(offer, None)  # from here on it is too late for that
        if self._beginning is None:
            raise Interrupted

    def refused(self, offer: Offer, error: Exception) -> None:
        """A trajectory must not be executed."""
        code = Code.INVALID_GOAL
        if isinstance(error, WrongJoints):
            code = Code.INVALID_JOINTS
        elif isinstance(error, TooLate):
            code = Code.OLD_HEADER_TIMESTAMP
        self._forget(offer, code, str(error))

    def dropped(self, offer: Offer, reason: str) -> None:
        """A trajectory will not be executed."""
        self._forget(offer, Code.INVALID_GOAL, reason)

    def _forget(self, offer: Offer, code: Code, reason: str) -> None:
        goal = self._take(offer)
        if goal is not None:
            self._abort(goal, code, reason)

    def taken(self, offer: Offer) -> None:
        """A trajectory takes over, a goal's or another one."""
        goal, before = self._take(offer), self.current
        self.current = goal
        self._supervisor.policy = self._default if goal is None else goal.policy
        if before is not None:
            self._abort(before, Code.INVALID_GOAL, "a newer trajectory has taken over")

    def overtaken(self) -> None:
        """A stream of references takes over."""
        self._drop_current("a stream of references has taken over")

    def _take(self, offer: Offer) -> Goal | None:
        """The goal of an offer that begins or will not; None: it has none, or it was canceled."""
        goal = self._beginning
        if goal is not None and goal.offer is offer:
            self._beginning = None
            return goal
        return self._pending.pop(offer, None)

    def time_jumped(self) -> None:
        """The running trajectory is dropped."""
        self._drop_current("time jumped: the trajectory is dropped")

    def _drop_current(self, reason: str) -> None:
        goal = self.current
        self._leave()
        if goal is not None:
            self._abort(goal, Code.INVALID_GOAL, reason)

    # -- the cycle ------------------------------------------------------------------------------

    def cycled(self, transition: Transition | None) -> None:
        """A cycle is over, in which the supervisor may have decided something."""
        goal, state = self.current, self._supervisor.state
        if goal is None or state is State.TRACKING:
            return
        at_rest = state in (State.STOPPING, State.HOLDING)
        if goal.verdict is None or (goal.verdict.end is End.CANCELED and not at_rest):
            goal.verdict = self._judged(goal, transition)
        if state is State.STOPPING:
            self._supervisor.policy = self._default
        else:
            self._leave()
            self._end(goal, goal.verdict)

    def _judged(self, goal: Goal, transition: Transition | None) -> Outcome:
        """How a goal ends that is not tracked any more."""
        state, reason = self._supervisor.state, self._supervisor.reason
        if self._supervisor.fault and transition is not None:
            return Outcome(End.ABORTED, _code(reason), reason)
        if state is State.HOLDING:
            missed = self._supervisor.missed if transition is None else ""  # it was due at once
            if missed:
                return Outcome(End.ABORTED, Code.GOAL_TOLERANCE_VIOLATED, f"{MISSED}: {missed}")
            return Outcome(End.SUCCEEDED, Code.SUCCESSFUL, "the motion has ended")
        if state is State.STOPPING and goal.canceling:
            return Outcome(End.CANCELED, Code.SUCCESSFUL, "canceled: at rest on the path")
        return Outcome(End.ABORTED, Code.INVALID_GOAL, reason)

    def _leave(self) -> None:
        self.current = None
        self._supervisor.policy = self._default

    def _abort(self, goal: Goal, code: Code, reason: str) -> None:
        """It ends without having been executed to its end; as its sender wanted, perhaps."""
        if goal.verdict is not None and goal.verdict.end is End.ABORTED:
            self._end(goal, goal.verdict)
        elif goal.canceling:
            self._cancel(goal, f"canceled: {reason}")
        else:
            self._end(goal, Outcome(End.ABORTED, code, reason))

    def _cancel(self, goal: Goal, reason: str) -> None:
        self._end(goal, Outcome(End.CANCELED, Code.SUCCESSFUL, reason))

    def _end(self, goal: Goal, outcome: Outcome) -> None:
        goal.outcome = outcome
        self._ended.append(goal)


def _code(reason: str) -> Code:
    if reason.startswith(OFF_THE_PATH):
        return Code.PATH_TOLERANCE_VIOLATED
    return Code.GOAL_TOLERANCE_VIOLATED if reason.startswith(MISSED) else Code.INVALID_GOAL
