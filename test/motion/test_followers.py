"""Whoever follows motions by the clock hears of them before they begin, however slow the node."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from support.execution_rig import DEADLINE, GOAL, PERIOD, SECOND, START, Held, Rig, held_up, to

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.handover import Handover
from closed_loop_dynamics.motion.splice import Accepted, Offer
from closed_loop_dynamics.motion.telling import TOLD_AHEAD, UNTOLD
from closed_loop_dynamics.motion.trajectory import Points, Setpoint


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


def test_a_motion_that_cannot_begin_later_is_interrupted(rig: SlowRig) -> None:
    rig.run(to(GOAL, 0.6))
    rig.cycle(TOLD_AHEAD + 0.2)
    here = rig.execution.reference
    assert here is not None
    # Back to where it is now, at once: later, the running motion is too far from there.
    rest = np.zeros_like(here.y)
    back = Points.of([0.0, 0.5], [here.y, here.y], [here.yd, rest], [here.ydd, rest])
    rig.delay = 0.5
    stamp = rig.now
    rig.execution.offer(Offer(lambda: back, stamp))
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
        def accepted(self, accepted: Accepted) -> None:
            raise RuntimeError("the middleware is gone")

    with closing(Failing(leg, followed=True)) as rig:
        rig.cycle()
        rig.execution.offer(to(GOAL))
        rig.until(lambda: rig.execution.interrupted)
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


def test_a_robot_that_is_elsewhere_is_brought_to_rest_without_a_leap(rig: SlowRig) -> None:
    """Whether it is there or its encoders err: who follows has the time of a stop to come there."""
    rig.run(to(GOAL, 2.0))
    reference = rig.cycle(TOLD_AHEAD + 0.5)
    elsewhere = reference.y + 0.12
    rig.execution.begin_anew(elsewhere, reference.yd, 0.3)
    rig.until(lambda: rig.diversions)
    begin, table = rig.diversions[0]
    assert begin == rig.now and table.times == pytest.approx([0.3])  # and later, told later
    np.testing.assert_array_equal(table.ud, 0.0)
    state = rig.execution._checker.robot.state(rig.cycle(0.3).y)
    np.testing.assert_allclose(table.u[0], state.u, atol=1e-9)
