"""Faults appear, stay while they last, and go."""

from __future__ import annotations

from closed_loop_dynamics.ros.health import ERROR, OK, WARN, Health


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
        health.cycle(began, began + seconds, 0.5 * seconds)
    seen = health.take_cycles()
    assert (seen.count, seen.mean, seen.longest, seen.dynamics) == (3, 2.0, 3.0, 1.0)
    assert (seen.period_p50, seen.period_p99) == (8.0, 8.0)
    health.cycle(13.0, 14.0)
    assert health.take_cycles().period_p50 == 1.0  # since the last cycle of the last report
    assert health.take_cycles().count == 0
