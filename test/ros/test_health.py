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
    for seconds in (1.0, 3.0):
        health.cycle(seconds)
    assert health.take_cycles() == (2, 2.0, 3.0)
    assert health.take_cycles() == (0, 0.0, 0.0)
