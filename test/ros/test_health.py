"""Faults appear, stay while they last, and go."""

from __future__ import annotations

import math

import pytest

from closed_loop_dynamics.ros.health import ERROR, OK, WARN, Cycles, Health


def test_fault_is_cleared_by_its_own_channel_only() -> None:
    health = Health()
    assert health.status("active") == (OK, "active")
    health.fault("trajectory", "no points", 0.0)
    health.fault("input", "old", 0.0, WARN)
    assert health.status("active") == (ERROR, "input: old; trajectory: no points")
    health.clear("input")
    assert health.status("active") == (ERROR, "trajectory: no points")
    health.clear("trajectory")
    assert health.status("active") == (OK, "active")


def test_fault_is_forgotten_when_it_does_not_come_back() -> None:
    health = Health(hold=5.0)
    health.fault("input", "bad", 0.0)
    health.fault("input", "bad", 3.0)
    health.forget_old(7.0)
    assert health.status("active")[0] == ERROR
    health.forget_old(8.5)
    assert health.status("active")[0] == OK


def test_change_is_reported_once_and_numbers_in_the_text_do_not_count() -> None:
    health = Health()
    assert health.changed("active")
    assert not health.changed("active")
    health.fault("input", "3 efforts for 2 actuators", 0.0)
    assert health.changed("active")
    health.fault("input", "4 efforts for 2 actuators", 0.0)
    assert not health.changed("active")


def test_cycles_are_counted_since_the_last_look() -> None:
    health = Health()
    for began, seconds in ((0.0, 1.0), (4.0, 3.0), (12.0, 2.0)):
        health.cycle(began, began + seconds, 0.5 * seconds, 0.1 * seconds)
    seen = health.take_cycles()
    assert (seen.spent, seen.periods, seen.dynamics) == ([1.0, 3.0, 2.0], [4.0, 8.0], 1.0)
    assert seen.reading == pytest.approx(0.3)
    health.cycle(13.0, 14.0)
    assert health.take_cycles().periods == [1.0]  # since the last cycle of the last report
    assert health.take_cycles() == Cycles()


def test_statistics_are_those_of_the_cycles() -> None:
    periods = [1e-3] * 97 + [1.4e-3, 4e-3, 2.0]
    values = Cycles([2e-4] * 98 + [6e-4, 7e-3], periods, 5e-6).values()
    assert values["cycles"] == "100"
    numbers = {name: float(text) for name, text in values.items() if "histogram" not in name}
    assert numbers["cycle time mean [ms]"] == pytest.approx(0.272)
    assert numbers["cycle time p50 [ms]"] == 0.2
    assert (numbers["cycle time p99 [ms]"], numbers["cycle time max [ms]"]) == (7.0, 7.0)
    assert (numbers["period p50 [ms]"], numbers["period max [ms]"]) == (1.0, 2000.0)
    assert values["cycle time histogram [ms]"] == "<=0.2: 98, <=1: 1, <=10: 1"
    assert values["lateness histogram [ms]"] == "<=0.05: 97, <=0.5: 1, <=5: 1, >1000: 1"


def test_no_cycles_are_no_error() -> None:
    values = Cycles().values()
    assert values["cycles"] == "0" and values["cycle time histogram [ms]"] == ""
    assert math.isnan(float(values["period p99 [ms]"]))
