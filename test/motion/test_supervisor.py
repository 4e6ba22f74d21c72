"""The state machine by itself: facts in, transitions out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from closed_loop_dynamics.motion.policy import Facts, Policy
from closed_loop_dynamics.motion.supervisor import (
    ACTIVATED,
    AGAIN,
    HELPED,
    UNKNOWN,
    Request,
    State,
    Supervisor,
    Transition,
)

NAMES = ("hip", "knee")
POLICY = Policy(
    NAMES,
    path=np.array([0.2, 0.2]),
    goal=np.array([0.01, np.inf]),
    fastest=np.array([3.0, 4.0]),
    goal_time=0.5,
    timeout=0.1,
    damping_time=1.0,
    calm_time=0.2,
)
REST = np.zeros(2)
PERIOD = 0.01
ASKED = (Request.HOLD, Request.STOP, Request.DAMP, Request.RESUME, Request.COMPENSATE)


class Story:
    """A supervisor that is told one set of facts after the other."""

    def __init__(self, policy: Policy = POLICY) -> None:
        self.supervisor = Supervisor(policy)
        self.time = 0.0
        self.steps: list[Transition] = []

    def goes_on(self, seconds: float = PERIOD, **facts: Any) -> State:
        """For so long, so; without facts a robot rests where it should."""
        lost = facts.pop("lost", False)
        for _ in range(max(1, round(seconds / PERIOD))):
            self.time += PERIOD
            told = {
                "moving": False,
                "following": False,
                "age": np.inf if lost else 0.0,
                "expected": True,
                "error": None if lost else REST,
                "speed": None if lost else REST,
                **facts,
            }
            step = self.supervisor.update(Facts(self.time, **told))
            if step is not None and step.reason != ACTIVATED:
                self.steps.append(step)
        return self.supervisor.state

    def moves(self, seconds: float = PERIOD, **facts: Any) -> State:
        return self.goes_on(seconds, **{"moving": True, "following": True, **facts})

    @property
    def went(self) -> list[str]:
        return [step.after.value for step in self.steps]


def test_nothing_is_held_before_somebody_knows_where_the_robot_is() -> None:
    story = Story()
    assert story.supervisor.state is State.OFF and story.supervisor.reason == UNKNOWN
    assert not story.supervisor.closed  # a motion may wait for that
    assert story.supervisor.ask(Request.HOLD) == "no control cycle yet"
    step = story.supervisor.update(Facts(0.0, False, False, 0.0, True, REST, REST))
    assert step == Transition(State.OFF, State.HOLDING, ACTIVATED)
    story.supervisor.restart()
    assert story.supervisor.state is State.OFF
    # A motion that begins with the first cycle is tracked in it: its goal is not over.
    assert story.moves() is State.TRACKING


def test_an_emergency_before_the_first_cycle_is_not_forgotten() -> None:
    story = Story()
    story.supervisor.ask(Request.EMERGENCY)
    assert story.goes_on() is State.DAMPING and "emergency" in story.supervisor.closed


def test_a_motion_begins_and_ends() -> None:
    story = Story()
    assert story.goes_on() is State.HOLDING
    assert story.moves(0.5) is State.TRACKING
    assert story.goes_on() is State.HOLDING
    assert [step.reason for step in story.steps] == ["a motion has begun", "the motion has ended"]
    assert not any(step.fault or step.anchor for step in story.steps)


def test_a_goal_has_time_to_be_reached_and_is_missed_after_it() -> None:
    story = Story()
    story.moves()
    away = np.array([0.02, 0.15])  # the knee's goal is not looked at
    assert story.goes_on(0.4, error=away) is State.TRACKING
    assert story.goes_on(0.2, error=away) is State.HOLDING
    assert story.steps[-1].reason == "the goal is missed: hip 0.02 (allowed: 0.01)"
    assert story.steps[-1].fault and story.supervisor.closed == ""

    story = Story()
    story.moves()
    story.goes_on(0.3, error=np.array([0.02, 0.0]))
    assert story.goes_on(error=np.array([0.005, 0.0])) is State.HOLDING
    assert story.steps[-1].reason == "the motion has ended"


def test_without_proof_it_stops_then_damps_then_lets_go() -> None:
    story = Story()
    story.moves(0.1)
    story.moves(0.09, age=0.09)
    assert story.supervisor.state is State.TRACKING  # not too old yet
    story.moves(lost=True)
    assert story.supervisor.state is State.STOPPING and story.supervisor.fault
    assert "stopping: no measurement" in story.supervisor.closed
    story.goes_on(0.3, moving=True, lost=True)
    assert story.goes_on(lost=True) is State.DAMPING  # at rest, and still nothing is known
    assert story.goes_on(0.9, lost=True) is State.DAMPING
    assert story.goes_on(0.2, lost=True) is State.OFF
    assert story.goes_on(10.0, lost=True) is State.OFF

    # Measurements are back: damped until calm, then held where it is.
    assert story.goes_on(speed=np.array([2.0, 0.0])) is State.DAMPING
    assert story.goes_on(0.5, speed=np.array([2.0, 0.0])) is State.DAMPING  # not calm
    assert story.goes_on(0.3) is State.HOLDING
    assert story.steps[-1].anchor and not story.supervisor.closed


def test_measurements_that_come_back_in_time_do_not_end_a_stop() -> None:
    story = Story()
    story.moves()
    story.moves(lost=True)
    assert story.goes_on(0.2, moving=True) is State.STOPPING
    assert story.goes_on() is State.HOLDING
    assert "no measurement" in story.supervisor.reason


@pytest.mark.parametrize("led", [False, True])
def test_a_robot_that_is_too_fast_is_damped_until_asked(led: bool) -> None:
    story = Story()
    story.goes_on()
    if led:
        assert story.supervisor.ask(Request.COMPENSATE) == ""
        assert story.goes_on() is State.COMPENSATING
    assert story.goes_on(speed=np.array([0.0, 4.1])) is State.DAMPING
    assert story.steps[-1].reason == "out of control: speed of knee 4.1 (allowed: 4)"
    assert "the robot moves too fast" in story.supervisor.ask(Request.RESUME)
    assert story.goes_on(60.0) is State.DAMPING  # known: damped for as long as nobody asks
    assert "ask to resume first" in story.supervisor.closed
    assert story.supervisor.ask(Request.RESUME) == ""
    assert story.goes_on() is State.HOLDING
    assert story.steps[-1].anchor and story.supervisor.closed == ""


def test_off_the_path_it_stops_where_it_is() -> None:
    story = Story()
    story.moves()
    assert story.moves(error=np.array([0.0, -0.21])) is State.STOPPING
    step = story.steps[-1]
    assert step.reason == "off the path: knee 0.21 (allowed: 0.2)" and step.anchor and step.fault
    assert story.goes_on(moving=True) is State.STOPPING
    assert story.goes_on() is State.HOLDING
    assert story.supervisor.closed == ""


def test_led_away_while_it_holds() -> None:
    story = Story()
    story.goes_on()
    assert story.goes_on(error=np.array([0.3, 0.0])) is State.HOLDING
    assert story.steps[-1].reason == "moved from outside: hip 0.3 (allowed: 0.2)"
    assert story.steps[-1].anchor


def test_asked_to_hold_it_may_go_on_asked_to_stop_it_may_not() -> None:
    for request, closed in ((Request.HOLD, False), (Request.STOP, True)):
        story = Story()
        story.moves()
        assert story.supervisor.ask(request) == ""
        assert story.moves() is State.STOPPING
        story.goes_on(0.1, moving=True)
        assert story.goes_on() is State.HOLDING
        assert bool(story.supervisor.closed) == closed
        if closed:
            assert "ask to resume first" in story.supervisor.closed
            assert story.supervisor.ask(Request.RESUME) == ""
            assert story.goes_on() is State.HOLDING and story.supervisor.closed == ""


def test_an_emergency_beats_whatever_is_asked_in_the_same_cycle() -> None:
    for last in ASKED:
        story = Story()
        story.moves()
        assert story.supervisor.ask(Request.EMERGENCY) == ""
        story.supervisor.ask(last)
        assert story.moves() is State.DAMPING
        assert story.supervisor.reason == "emergency stop"
        assert story.goes_on(1.1) is State.OFF  # although it is known
        assert story.goes_on(60.0) is State.OFF
        assert story.supervisor.ask(Request.RESUME) == ""
        assert story.goes_on() is State.HOLDING


def test_what_cannot_be_is_refused_with_the_reason() -> None:
    story = Story()
    assert story.supervisor.ask(Request.RESUME) == "no control cycle yet"
    story.moves()
    story.goes_on(3.0, lost=True)
    assert story.supervisor.state is State.OFF
    for request in (Request.RESUME, Request.COMPENSATE):
        assert "no fresh actuator_states" in story.supervisor.ask(request)
    for request in (Request.HOLD, Request.STOP):
        assert "resume first" in story.supervisor.ask(request)
    assert story.supervisor.ask(Request.DAMP) == ""  # always possible
    assert story.goes_on() is State.DAMPING


def test_a_request_that_nobody_wants_any_more_is_not_answered() -> None:
    story = Story()
    story.moves()
    story.supervisor.ask(Request.STOP, still_wanted=lambda: False)
    assert story.moves() is State.TRACKING


def test_impedance_commands_lead_while_they_come() -> None:
    story = Story()
    story.goes_on()
    assert story.goes_on(impedance=True) is State.IMPEDANCE
    assert story.goes_on(1.0, impedance=True, error=np.array([1.0, 1.0])) is State.IMPEDANCE
    assert story.goes_on() is State.HOLDING and story.steps[-1].anchor
    story.goes_on(impedance=True)
    assert story.goes_on(impedance=True, lost=True) is State.DAMPING


def test_where_nobody_measures_nothing_is_missed() -> None:
    story = Story()
    nobody = {"expected": False, "lost": True}
    assert story.goes_on(**nobody) is State.HOLDING
    assert story.moves(1.0, **nobody) is State.TRACKING
    assert story.goes_on(**nobody) is State.HOLDING
    assert story.went == ["tracking", "holding"]


def test_every_state_can_be_damped_and_let_go_of() -> None:
    """Whatever happens in whatever order, an emergency leads to off, and resuming to holding."""
    random = np.random.default_rng(1)
    for _ in range(300):
        story = Story()
        for _ in range(random.integers(1, 20)):
            if random.random() < 0.5:
                story.supervisor.ask(ASKED[random.integers(len(ASKED))])
            story.goes_on(
                random.choice([0.01, 0.1, 0.5, 1.5]),
                lost=random.random() < 0.3,
                moving=(moving := random.random() < 0.5),
                following=moving and random.random() < 0.7,
                impedance=random.random() < 0.2,
            )
        story.supervisor.ask(Request.EMERGENCY)
        assert story.goes_on(impedance=True) in (State.DAMPING, State.OFF)
        assert story.moves(1.1) is State.OFF
        assert story.supervisor.ask(Request.RESUME) == ""
        assert story.goes_on() is State.HOLDING
        assert story.supervisor.closed == ""


def test_a_robot_that_runs_away_is_damped_and_not_followed_for_ever() -> None:
    """It is faster than calm, though no joint is out of control by its speed."""
    story = Story()
    story.moves()
    fast, away = np.array([0.0, 3.0]), np.array([0.0, 0.3])
    assert story.moves(error=away, speed=fast) is State.STOPPING
    story.goes_on(0.3, moving=True, speed=fast)
    assert story.goes_on(error=away, speed=fast) is State.DAMPING
    assert story.steps[-1].reason == "out of control: off the path: knee 0.3 (allowed: 0.2), again"
    assert story.steps[-1].fault and not story.steps[-1].anchor
    story.goes_on(0.9, speed=0.1 * fast)
    assert story.goes_on(3.0) is State.DAMPING  # until somebody asks
    assert story.supervisor.ask(Request.RESUME) == ""
    assert story.goes_on() is State.HOLDING


@pytest.mark.parametrize(
    "pause, speed", [(AGAIN + 2 * PERIOD, 3.0), (0.1, 0.1)], ids=["later", "calm"]
)
def test_who_is_moved_by_hand_is_held_where_he_is_each_time(pause: float, speed: float) -> None:
    story = Story()
    for _ in range(4):
        story.goes_on(pause)
        pushed = np.array([0.3, 0.0])
        assert story.goes_on(error=pushed, speed=np.array([0.0, speed])) is State.HOLDING
        assert story.steps[-1].anchor


def test_damping_that_keeps_the_robot_fast_ends() -> None:
    story = Story()
    story.supervisor.ask(Request.DAMP)
    fast = np.array([0.0, 1.05 * HELPED * POLICY.fastest[1]])
    assert story.goes_on(speed=fast) is State.DAMPING
    assert story.goes_on(1.1, speed=fast) is State.OFF
    assert "damping does not help: speed of knee" in story.steps[-1].reason

    falling = Story()  # no faster than gravity lets a damped robot be
    falling.supervisor.ask(Request.DAMP)
    assert falling.goes_on(3.0, speed=0.9 * fast) is State.DAMPING


def test_a_button_that_was_pressed_before_is_pressed() -> None:
    story = Story()
    story.supervisor = Supervisor(POLICY, pressed=True)
    assert story.goes_on() is State.DAMPING and "emergency" in story.supervisor.closed
    assert story.supervisor.ask(Request.RESUME) == "the emergency stop is pressed"
    story.supervisor.press(False)
    assert story.supervisor.ask(Request.RESUME) == ""
