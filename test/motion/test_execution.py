"""From offers to setpoints: newest first, refusals, splices, beginnings; no ROS, no waiting."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from support.execution_rig import DEADLINE, GOAL, PERIOD, SECOND, START, Held, Rig, bad, to

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.examination import MOST_WAITING
from closed_loop_dynamics.motion.splice import Offer
from closed_loop_dynamics.motion.trajectory import Points, Setpoint, Spline, cycloidal
from closed_loop_dynamics.motion.trajectory_check import Interrupted


@pytest.fixture
def rig(leg: cld.Robot) -> Iterator[Rig]:
    with closing(Rig(leg)) as found:
        yield found


# -- who is examined, and in which order ----------------------------------------------------------


def test_good_ones_take_over_and_bad_ones_are_refused(rig: Rig) -> None:
    np.testing.assert_array_equal(rig.cycle().y, START)
    offer = to(GOAL)
    rig.run(offer)
    assert rig.taken_over == [offer] and not rig.refusals
    rig.execution.offer(bad("no points"))
    rig.until(lambda: rig.refusals)
    assert rig.refusals == ["no points"]
    np.testing.assert_allclose(rig.cycle(1.0).y, GOAL, atol=1e-12)


def test_newer_ones_interrupt_and_a_good_one_replaces_all_before_it(rig: Rig) -> None:
    begun: list[Any] = []
    first, second, third = (Held(GOAL, begun) for _ in range(3))
    for other in (second, third):
        other.go.set()
    rig.execution.offer(first.offer)
    rig.cycle()
    assert first.reading.wait(DEADLINE)  # it is being examined
    rig.execution.offer(second.offer)
    rig.execution.offer(third.offer)
    first.go.set()
    rig.until(lambda: rig.published)
    assert rig.taken_over == [third.offer] and begun == [first, third] and not rig.refusals
    assert rig.drops == ["a newer trajectory takes its place"] * 2
    assert not rig.execution.waiting


def test_bad_newer_ones_do_not_cost_the_good_one_before(rig: Rig) -> None:
    begun: list[Any] = []
    first = Held(GOAL, begun)
    rig.execution.offer(first.offer)
    rig.cycle()
    assert first.reading.wait(DEADLINE)
    rig.execution.offer(bad("second"))
    rig.execution.offer(bad("third"))
    first.go.set()
    rig.until(lambda: rig.published)
    assert rig.refusals == ["third", "second"]
    assert begun == [first, first] and rig.taken_over == [first.offer]


def test_a_flood_is_bounded(leg: cld.Robot) -> None:
    rig = Rig(leg, at_once=True)
    for k in range(100):
        rig.execution.offer(bad(str(k)))
    rig.cycle()
    assert rig.refusals == [str(k) for k in range(99, 99 - MOST_WAITING, -1)]


def test_who_will_not_be_executed_is_told(rig: Rig) -> None:
    rig.run(to(GOAL))
    begun: list[Any] = []
    held = Held(START, begun)
    rig.execution.offer(held.offer)
    rig.cycle(PERIOD)
    assert held.reading.wait(DEADLINE)
    rig.execution.offer(Offer(lambda: Points.of([1.0], [GOAL]), begins=nobody_wants))
    held.go.set()
    rig.until(lambda: rig.drops)
    rig.until(lambda: len(rig.drops) == 2)
    assert sorted(rig.drops) == ["a newer trajectory takes its place", "it is not wanted any more"]
    assert len(rig.taken_over) == 1


def nobody_wants(running: Setpoint) -> None:
    raise Interrupted


def test_in_lockstep_the_answer_comes_at_once(leg: cld.Robot) -> None:
    rig = Rig(leg, at_once=True)
    threads = set(threading.enumerate())
    rig.execution.offer(to(GOAL))
    rig.cycle()
    assert len(rig.taken_over) == len(rig.published) == 1
    new = set(threading.enumerate()) - threads
    assert all(thread.name.startswith("closed_loop_rows") for thread in new)  # of batches
    np.testing.assert_allclose(rig.cycle(1.0).y, GOAL, atol=1e-12)


def test_the_cycle_goes_on_during_an_examination(rig: Rig) -> None:
    rig.run(to(GOAL))
    held = Held(START, [])
    rig.execution.offer(held.offer)
    rig.cycle()
    assert held.reading.wait(DEADLINE)
    spline = Spline(cycloidal(START, GOAL, 1.0), 0.0, Setpoint(0.0, START, 0 * START, 0 * START))
    for k in range(1, 100):
        np.testing.assert_allclose(rig.cycle(0.01).y, spline.sample(0.01 * k).y, atol=1e-9)
    held.go.set()


def test_closing_ends_the_thread_in_the_middle_of_an_examination(leg: cld.Robot) -> None:
    rig, held = Rig(leg), Held(GOAL, [])
    rig.execution.offer(held.offer)
    rig.cycle()
    assert held.reading.wait(DEADLINE)
    assert any(thread.name.startswith("trajectory") for thread in threading.enumerate())
    closer = threading.Thread(target=rig.close)
    closer.start()
    held.go.set()
    closer.join(DEADLINE)
    assert not closer.is_alive()
    assert not any(thread.name.startswith("trajectory") for thread in threading.enumerate())
    assert not rig.taken_over and not rig.refusals


# -- splices --------------------------------------------------------------------------------------


def test_a_refusal_keeps_the_running_motion(rig: Rig) -> None:
    rig.run(to(GOAL))
    before = rig.cycle(0.3)
    outside = GOAL + np.array([0.0, 2.0, 0.0])
    far = Points.of([0.0, 1.0], [GOAL + 0.3] * 2, [[0.0] * 3] * 2, [[0.0] * 3] * 2)
    for offer, reason in ((to(outside), "outside"), (Offer(lambda: far), "away from the command")):
        count = len(rig.refusals)
        rig.execution.offer(offer)
        rig.until(lambda n=count: len(rig.refusals) > n)
        assert reason in rig.refusals[-1]
        after = rig.cycle()
        assert after.y.tobytes() == before.y.tobytes()
        assert after.yd.tobytes() == before.yd.tobytes()
    assert len(rig.taken_over) == 1
    np.testing.assert_allclose(rig.cycle(0.7).y, GOAL, atol=1e-12)


def test_an_error_of_ours_is_a_refusal_as_well(rig: Rig) -> None:
    rig.execution.offer(Offer(lambda: 1 / 0))  # type: ignore[arg-type, return-value]
    rig.until(lambda: rig.refusals)
    assert rig.refusals == ["division by zero"]
    rig.run(to(GOAL))


@pytest.mark.parametrize("stamped", [False, True])
def test_position_and_velocity_are_continuous_where_a_motion_takes_over(
    rig: Rig, stamped: bool
) -> None:
    rig.run(to(GOAL))
    before = rig.cycle(0.4)
    assert np.abs(before.yd).max() > 0.5
    rest = np.zeros((2, 3))
    back = Points.of([0.0, 1.0], [before.y + 0.05, START], rest, rest)
    stamp = rig.now - SECOND // 20 if stamped else 0  # its first point has passed
    after = rig.run(Offer(lambda: back, stamp))
    np.testing.assert_allclose(after.y, before.y, atol=1e-9)
    np.testing.assert_allclose(after.yd, before.yd, atol=1e-9)
    setpoints = [after, *(rig.cycle(PERIOD) for _ in range(600))]
    steps = np.diff([s.y for s in setpoints], axis=0)
    speeds = np.array([s.yd for s in setpoints])
    trapezoid = 0.5 * PERIOD * (speeds[1:] + speeds[:-1])
    np.testing.assert_allclose(steps, trapezoid, atol=1e-4 * np.abs(steps).max() + 1e-7)
    np.testing.assert_allclose(setpoints[-1].y, START, atol=1e-12)


def test_the_accepted_motion_is_what_is_commanded(rig: Rig, leg: cld.Robot) -> None:
    rig.cycle()
    rig.pass_time(0.25)
    rig.run(to(GOAL))
    (accepted,) = rig.published
    assert accepted.begin == rig.now
    assert (accepted.points, accepted.duration) == (20, pytest.approx(1.0))
    assert accepted.table.times[0] == 0.0
    begin = rig.now
    for k in (0, 33, 70, len(accepted.table.times) - 1):
        rig.now = begin + round(accepted.table.times[k] * SECOND)
        setpoint = rig.cycle()
        state = leg.state(setpoint.y, setpoint.yd)
        np.testing.assert_allclose(accepted.table.u[k], state.u, atol=1e-8)
        np.testing.assert_allclose(accepted.table.ud[k], state.ud, atol=1e-8)


def test_what_is_over_when_it_is_found_good_is_refused(rig: Rig) -> None:
    """The examination took longer than the trajectory lasts."""
    points = cycloidal(START, GOAL, 1.0)
    held = Held(GOAL, [])
    rig.execution.offer(Offer(held.offer.read, rig.now))
    rig.cycle()
    assert held.reading.wait(DEADLINE)
    rig.pass_time(float(points.times[-1]) + 0.5)
    held.go.set()
    rig.until(lambda: rig.refusals)
    assert rig.refusals == ["it ended 0.5 s ago"]
    np.testing.assert_array_equal(rig.cycle().y, START)


def test_it_looks_ahead_and_tells_what_remains(rig: Rig) -> None:
    assert rig.execution.remaining is None and not rig.execution.begun
    rig.run(to(GOAL))
    setpoint = rig.cycle(0.25)
    assert rig.execution.begun and rig.execution.remaining == pytest.approx(0.75)
    assert rig.execution.nearest_singularity is None  # of no platform
    assert rig.execution.ahead(setpoint, 0.0) is setpoint
    later = rig.execution.ahead(setpoint, 0.001)
    np.testing.assert_allclose(later.y, setpoint.y + 0.001 * setpoint.yd, atol=1e-5)
    rig.cycle(2.0)
    assert rig.execution.remaining == pytest.approx(-1.25)


# -- where it begins ------------------------------------------------------------------------------


def test_offers_wait_until_the_robot_is_seen(leg: cld.Robot) -> None:
    with closing(Rig(leg, initial=None)) as rig:
        rig.measurable = True
        rig.execution.offer(to(GOAL))
        assert rig.execution.advance(rig.now) is None
        assert rig.execution.waiting and not rig.execution.begun
        rig.measured = START
        np.testing.assert_array_equal(rig.cycle().y, START)
        rig.until(lambda: rig.published)


def test_it_begins_within_the_limits(leg: cld.Robot) -> None:
    rig = Rig(leg, initial=None, at_once=True)
    rig.measured = np.array([0.0, 1.81, 0.0])  # a little past its stop
    np.testing.assert_array_equal(rig.cycle().y, [0.0, 1.8, 0.0])


@pytest.mark.parametrize("measured", [None, GOAL + 0.05])
def test_restarted_it_rests_where_the_robot_is(rig: Rig, measured: np.ndarray | None) -> None:
    """Not where it was in the beginning; where nobody measures it is where it was told to be."""
    rig.run(to(GOAL))
    there = rig.cycle(0.5)
    rig.close()
    rig.execution.restart()
    assert rig.execution.remaining is None
    rig.measured = measured
    again = rig.cycle(5.0)
    np.testing.assert_array_equal(again.y, there.y if measured is None else measured)
    np.testing.assert_array_equal(again.yd, 0.0)
    rig.run(to(GOAL, start=again.y))
    np.testing.assert_allclose(rig.cycle(1.0).y, GOAL, atol=1e-12)


def test_restarted_it_waits_for_who_measures(rig: Rig) -> None:
    rig.cycle()
    rig.close()
    rig.execution.restart()
    rig.measurable = True
    assert rig.execution.advance(rig.now) is None
