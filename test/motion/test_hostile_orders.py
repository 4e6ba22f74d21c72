"""Requests, goals, measurements and buttons in the worst order: nothing of it moves a robot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.control_rig import PERIOD, SECOND, ControlRig
from support.crank_legs import standing
from support.goal_rig import GoalRig

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import InvalidInput
from closed_loop_dynamics.motion.goals import Code, End
from closed_loop_dynamics.motion.impedance import ImpedanceCommand
from closed_loop_dynamics.motion.stream_target import Reference
from closed_loop_dynamics.motion.supervisor import EMERGENCY, Request, State
from closed_loop_dynamics.motion.tolerances import Tolerance
from closed_loop_dynamics.motion.trajectory import Points
from closed_loop_dynamics.motion.transit import Transit

START, GOAL = np.array([-0.2, 0.4, -0.1]), np.array([-0.6, 1.1, -0.4])


@pytest.fixture
def rig() -> GoalRig:
    found = GoalRig(standing(), START)
    found.run(0.1)
    return found


# -- the emergency stop ---------------------------------------------------------------------------


def test_while_the_button_is_pressed_nothing_is_powered(rig: GoalRig) -> None:
    supervisor = rig.controller.supervisor
    supervisor.pressed = True
    for request in (Request.RESUME, Request.COMPENSATE, Request.HOLD, Request.STOP, Request.DAMP):
        supervisor.ask(request)
        rig.run(0.1)
        assert rig.state in (State.DAMPING, State.OFF)
    rig.run(1.0)
    assert rig.state is State.OFF and not rig.commands[-1].efforts.any()
    assert "pressed" in supervisor.ask(Request.RESUME)
    rig.controller.restart()  # deactivated, and active again
    rig.run(0.1)
    assert rig.state is State.DAMPING and supervisor.closed
    supervisor.pressed = False
    rig.run(0.1)
    assert rig.state is State.DAMPING  # released is not resumed
    assert not supervisor.ask(Request.RESUME)
    rig.run(0.1)
    assert rig.state is State.HOLDING


def test_a_press_counts_however_short_it_is(rig: GoalRig) -> None:
    supervisor = rig.controller.supervisor
    supervisor.press(True)
    supervisor.press(False)  # before the next cycle
    rig.run(0.1)
    assert rig.state is State.DAMPING and supervisor.closed.endswith("ask to resume first")
    assert not supervisor.ask(Request.RESUME)
    supervisor.press(True)
    supervisor.press(False)
    rig.run(0.1)
    assert rig.state is State.DAMPING  # what was asked before it does not undo it


def test_requests_that_were_granted_are_never_thrown_away(rig: GoalRig) -> None:
    supervisor = rig.controller.supervisor
    assert not supervisor.ask(Request.DAMP)
    refusals = [supervisor.ask(Request.HOLD) for _ in range(100)]
    assert "other requests wait for a control cycle" in refusals[-1] and not refusals[0]
    rig.run(0.002)
    assert rig.state is State.DAMPING
    rig.run(0.3)
    assert rig.state is State.DAMPING


def test_gravity_alone_takes_no_robot_in_full_motion(rig: GoalRig) -> None:
    rig.go(GOAL, 0.4)
    rig.run(0.2)
    assert np.abs(rig.plant.yd).max() > 0.2 * 1.5 * rig.speed_limits.min()
    assert "too fast" in rig.controller.supervisor.ask(Request.COMPENSATE)
    rig.run(1.0)
    assert not rig.controller.supervisor.ask(Request.COMPENSATE)
    rig.run(0.1)
    assert rig.state is State.COMPENSATING and rig.controller.supervisor.in_charge


def test_a_button_that_speaks_all_the_time_lets_go_all_the_same(rig: GoalRig) -> None:
    for _ in range(15):
        rig.controller.supervisor.ask(Request.EMERGENCY)
        rig.run(0.1)
    assert rig.state is State.OFF and rig.went() == ["holding -> damping", "damping -> off"]
    rig.controller.supervisor.ask(Request.DAMP)
    rig.run(0.1)
    assert rig.state is State.OFF


def test_pressed_before_the_first_measurement(rig: GoalRig) -> None:
    other = ControlRig(standing(), START)
    other.controller.supervisor.pressed = True
    other.run(0.01)
    assert other.state is State.DAMPING and other.controller.supervisor.reason == EMERGENCY


# -- requests of the same cycle -------------------------------------------------------------------


@pytest.mark.parametrize("request_", [Request.STOP, Request.HOLD])
def test_a_stop_in_the_cycle_in_which_a_motion_begins_stops_it(
    rig: GoalRig, request_: Request
) -> None:
    goal = rig.to(GOAL, 2.0)
    assert not rig.controller.supervisor.ask(request_)
    rig.run(1.0)
    assert rig.state is State.HOLDING and np.abs(rig.plant.y - START).max() < 0.01
    assert goal.outcome is not None and goal.outcome.end is End.ABORTED
    assert bool(rig.controller.supervisor.closed) is (request_ is Request.STOP)


def test_a_stream_that_begins_is_stopped_as_well(rig: GoalRig) -> None:
    rig.stream.push(Reference(START + 0.09))
    rig.controller.supervisor.ask(Request.STOP)
    rig.run(1.0)
    assert rig.went() == ["holding -> stopping", "stopping -> holding"]
    assert np.abs(rig.plant.y - START).max() < 0.07


@pytest.mark.parametrize("request_", [Request.DAMP, Request.STOP])
@pytest.mark.parametrize("then", [Request.HOLD, Request.RESUME, None])
def test_no_request_undoes_the_one_before_it(
    rig: GoalRig, request_: Request, then: Request | None
) -> None:
    goal = rig.to(GOAL, 2.0)
    rig.run(0.5)
    assert not rig.controller.supervisor.ask(request_)
    if then is None:
        rig.goals.cancel(goal)
    else:
        rig.controller.supervisor.ask(then)
    rig.run(1.0)
    assert "damping" in rig.went()[1] or "stopping" in rig.went()[1]
    assert np.abs(rig.plant.y - GOAL).max() > 0.2  # the motion has not gone on
    assert (request_ is Request.DAMP) == any("-> damping" in step for step in rig.went())


def test_who_resumes_admits_what_was_barred(rig: GoalRig) -> None:
    rig.controller.supervisor.ask(Request.STOP)
    for k in range(20):
        rig.stream.push(Reference(START + 0.001 * k))
        rig.run(0.02)
    assert not rig.stream.streaming and rig.stream.reason
    rig.controller.supervisor.ask(Request.RESUME)
    for k in range(20):
        rig.stream.push(Reference(START + 0.001 * k))
        rig.run(0.02)
    assert rig.stream.streaming


# -- goals ----------------------------------------------------------------------------------------


def aside(rig: GoalRig, offset: float) -> None:
    """The robot sags, or was led away."""

    def encoders(u: Any, ud: Any) -> Any:
        y = START.copy()
        y[0] += offset
        return rig.robot.state(y).u, 0 * ud

    rig.encoders = encoders
    rig.run(0.05)


def test_a_partial_goal_begins_where_the_robot_is(rig: GoalRig) -> None:
    aside(rig, 0.05)
    goal = rig.send(Points.of([1.0], [[0.6]], [[0.0]], [[0.0]]), named=["knee"])
    rig.run(0.01)
    assert rig.state is State.TRACKING and goal.outcome is None
    assert rig.reference[0] == pytest.approx(START[0] + 0.05, abs=1e-6)


def test_a_goal_that_is_due_at_once_must_be_reached_all_the_same() -> None:
    rig = GoalRig(standing(), START, frequency=None)
    rig.run(0.1)
    aside(rig, 0.015)
    goal = rig.send(
        Points.of([0.0], [rig.reference]),
        path=(),
        goal=[Tolerance("hip", position=0.001)],
        goal_time=0.1,
    )
    rig.run(0.01)
    assert goal.outcome is not None and goal.outcome.code is Code.GOAL_TOLERANCE_VIOLATED


# -- what cannot be -------------------------------------------------------------------------------


def introduce(rig: ControlRig, seen: cld.State) -> None:
    """A first message, which is not believed alone."""
    with pytest.raises(InvalidInput, match="the first message needs a second that agrees"):
        rig.controller.observe(seen.u, seen.ud, None, PERIOD)


def test_efforts_in_another_unit_are_not_said_back() -> None:
    rig = ControlRig(standing(), START)
    seen = rig.robot.state(START, 0 * START)
    assert seen.ud is not None
    introduce(rig, seen)
    rig.controller.observe(seen.u, seen.ud, 1e3 * rig.effort_limits)
    first = rig.controller.cycle(round(rig.steady * 1e9))
    assert first is not None and (np.abs(first.efforts) <= rig.effort_limits).all()
    # Those that may be are where the efforts begin.
    other = ControlRig(standing(), START)
    introduce(other, seen)
    other.controller.observe(seen.u, seen.ud, 0.5 * rig.effort_limits)
    first = other.controller.cycle(round(other.steady * 1e9))
    assert first is not None and (first.efforts > 0.4 * rig.effort_limits).all()


def test_cycles_that_are_always_late_do_not_hide_lost_measurements() -> None:
    rig = ControlRig(standing(), START, timeout=1.9 * PERIOD)
    rig.run(0.1)
    rig.encoders = lambda u, ud: None
    rig.run(0.5)
    assert rig.state in (State.DAMPING, State.OFF)
    assert "no believable measurement" in rig.transitions[0].reason


def test_a_reference_out_of_reach_lets_go_of_the_robot() -> None:
    rig = ControlRig(standing(), START)
    rig.run(0.1)
    execution = rig.controller.execution
    execution.follow(np.array([-0.2, 0.4, 40.0]))  # no loop closes there
    rig.policy.path[:] = np.inf
    rig.run(0.1)
    assert rig.state is State.DAMPING and "out of reach" in rig.controller.supervisor.reason
    assert len(rig.commands) == 100


def test_impedance_of_any_stiffness_keeps_effort_limits_and_never_lets_go(rig: GoalRig) -> None:
    for kp, kd in ((200.0, 2.0), (1e6, 1.0), (1e12, 1e6)):
        fresh = GoalRig(standing(), START)
        fresh.run(0.1)
        wish = np.array([START + 0.3, 0 * START, *np.full((2, 3), kp), 0 * START])
        wish[3] = kd
        for _ in range(20):
            fresh.impedance.push(ImpedanceCommand.of(wish))
            fresh.run(0.02)
        efforts = np.array([command.efforts for command in fresh.commands])
        assert efforts[60:].any(axis=1).all()
        assert (np.abs(efforts) <= fresh.effort_limits * (1.0 + 1e-9)).all()


def test_numbers_that_no_joint_has_are_no_impedance() -> None:
    with pytest.raises(InvalidInput, match="a kp is not finite, or beyond"):
        ImpedanceCommand.of(np.full((5, 3), 1e300) * np.array([0, 0, 1, 0, 0])[:, None])


def test_measurements_that_stay_old_are_none(rig: GoalRig) -> None:
    """Between half of the timeout and all of it: nothing is said, but not for ever."""
    rig.lag = 0.07
    rig.run(1.0)
    assert rig.state in (State.DAMPING, State.OFF)
    assert "no believable measurement" in rig.transitions[0].reason
    rig.lag = 0.0
    rig.run(0.5)
    assert rig.state is State.HOLDING


def test_time_that_jumps_while_nobody_knows_the_robot_is_supervised_all_the_same() -> None:
    rig = JumpingRig(standing(), START)
    rig.run(0.1)
    rig.go(GOAL)
    rig.run(0.3)
    rig.steady += 0.2  # nothing is heard
    now = round((rig.steady - 50.0) * SECOND)
    steps = []
    for k in range(100):
        assert rig.controller.cycle(now + k * 2_000_000) is None
        steps.append(rig.controller.lost_track)
        rig.steady += PERIOD
    assert [step.after for step in steps if step] == [State.STOPPING, State.DAMPING]
    rig.controller.supervisor.press(True)
    assert rig.controller.cycle(now + SECOND) is None
    assert rig.controller.supervisor.reason == EMERGENCY


class JumpingRig(ControlRig):
    """Whose time may jump."""

    def time_jumped(self, jump: float) -> None: ...


# -- stamps ---------------------------------------------------------------------------------------


def test_one_stamp_of_tomorrow_does_not_make_today_late() -> None:
    transit, second = Transit(), 1_000_000_000
    for k in range(100):
        now = (1000 + k) * second // 100
        stamp = now + 3600 * second if 50 <= k < 55 else now - second // 1000
        assert transit.late(stamp, now, 0.01 * k) < 0.01


def test_a_clock_that_was_set_far_back_is_believed_in_the_end() -> None:
    transit, second = Transit(), 1_000_000_000
    for k in range(60):
        now = (1000 + k) * second // 100
        assert transit.late(now + second * (k >= 9), now, 0.01 * k) == 0.0
    assert transit.late(1060 * second // 100, 1060 * second // 100, 0.6) == pytest.approx(1.0)
