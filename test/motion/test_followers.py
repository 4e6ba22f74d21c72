"""Whoever follows motions by the clock hears of them before they begin, however slow the node."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import numpy as np
import pytest
from support.execution_rig import DEADLINE, GOAL, PERIOD, SECOND, START, Held, Rig, held_up, to

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.execution import GENTLE
from closed_loop_dynamics.motion.handover import Handover
from closed_loop_dynamics.motion.splice import Accepted, Offer
from closed_loop_dynamics.motion.telling import TOLD_AHEAD, UNTOLD, Saying
from closed_loop_dynamics.motion.trajectory import Points, Setpoint
from closed_loop_dynamics.motion.trajectory_check import ActuatorTable


class SlowRig(Rig):
    """Its examining thread sleeps for ``delay`` seconds before it tells anything."""

    delay = 0.0

    def taken(self, offer: Offer) -> None:
        super().taken(offer)
        self.pass_time(self.delay)

    def run(self, offer: Offer) -> Setpoint:
        """As usual; the thread that tells has come to its end."""
        super().run(offer)
        work = self.execution._examination._work
        assert work is not None
        work.result(DEADLINE)
        return self.cycle()


@pytest.fixture
def rig(leg: cld.Robot) -> Iterator[SlowRig]:
    with closing(SlowRig(leg, followed=True)) as found:
        yield found


def told_ahead(rig: Rig, accepted: Accepted) -> float:
    return (accepted.begin - rig.now) / SECOND


def test_a_motion_is_told_before_it_begins(rig: SlowRig) -> None:
    rig.run(to(GOAL))
    assert told_ahead(rig, rig.published[0]) == pytest.approx(TOLD_AHEAD)
    np.testing.assert_array_equal(rig.cycle(TOLD_AHEAD - PERIOD).y, START)
    assert rig.execution.following and rig.execution.remaining == pytest.approx(1.0 + PERIOD)
    np.testing.assert_allclose(rig.cycle(PERIOD + 1.0).y, GOAL, atol=1e-12)


@pytest.mark.parametrize("delay", [0.06, 0.3, 5.0])
def test_what_was_told_too_late_begins_later(rig: SlowRig, delay: float) -> None:
    rig.cycle()
    rig.delay = delay
    rig.run(to(GOAL))
    ahead = told_ahead(rig, rig.published[0])
    assert 2.0 * TOLD_AHEAD < ahead < 4.0 * TOLD_AHEAD
    np.testing.assert_array_equal(rig.cycle(ahead - PERIOD).y, START)
    end = rig.cycle(PERIOD + 1.0)
    np.testing.assert_allclose(end.y, GOAL, atol=1e-12)
    assert len(rig.published) == 1 and not rig.refusals and not rig.execution.interrupted


def back_to(rig: Rig) -> Callable[[], Points]:
    """To where it is now, at once: later, the running motion is too far from there."""
    here = rig.execution.reference
    assert here is not None
    rest = np.zeros_like(here.y)
    points = Points.of([0.0, 0.5], [here.y, here.y], [here.yd, rest], [here.ydd, rest])
    return lambda: points


def test_a_motion_that_cannot_begin_later_is_interrupted(rig: SlowRig) -> None:
    rig.run(to(GOAL, 0.6))
    rig.cycle(TOLD_AHEAD + 0.2)
    rig.delay = 0.5
    rig.execution.offer(Offer(back_to(rig), rig.now))
    rig.until(lambda: rig.execution.interrupted)
    assert rig.execution.interrupted == UNTOLD
    assert len(rig.published) == 1


def test_motions_that_follow_each_other_quickly_are_each_told_in_time(rig: SlowRig) -> None:
    """The second one leads on from where the first will be when it takes over."""
    rig.run(to(GOAL))
    rig.cycle(0.5)
    rest = [np.zeros_like(START)]
    back = Points.of([1.0], [START], rest, rest)
    rig.run(Offer(lambda: back))
    assert told_ahead(rig, rig.published[1]) == pytest.approx(TOLD_AHEAD)
    last, fastest = rig.cycle(), 0.0
    for _ in range(round(1.2 / PERIOD)):
        setpoint = rig.cycle(PERIOD)
        fastest = max(fastest, float(np.abs(setpoint.y - last.y).max() / PERIOD))
        last = setpoint
    np.testing.assert_allclose(last.y, START, atol=1e-9)
    assert fastest < 2.5  # no leap: the motions' own speeds are some 1.5


def good_and_held_up(rig: SlowRig) -> tuple[Offer, threading.Event]:
    """An offer that takes over in the next cycle; who tells stands still until the event."""
    held = Held(GOAL, [])
    rig.execution.offer(held.offer)
    rig.cycle()
    assert held.reading.wait(DEADLINE)
    work, go = rig.execution._examination._work, held_up(rig)
    held.go.set()
    assert work is not None
    work.result(DEADLINE)
    return held.offer, go


@pytest.mark.parametrize("cycles", [0, 200])
def test_a_stop_begins_when_it_is_told(rig: SlowRig, cycles: int) -> None:
    """Until then who follows goes on, and so does the reference."""
    rig.run(to(GOAL, 2.0))
    rig.cycle(TOLD_AHEAD + 0.5)
    go = held_up(rig)
    rig.execution.brake(0.3)
    assert all(np.abs(rig.cycle(PERIOD).yd).max() > 0.1 for _ in range(cycles))
    go.set()
    rig.until(lambda: rig.diversions)
    begin, table = rig.diversions[0]
    assert (begin - rig.now) / SECOND == pytest.approx(TOLD_AHEAD)
    reference = rig.cycle(TOLD_AHEAD)  # where the follower is, and as fast
    state = rig.execution._checker.robot.state(reference.y, reference.yd)
    np.testing.assert_allclose(table.u[0], state.u, atol=1e-9)
    np.testing.assert_allclose(table.ud[0], state.ud, atol=1e-9)
    assert np.abs(rig.cycle(0.3).yd).max() < 1e-9


def test_what_nobody_was_told_of_does_not_begin(rig: SlowRig) -> None:
    rig.cycle()
    offer, go = good_and_held_up(rig)
    for _ in range(300):  # 0.6 s
        np.testing.assert_array_equal(rig.cycle(PERIOD).y, START)
    assert rig.taken_over == [offer] and rig.execution.following
    go.set()
    rig.until(lambda: rig.published)
    ahead = told_ahead(rig, rig.published[0])
    assert ahead > 0.5 * TOLD_AHEAD
    rig.until(lambda: np.isfinite(rig.execution.remaining))
    np.testing.assert_array_equal(rig.cycle(ahead - PERIOD).y, START)
    np.testing.assert_allclose(rig.cycle(1.0 + PERIOD).y, GOAL, atol=1e-12)


def test_a_stop_before_the_beginning_is_rest(rig: SlowRig) -> None:
    rig.run(to(GOAL))
    rig.cycle(0.02)
    rig.execution.brake(0.3)
    rig.until(lambda: rig.diversions)
    (_, table), where = rig.diversions[0], rig.execution._checker.robot.state(START)
    np.testing.assert_allclose(table.u, [where.u], atol=1e-9)
    for _ in range(300):
        np.testing.assert_array_equal(rig.cycle(PERIOD).y, START)


def test_what_is_told_after_a_jump_of_time_has_no_meaning(leg: cld.Robot) -> None:
    with closing(SlowRig(leg, followed=True, leap=1.0)) as rig:
        rig.cycle()
        _, go = good_and_held_up(rig)
        rig.cycle(PERIOD)
        rig.cycle(-30.0)
        go.set()
        np.testing.assert_array_equal(rig.cycle(PERIOD).y, START)
        rig.close()
        assert rig.taken_over and not rig.published


def test_a_mistake_while_telling_ends_the_motion_and_is_told(leg: cld.Robot) -> None:
    class Failing(SlowRig):
        def accepted(self, accepted: Accepted) -> Saying:
            raise RuntimeError("the middleware is gone")

    with closing(Failing(leg, followed=True)) as rig:
        rig.cycle()
        rig.execution.offer(to(GOAL))
        rig.until(lambda: rig.execution.interrupted and rig.refusals)
        assert rig.execution.interrupted == UNTOLD and rig.refusals == ["the middleware is gone"]
        np.testing.assert_array_equal(rig.cycle(1.0).y, START)


def test_what_is_over_is_not_remembered(rig: SlowRig) -> None:
    """Trajectories that replace each other before they begin leave no chain behind."""
    rest = [np.zeros_like(START)]
    for k in range(30):
        goal = [START + 0.002 * k]
        rig.run(Offer(lambda goal=goal: Points.of([1.0], goal, rest, rest)))
        rig.cycle(0.02)
    motion, length = rig.execution._spline, 0
    while isinstance(motion, Handover):
        motion, length = motion.before, length + 1
    assert 0 < length <= TOLD_AHEAD / 0.02 + 2


@pytest.mark.parametrize("apart, needed", [(0.12, 0.3), (0.4, 0.4 / (GENTLE * 8.0))])
def test_a_robot_that_is_elsewhere_is_brought_to_rest_without_a_leap(
    rig: SlowRig, apart: float, needed: float
) -> None:
    """Whether it is there or its encoders err: who follows comes there slowly, or in a stop's time.

    Its slowest joints may move at 8 rad/s.
    """
    rig.run(to(GOAL, 2.0))
    reference = rig.cycle(TOLD_AHEAD + 0.5)
    elsewhere = reference.y + apart
    rig.execution.begin_anew(elsewhere, reference.yd, 0.3)
    rig.until(lambda: rig.diversions)
    begin, table = rig.diversions[0]
    assert begin == rig.now and table.times == pytest.approx([needed])  # and later, told later
    np.testing.assert_array_equal(table.ud, 0.0)
    state = rig.execution._checker.robot.state(rig.cycle(0.3).y)
    np.testing.assert_allclose(table.u[0], state.u, atol=1e-9)


class StoppedRig(Rig):
    """The process is stopped for 1.1 s, once: ``before`` or while something is said."""

    when = ""

    def _sleep(self, when: str) -> None:
        if when == self.when:
            self.when = ""
            self.pass_time(1.1)

    def _said(self, saying: Saying) -> Saying:
        self._sleep("before")

        def say() -> None:
            self._sleep("while")
            saying()

        return say

    def accepted(self, accepted: Accepted) -> Saying:
        return self._said(super().accepted(accepted))

    def diverted(self, begin: int, table: ActuatorTable) -> Saying:
        return self._said(super().diverted(begin, table))


@pytest.fixture
def stopped_rig(leg: cld.Robot) -> Iterator[StoppedRig]:
    with closing(StoppedRig(leg, followed=True)) as found:
        yield found


@pytest.mark.parametrize("when, said", [("before", 1), ("while", 2)])
def test_who_is_stopped_while_telling_of_a_motion_tells_it_anew(
    stopped_rig: StoppedRig, when: str, said: int
) -> None:
    rig = stopped_rig
    rig.cycle()
    rig.when = when
    rig.execution.offer(to(GOAL))
    rig.until(lambda: len(rig.published) == said)
    ahead = told_ahead(rig, rig.published[-1])
    assert ahead > 0.5 * TOLD_AHEAD
    rig.until(lambda: np.isfinite(rig.execution.remaining))
    np.testing.assert_array_equal(rig.cycle(ahead - PERIOD).y, START)
    np.testing.assert_allclose(rig.cycle(1.0 + PERIOD).y, GOAL, atol=1e-12)


@pytest.mark.parametrize("when, said", [("before", 1), ("while", 2)])
def test_who_is_stopped_while_telling_of_a_stop_tells_it_anew(
    stopped_rig: StoppedRig, when: str, said: int
) -> None:
    rig = stopped_rig
    rig.run(to(GOAL, 4.0))
    rig.cycle(TOLD_AHEAD + 0.5)
    rig.when = when
    rig.execution.brake(0.3)
    rig.until(lambda: len(rig.diversions) == said)
    begin, table = rig.diversions[-1]
    ahead = (begin - rig.now) / SECOND
    assert ahead > 0.5 * TOLD_AHEAD
    rig.until(lambda: np.isfinite(rig.execution.remaining))
    reference = rig.cycle(ahead)  # where the follower is, and as fast
    state = rig.execution._checker.robot.state(reference.y, reference.yd)
    np.testing.assert_allclose(table.u[0], state.u, atol=1e-9)
    np.testing.assert_allclose(table.ud[0], state.ud, atol=1e-9)
    assert np.abs(reference.yd).max() > 0.1 and np.abs(rig.cycle(0.3).yd).max() < 1e-9


@pytest.mark.parametrize("when, said", [("before", 1), ("while", 2)])
def test_who_is_stopped_while_telling_where_to_rest_leaves_the_time_of_a_stop(
    stopped_rig: StoppedRig, when: str, said: int
) -> None:
    rig = stopped_rig
    rig.run(to(GOAL, 4.0))
    reference = rig.cycle(TOLD_AHEAD + 0.5)
    rig.when = when
    rig.execution.begin_anew(reference.y + 0.12, reference.yd, 0.3)
    rig.until(lambda: len(rig.diversions) == said)
    begin, table = rig.diversions[-1]
    assert begin == rig.now and table.times == pytest.approx([0.3])


def test_what_was_said_too_late_and_cannot_begin_later_is_taken_back(
    stopped_rig: StoppedRig,
) -> None:
    rig = stopped_rig
    rig.run(to(GOAL, 0.6))
    rig.cycle(TOLD_AHEAD + 0.2)
    rig.when = "while"
    rig.execution.offer(Offer(back_to(rig), rig.now))
    rig.until(lambda: rig.execution.interrupted)
    assert rig.execution.interrupted == UNTOLD and len(rig.published) == 2
    state = rig.execution._checker.robot.state(GOAL)  # where the motion before leads
    np.testing.assert_allclose(rig.diversions[0][1].u[-1], state.u, atol=1e-9)
