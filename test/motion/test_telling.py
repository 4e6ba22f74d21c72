"""Corners of telling who follows by the clock: late stops, long messages, what is nearly over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from support.execution_rig import DEADLINE, GOAL, PERIOD, SECOND, START, Held, Rig, held_up, to

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.splice import Offer
from closed_loop_dynamics.motion.stream_target import Reference, Targets
from closed_loop_dynamics.motion.telling import PER_SAMPLE, TOLD_AHEAD
from closed_loop_dynamics.motion.trajectory import Setpoint, cycloidal


@pytest.fixture
def rig(leg: cld.Robot) -> Iterator[Rig]:
    with closing(Rig(leg, followed=True)) as found:
        yield found


def test_a_long_message_is_told_longer_before_it_begins(rig: Rig) -> None:
    rig.run(to(GOAL, 30.0))
    told = rig.published[0]
    needed = 0.5 * TOLD_AHEAD + PER_SAMPLE * len(told.table.times)
    assert needed > TOLD_AHEAD  # else it would have been told in time anyway
    assert (told.begin - rig.now) / SECOND >= needed


def test_a_place_to_rest_that_is_told_late_leaves_the_whole_time_of_a_stop(rig: Rig) -> None:
    rig.run(to(GOAL, 2.0))
    reference = rig.cycle(TOLD_AHEAD + 0.5)
    go = held_up(rig)
    rig.execution.begin_anew(reference.y + 0.12, reference.yd, 0.3)
    rig.cycle(0.25)
    go.set()
    rig.until(lambda: rig.diversions)
    begin, table = rig.diversions[0]
    assert begin == rig.now and table.times == pytest.approx([0.3])


@pytest.mark.parametrize("left, refused", [(0.4 * TOLD_AHEAD, True), (0.6 * TOLD_AHEAD, False)])
def test_what_is_over_before_it_can_be_told_is_refused(
    rig: Rig, left: float, refused: bool
) -> None:
    rig.run(to(GOAL))
    rig.cycle(TOLD_AHEAD + 1.0)
    points = cycloidal(GOAL, GOAL, 1.0)
    rig.execution.offer(Offer(lambda: points, rig.now - round((1.0 - left) * SECOND)))
    rig.until(lambda: rig.refusals or len(rig.taken_over) == 2)
    assert rig.refusals == ["it is over before who follows it can be told of it"] * refused


def test_what_is_good_is_told_before_the_next_is_examined(rig: Rig) -> None:
    """However long that takes: until it is told it does not begin."""
    rig.cycle()
    rig.execution.offer(to(GOAL))
    rig.cycle()
    work = rig.execution._examination._work
    assert work is not None
    work.result(DEADLINE)  # it is good, and takes over in the next cycle
    held = Held(START, [])
    rig.execution.offer(held.offer)
    rig.until(lambda: held.reading.is_set())
    assert len(rig.published) == 1
    held.go.set()


def test_who_commands_some_joints_is_asked_where_the_others_will_be(rig: Rig) -> None:
    rig.run(to(GOAL, 2.0))
    rig.cycle(TOLD_AHEAD + 0.5)
    asked: list[Setpoint] = []
    points = cycloidal(START, GOAL, 1.0)
    rig.run(Offer(lambda: points, begins=asked.append))
    taken_at = (rig.published[1].begin - rig.now) / SECOND
    assert len(asked) == 1 and taken_at == pytest.approx(TOLD_AHEAD, abs=PERIOD)
    np.testing.assert_allclose(asked[0].y, rig.cycle(taken_at).y, atol=1e-9)
    np.testing.assert_allclose(asked[0].yd, rig.cycle().yd, atol=1e-9)


@pytest.mark.parametrize("jerk, believed", [(50.0, True), (0.0, False)])
def test_the_jerk_of_a_stream_is_believed_and_that_of_its_noise_is_not(
    jerk: float, believed: bool
) -> None:
    """Speeds at 50 Hz, of constant jerk or of none with noise on them."""
    targets, h, random = Targets(0.01, np.full(1, 1e4)), 0.02, np.random.default_rng(1)
    found = []
    for k in range(200):
        t = k * h
        noise = 0.0 if believed else 0.05 * random.standard_normal()
        yd = np.array([0.5 * jerk * t**2 + noise])
        found.append(targets.add(t, [Reference(np.array([jerk * t**3 / 6.0]), yd)]).jerk[0])
    if believed:
        np.testing.assert_allclose(found[5:], jerk, rtol=1e-6)
    else:  # of three differences of noise no two in a row agree more often than by chance
        largest = 4 * 0.05 / h**2
        assert np.median(np.abs(found)) < 1e-3 * largest and np.max(np.abs(found)) < largest
