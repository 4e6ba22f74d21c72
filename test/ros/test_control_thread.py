"""The control thread: on its raster, no bursts, gone when stopped."""

from __future__ import annotations

import itertools
import threading
import time

from closed_loop_dynamics.ros.control_thread import ControlThread


def test_beginnings_keep_to_the_raster_and_missed_ones_are_left_out() -> None:
    period, begins, enough = 0.02, [], threading.Event()

    def work() -> None:
        begins.append(time.monotonic())
        if len(begins) == 3:
            time.sleep(2.5 * period)
        if len(begins) == 12:
            enough.set()

    thread = ControlThread(period, work)
    thread.start()
    assert enough.wait(60.0)
    thread.stop()
    count = len(begins)
    time.sleep(3 * period)
    assert len(begins) == count  # it has ended
    slots = [round((b - begins[0]) // period) for b in begins]
    assert all(b > a for a, b in itertools.pairwise(slots))  # never two in one period
    assert slots[3] - slots[2] >= 2  # what was missed is not made up for


def test_it_may_stop_itself() -> None:
    done = threading.Event()

    def work() -> None:
        thread.stop()
        done.set()

    thread = ControlThread(0.001, work)
    thread.start()
    assert done.wait(60.0)
