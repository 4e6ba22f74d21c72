"""Whoever follows motions by the clock hears of them before they begin, however slow the node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from support.execution_rig import GOAL, PERIOD, SECOND, START, Rig, to

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.splice import Accepted, Offer
from closed_loop_dynamics.motion.telling import TOLD_AHEAD, UNTOLD
from closed_loop_dynamics.motion.trajectory import Points


class SlowRig(Rig):
    """Its examining thread sleeps for ``delay`` seconds before it tells anything."""

    delay = 0.0

    def taken(self, offer: Offer) -> None:
        super().taken(offer)
        self.pass_time(self.delay)


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
    assert ahead == pytest.approx(2.0 * TOLD_AHEAD)
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


@pytest.mark.parametrize("delay", [0.0, 0.4])
def test_a_stop_is_told_before_it_begins(rig: SlowRig, delay: float) -> None:
    rig.run(to(GOAL, 2.0))
    rig.cycle(TOLD_AHEAD + 0.5)
    work = rig.execution._examination._pool
    assert work is not None
    work.submit(rig.pass_time, delay)  # the thread that tells is held up
    rig.execution.brake(0.3)
    rig.until(lambda: rig.diversions)
    begin, table = rig.diversions[0]
    assert (begin - rig.now) / SECOND == pytest.approx(TOLD_AHEAD)
    rig.cycle()
    reference = rig.cycle(TOLD_AHEAD)  # where the follower is, and as fast
    state = rig.execution._checker.robot.state(reference.y, reference.yd)
    np.testing.assert_allclose(table.u[0], state.u, atol=1e-9)
    np.testing.assert_allclose(table.ud[0], state.ud, atol=1e-9)
    assert np.abs(rig.cycle(0.3).yd).max() < 1e-9


def test_a_robot_that_is_elsewhere_is_brought_to_rest_without_a_leap(rig: SlowRig) -> None:
    """Whether it is there or its encoders err: who follows has the time of a stop to come there."""
    rig.run(to(GOAL, 2.0))
    reference = rig.cycle(TOLD_AHEAD + 0.5)
    elsewhere = reference.y + 0.12
    rig.execution.begin_anew(elsewhere, reference.yd, 0.3)
    rig.until(lambda: rig.diversions)
    begin, table = rig.diversions[0]
    assert begin == rig.now and table.times == pytest.approx([0.3])
    np.testing.assert_array_equal(table.ud, 0.0)
    state = rig.execution._checker.robot.state(rig.cycle(0.3).y)
    np.testing.assert_allclose(table.u[0], state.u, atol=1e-9)
