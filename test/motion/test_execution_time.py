"""Time that jumps drops the motion, not the robot; a clock that somebody sets moves neither."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from support.execution_rig import BEGIN, DEADLINE, GOAL, SECOND, START, Held, Rig, to

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.trajectory import Setpoint, Spline, cycloidal


@pytest.fixture
def rig(leg: cld.Robot) -> Iterator[Rig]:
    with closing(Rig(leg)) as found:
        yield found


@pytest.mark.parametrize("jump", [-0.5, -1.7e9, 1.001, 1e6])
def test_a_jump_of_time_drops_the_motion_and_not_the_robot(leg: cld.Robot, jump: float) -> None:
    with closing(Rig(leg, leap=1.0)) as rig:
        rig.run(to(GOAL))
        before = rig.cycle(0.5)
        after = rig.cycle(jump)
        assert rig.jumps == [pytest.approx(jump)]
        np.testing.assert_array_equal(after.y, before.y)
        np.testing.assert_array_equal(after.yd, 0.0)
        np.testing.assert_array_equal(rig.cycle(0.5).y, before.y)
        assert rig.jumps == [pytest.approx(jump)]  # no other
        rig.run(to(GOAL, start=before.y))  # new motions, in the new time
        np.testing.assert_allclose(rig.cycle(1.0).y, GOAL, atol=1e-12)


def test_what_goes_on_is_no_jump(leg: cld.Robot) -> None:
    with closing(Rig(leg, leap=1.0)) as rig:
        rig.run(to(GOAL, 3.0))
        for seconds in (0.0, 1.0, 0.002, 1.0, 0.998):
            rig.cycle(seconds)
        assert not rig.jumps
        np.testing.assert_allclose(rig.cycle().y, GOAL, atol=1e-12)


def test_what_is_examined_during_a_jump_is_examined_again_in_the_new_time(leg: cld.Robot) -> None:
    begun: list[Any] = []
    with closing(Rig(leg, leap=1.0)) as rig:
        held = Held(GOAL, begun)
        rig.execution.offer(held.offer)
        rig.cycle()
        assert held.reading.wait(DEADLINE)
        rig.cycle(-100.0)
        held.go.set()
        rig.until(lambda: rig.published)
        assert begun == [held, held] and rig.taken_over == [held.offer] and not rig.refusals
        assert rig.published[0].begin == rig.now


def test_what_was_found_good_before_a_jump_never_comes(leg: cld.Robot) -> None:
    with closing(Rig(leg, leap=1.0)) as rig:
        held = Held(GOAL, [])
        rig.execution.offer(held.offer)
        rig.cycle()
        held.go.set()
        work = rig.execution._examination._work
        assert work is not None
        work.result(DEADLINE)
        rig.cycle(-100.0)
        np.testing.assert_array_equal(rig.cycle(1.0).y, START)
        assert not rig.taken_over and not rig.execution.waiting


@pytest.mark.parametrize("step", [3 * SECOND, -SECOND, 5_000_000])
def test_when_somebody_sets_the_clock_the_motion_goes_on(rig: Rig, step: int) -> None:
    def cycle(seconds: float) -> Setpoint:
        rig.pass_time(seconds)
        setpoint = rig.execution.advance(rig.execution.look())
        assert setpoint is not None
        return setpoint

    cycle(0.0)
    rig.run(to(GOAL))
    spline = Spline(cycloidal(START, GOAL, 1.0), 0.0, Setpoint(0.0, START, 0 * START, 0 * START))
    np.testing.assert_allclose(cycle(0.3).y, spline.sample(0.3).y, atol=1e-9)
    rig.now += step
    np.testing.assert_allclose(cycle(0.1).y, spline.sample(0.4).y, atol=1e-9)
    assert rig.steps == [step / SECOND] and not rig.jumps
    np.testing.assert_allclose(cycle(0.1).y, spline.sample(0.5).y, atol=1e-9)
    assert rig.steps == [step / SECOND]
    assert rig.execution.remaining == pytest.approx(0.5)


def test_a_microsecond_back_is_no_jump(rig: Rig) -> None:
    rig.execution.advance(rig.execution.look())
    rig.now -= 1000
    assert rig.execution.look() == BEGIN
    rig.execution.advance(rig.execution.look())
    assert not rig.jumps and not rig.steps
