"""The control thread: on its raster, no bursts, gone when stopped."""

from __future__ import annotations

import itertools
import threading

import pytest

from closed_loop_dynamics.ros.control_thread import ControlThread, next_beginning

DEADLINE = 60.0  # [s]; only a hanging thread meets it


@pytest.mark.parametrize(
    ("now", "due"),
    [
        (10.5, 11.0),  # the work took half a period
        (11.0, 11.0),
        (11.5, 11.0),  # a little late: at once
        (13.7, 13.0),  # what was missed is not made up for
    ],
)
def test_beginnings_keep_to_the_raster_and_missed_ones_are_left_out(now: float, due: float) -> None:
    assert next_beginning(10.0, 1.0, now) == due


def test_never_two_beginnings_in_one_period() -> None:
    now, begins = 0.0, [0.0]
    for spent in [0.3, 0.9, 1.0, 2.5, 0.1, 7.2, 0.0, 1.7, 0.4, 0.4]:
        now += spent
        begins.append(next_beginning(begins[-1], 1.0, now))
        now = max(now, begins[-1])
    assert all(b - a >= 1.0 and (b - a) % 1.0 == 0.0 for a, b in itertools.pairwise(begins))


def test_it_works_again_and_again_until_it_is_stopped() -> None:
    said: list[str] = []
    enough = threading.Event()

    def work() -> None:
        said.append("work")
        if len(said) == 12:
            enough.set()

    thread = ControlThread(0.002, work, lambda: said.append("begin"))
    thread.start()
    assert enough.wait(DEADLINE)
    thread.stop()
    assert said[:2] == ["begin", "work"] and said.count("begin") == 1
    assert not any(t.name == "control" for t in threading.enumerate())


def test_it_may_stop_itself() -> None:
    done = threading.Event()

    def work() -> None:
        thread.stop()
        done.set()

    thread = ControlThread(0.001, work)
    thread.start()
    assert done.wait(DEADLINE)
