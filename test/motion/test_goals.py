"""Each goal ends once, as it should: controller, goals and plant in artificial time."""

from __future__ import annotations

import numpy as np
import pytest
from support.control_rig import SECOND
from support.goal_rig import GoalRig

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.examination import MOST_WAITING
from closed_loop_dynamics.motion.goals import Code, End, Goal
from closed_loop_dynamics.motion.splice import Offer
from closed_loop_dynamics.motion.supervisor import Request, State
from closed_loop_dynamics.motion.tolerances import Tolerance
from closed_loop_dynamics.motion.trajectory import Points, TrajectoryRefused, WrongJoints, cycloidal

START = np.array([-0.2, 0.4, -0.1])
GOAL = np.array([-0.6, 1.1, -0.4])


@pytest.fixture
def rig(leg: cld.Robot) -> GoalRig:
    found = GoalRig(leg, START)
    found.run(0.1)
    return found


def expect(rig: GoalRig, goal: Goal, end: End, code: Code, text: str) -> None:
    """The goal has ended so; it counts no more, and neither do its tolerances."""
    assert rig.over == [goal]
    assert goal.outcome is not None
    assert (goal.outcome.end, goal.outcome.code) == (end, code), goal.outcome
    assert text in goal.outcome.reason
    assert rig.goals.current is not goal
    if rig.goals.current is None:
        assert rig.controller.supervisor.policy is rig.policy


def test_a_goal_succeeds_when_its_motion_has_ended(rig: GoalRig) -> None:
    goal = rig.to(GOAL)
    rig.run(0.9)
    assert rig.goals.current is goal and not rig.over
    rig.run(0.2)
    expect(rig, goal, End.SUCCEEDED, Code.SUCCESSFUL, "the motion has ended")
    np.testing.assert_allclose(rig.plant.y, GOAL, atol=1e-3)


def test_a_goal_that_is_due_at_once_succeeds_at_once(rig: GoalRig) -> None:
    goal = rig.send(Points.of([0.0], [rig.reference]))
    rig.run(0.01)
    expect(rig, goal, End.SUCCEEDED, Code.SUCCESSFUL, "")
    assert not rig.transitions


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TrajectoryRefused("it is bad"), Code.INVALID_GOAL),
        (WrongJoints("it is bad"), Code.INVALID_JOINTS),
        (ValueError("it is bad"), Code.INVALID_GOAL),
    ],
)
def test_a_goal_that_cannot_be_read_is_refused_and_the_running_one_goes_on(
    rig: GoalRig, error: Exception, code: Code
) -> None:
    running = rig.to(GOAL)
    rig.run(0.5)
    goal = rig.send(error)
    rig.run(0.1)
    expect(rig, goal, End.ABORTED, code, "it is bad")
    assert rig.goals.current is running


def test_a_goal_that_no_robot_of_this_kind_can_reach_is_refused(rig: GoalRig) -> None:
    goal = rig.to(np.array([-0.6, 9.0, -0.4]))
    rig.run(0.1)
    expect(rig, goal, End.ABORTED, Code.INVALID_GOAL, "knee")


def test_a_goal_that_is_over_has_an_old_stamp(rig: GoalRig) -> None:
    stamp = round((rig.steady - 5.0) * SECOND)
    goal = rig.send(cycloidal(START, GOAL, 1.0), stamp=stamp)
    rig.run(0.1)
    expect(rig, goal, End.ABORTED, Code.OLD_HEADER_TIMESTAMP, "it ended")


def test_a_goal_while_the_robot_is_not_in_control_is_refused_with_the_reason(rig: GoalRig) -> None:
    rig.controller.supervisor.ask(Request.EMERGENCY)
    rig.run(0.1)
    goal = rig.to(GOAL)
    rig.run(0.1)
    expect(rig, goal, End.ABORTED, Code.INVALID_GOAL, "emergency stop")


def test_cancel_comes_to_rest_along_the_path(rig: GoalRig) -> None:
    goal = rig.to(GOAL)
    rig.run(0.5)
    rig.goals.cancel(goal)
    rig.run(0.1)
    assert not rig.over and rig.state is State.STOPPING
    rig.run(0.5)
    expect(rig, goal, End.CANCELED, Code.SUCCESSFUL, "at rest")
    share = (rig.reference - START) / (GOAL - START)
    np.testing.assert_allclose(share, share[0], atol=1e-6)  # still on the straight line
    assert 0.5 < share[0] < 0.9
    rig.expect_gentle()


def test_cancel_before_it_begins_ends_it_at_once_and_for_good(rig: GoalRig) -> None:
    goal = rig.to(GOAL)
    rig.goals.cancel(goal)
    rig.over += rig.goals.ended()
    expect(rig, goal, End.CANCELED, Code.SUCCESSFUL, "before it began")
    rig.run(0.5)
    assert rig.over == [goal] and not rig.transitions
    np.testing.assert_allclose(rig.plant.y, START, atol=1e-3)


def test_cancel_in_the_moment_of_taking_over_still_stops_the_motion(rig: GoalRig) -> None:
    goal = rig.to(GOAL, at_begin=lambda: rig.goals.cancel(goal))
    rig.run(0.1)
    assert rig.goals.current is goal and goal.canceling
    rig.goals.insist()
    rig.run(0.6)
    expect(rig, goal, End.CANCELED, Code.SUCCESSFUL, "at rest")
    assert rig.state is State.HOLDING
    np.testing.assert_allclose(rig.plant.y, START, atol=0.1)


def test_cancel_of_a_goal_that_has_just_ended_is_a_success(rig: GoalRig) -> None:
    goal = rig.to(GOAL, 0.5)
    rig.run(0.5)
    while rig.state is State.TRACKING:
        rig.run(0.002)
    rig.goals.cancel(goal)
    rig.run(0.1)
    expect(rig, goal, End.SUCCEEDED, Code.SUCCESSFUL, "")


def test_cancel_does_not_stop_the_goal_that_comes_next_in_the_same_cycle(rig: GoalRig) -> None:
    first = rig.to(GOAL)
    rig.run(0.5)
    rig.goals.cancel(first)
    second = rig.send(Points.of([1.0], [GOAL], [0 * GOAL], [0 * GOAL]))
    rig.run(0.1)
    expect(rig, first, End.CANCELED, Code.SUCCESSFUL, "newer")
    assert rig.goals.current is second and rig.state is State.TRACKING


def test_cancel_gets_through_whatever_else_is_asked_for(rig: GoalRig) -> None:
    goal = rig.to(GOAL)
    rig.run(0.3)
    rig.goals.cancel(goal)
    rig.controller.supervisor.ask(Request.RESUME)
    rig.run(0.6)
    expect(rig, goal, End.CANCELED, Code.SUCCESSFUL, "")


def test_nothing_undoes_an_emergency_of_the_same_cycle(rig: GoalRig) -> None:
    goal = rig.to(GOAL)
    rig.run(0.3)
    rig.controller.supervisor.ask(Request.EMERGENCY)
    rig.goals.cancel(goal)
    rig.run(0.002)
    assert rig.state is State.DAMPING
    expect(rig, goal, End.ABORTED, Code.INVALID_GOAL, "emergency stop")


def test_a_new_goal_preempts(rig: GoalRig) -> None:
    first = rig.to(GOAL)
    rig.run(0.5)
    second = rig.send(Points.of([1.0], [START], [0 * GOAL], [0 * GOAL]))
    rig.run(0.1)
    expect(rig, first, End.ABORTED, Code.INVALID_GOAL, "newer trajectory")
    rig.run(1.1)
    assert rig.over == [first, second]
    assert second.outcome is not None and second.outcome.end is End.SUCCEEDED
    rig.expect_gentle()


def test_a_trajectory_of_nobody_preempts_too(rig: GoalRig) -> None:
    goal = rig.to(GOAL, path=[Tolerance("knee", 0.01)])
    rig.run(0.5)
    points = Points.of([1.0], [START], [0 * GOAL], [0 * GOAL])
    rig.controller.execution.offer(Offer(lambda: points))
    rig.run(0.1)
    expect(rig, goal, End.ABORTED, Code.INVALID_GOAL, "newer trajectory")


def test_of_many_goals_at_once_the_newest_is_executed(rig: GoalRig) -> None:
    goals = [rig.to(GOAL, 1.0) for _ in range(3 * MOST_WAITING)]
    rig.run(1.2)
    assert set(rig.over) == set(goals) and len(rig.over) == len(goals)
    ends = [goal.outcome.end for goal in goals if goal.outcome is not None]
    assert ends == [End.ABORTED] * (len(goals) - 1) + [End.SUCCEEDED]


def test_off_its_path_a_goal_is_aborted_by_its_own_tolerance(rig: GoalRig) -> None:
    goal = rig.to(GOAL, 2.0, path=[Tolerance("knee", 0.02)])
    rig.run(0.5)
    rig.hand_moves(np.add(rig.plant.y, [0.0, 0.05, 0.0]))  # far below the tolerance of the node
    rig.run(0.05)
    assert rig.state is State.STOPPING and not rig.over
    rig.run(0.4)
    expect(rig, goal, End.ABORTED, Code.PATH_TOLERANCE_VIOLATED, "knee")


def test_once_an_aborted_goal_has_ended_the_next_one_is_taken_in(rig: GoalRig) -> None:
    first = rig.to(GOAL, 1.0, path=[Tolerance("knee", 1e-9)])
    while not rig.over:
        rig.run(0.002)
    expect(rig, first, End.ABORTED, Code.PATH_TOLERANCE_VIOLATED, "knee")
    second = rig.to(GOAL, 1.0)
    rig.run(1.2)
    assert rig.over == [first, second]
    assert second.outcome is not None and second.outcome.end is End.SUCCEEDED


def test_without_a_limit_a_goal_goes_on(leg: cld.Robot) -> None:
    rig = GoalRig(leg, START, path=np.full(3, 0.02))
    rig.run(0.1)
    goal = rig.to(GOAL, 2.0, path=[Tolerance(name, -1.0) for name in leg.names.independent])
    rig.run(0.5)
    rig.hand_moves(np.add(rig.plant.y, [0.0, 0.05, 0.0]))
    rig.run(1.8)
    expect(rig, goal, End.SUCCEEDED, Code.SUCCESSFUL, "")


def test_a_goal_that_is_not_reached_in_time_is_aborted_by_its_own_tolerance(leg: cld.Robot) -> None:
    rig = GoalRig(leg, START, frequency=5.0)
    rig.run(0.1)
    goal = rig.to(GOAL, 0.5, goal=[Tolerance("knee", 1e-4)], goal_time=0.05)
    rig.run(0.4)
    rig.hand_moves(np.add(rig.plant.y, [0.0, 0.1, 0.0]))
    rig.run(0.13)
    assert not rig.over  # it has a little more time
    rig.run(0.1)
    expect(rig, goal, End.ABORTED, Code.GOAL_TOLERANCE_VIOLATED, "the goal is missed: knee")


def test_without_a_time_limit_a_goal_ends_when_the_robot_is_there_and_stands(
    leg: cld.Robot,
) -> None:
    rig = GoalRig(leg, START, frequency=5.0)
    rig.run(0.1)
    goal = rig.to(GOAL, 0.5, goal=[Tolerance("knee", 0.01)])
    rig.run(0.46)  # what no speed explains is doubted for a while
    rig.hand_moves(np.add(rig.plant.y, [0.0, 0.1, 0.0]))
    rig.run(0.23)
    assert not rig.over and rig.state is State.TRACKING
    rig.run(2.0)
    expect(rig, goal, End.SUCCEEDED, Code.SUCCESSFUL, "the motion has ended")
    end = next(k for k, c in enumerate(rig.commands) if c.transition and k > 100)
    assert (np.abs(rig.speeds[end - 1]) <= 0.01).all()


def test_a_goal_without_tolerances_is_not_over_while_the_robot_moves(leg: cld.Robot) -> None:
    rig = GoalRig(leg, START, frequency=5.0)
    rig.run(0.1)
    goal = rig.to(GOAL, 0.5, goal_time=0.1)
    rig.run(0.49)
    rig.plant.yd = np.array([0.0, 0.5, 0.0])
    rig.run(0.05)
    assert not rig.over
    rig.run(0.1)
    expect(rig, goal, End.ABORTED, Code.GOAL_TOLERANCE_VIOLATED, "knee")


def test_a_stream_preempts_too(rig: GoalRig) -> None:
    goal = rig.to(GOAL, 1.0, path=[Tolerance("knee", 0.05)])
    rig.run(0.5)
    here = rig.reference
    rig.follow(lambda t: (here, None), 100.0, 0.1)
    expect(rig, goal, End.ABORTED, Code.INVALID_GOAL, "a stream of references")
    rig.expect_gentle()


@pytest.mark.parametrize("request_", [Request.HOLD, Request.STOP, Request.DAMP])
def test_what_somebody_else_asks_for_aborts_the_goal_with_that_reason(
    rig: GoalRig, request_: Request
) -> None:
    goal = rig.to(GOAL)
    rig.run(0.5)
    rig.controller.supervisor.ask(request_)
    rig.run(0.4)
    expect(rig, goal, End.ABORTED, Code.INVALID_GOAL, f"asked to {request_.value}")


def test_lost_measurements_abort_the_goal_even_while_it_is_canceled(rig: GoalRig) -> None:
    goal = rig.to(GOAL)
    rig.run(0.5)
    rig.encoders = lambda u, ud: None
    rig.goals.cancel(goal)
    rig.run(0.8)
    expect(rig, goal, End.ABORTED, Code.INVALID_GOAL, "no believable measurement")


def test_a_jump_of_time_aborts_the_goal(rig: GoalRig) -> None:
    goal = rig.to(GOAL)
    rig.run(0.5)
    rig.goals.time_jumped()
    rig.run(0.002)
    expect(rig, goal, End.ABORTED, Code.INVALID_GOAL, "time jumped")


def test_the_end_of_work_ends_all_goals(rig: GoalRig) -> None:
    running = rig.to(GOAL, path=[Tolerance("knee", 0.05)])
    rig.run(0.5)
    waiting = rig.to(START)
    rig.goals.end_all("deactivated")
    rig.over += rig.goals.ended()
    assert rig.over == [waiting, running]
    assert {goal.outcome.reason for goal in rig.over if goal.outcome} == {"deactivated"}
    assert rig.controller.supervisor.policy is rig.policy


def test_joints_that_are_not_named_stay(rig: GoalRig) -> None:
    knee = Points.of([1.0], [[1.1]], [[0.0]], [[0.0]])
    goal = rig.send(knee, named=["knee"])
    rig.run(1.2)
    expect(rig, goal, End.SUCCEEDED, Code.SUCCESSFUL, "")
    np.testing.assert_allclose(rig.reference, [START[0], 1.1, START[2]], atol=1e-6)


def test_joints_that_are_not_named_must_rest(rig: GoalRig) -> None:
    running = rig.to(GOAL)
    rig.run(0.5)
    goal = rig.send(Points.of([1.0], [[1.1]], [[0.0]], [[0.0]]), named=["knee"])
    rig.run(0.1)
    expect(rig, goal, End.ABORTED, Code.INVALID_GOAL, "'hip' is not named")
    assert rig.goals.current is running
