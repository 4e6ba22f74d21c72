"""How late a measurement comes, whoever's clock has stamped it."""

from __future__ import annotations

import pytest

from closed_loop_dynamics.motion.transit import MEMORY, ODD, Transit

SECOND = 1_000_000_000


class Line:
    """Messages on their way, with a clock of the sender's that is ``offset`` seconds off."""

    def __init__(self, offset: float = 0.0) -> None:
        self.transit = Transit()
        self.steady = 100.0
        self.ours, self.theirs = 1_000_000.0, 1_000_000.0 + offset

    def send(self, delay: float, after: float = 0.002) -> float:
        """A message that comes ``after`` the last one, on the way for ``delay``; how late it is."""
        self.steady += after
        self.ours += after
        self.theirs += after
        stamp = round((self.theirs - delay) * SECOND)
        return self.transit.late(stamp, round(self.ours * SECOND), self.steady)


@pytest.mark.parametrize("offset", [0.0, -3600.0, 12.5])
def test_only_what_is_more_than_usual_is_late(offset: float) -> None:
    line = Line(offset)
    assert [line.send(0.001) for _ in range(10)] == pytest.approx([0.0] * 10, abs=1e-6)
    assert line.send(0.031) == pytest.approx(0.03, abs=1e-6)
    assert line.send(0.001) == pytest.approx(0.0, abs=1e-6)


def test_a_delay_that_stays_does_not_become_usual_at_once() -> None:
    line = Line()
    line.send(0.001)
    line.send(0.2, after=0.3)
    lates = [line.send(0.2, after=0.1) for _ in range(round(2.5 * MEMORY / 0.1))]
    assert lates[round(0.9 * MEMORY / 0.1)] == pytest.approx(0.199, abs=1e-6)
    assert lates[-1] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("step", [-5.0, -0.01, 0.036, 0.3, 77.0])
def test_a_clock_that_is_set_makes_nothing_late(step: float) -> None:
    line = Line()
    for _ in range(10):
        line.send(0.001)
    line.ours += step
    assert line.send(0.001) == pytest.approx(0.0, abs=1e-6)


def test_a_pause_is_no_jump_of_the_clock() -> None:
    line = Line()
    line.send(0.001)
    assert line.send(0.101, after=0.7) == pytest.approx(0.1, abs=1e-6)


def test_what_has_no_stamp_comes_in_time() -> None:
    assert Transit().late(0, 5 * SECOND, 1.0) == 0.0


@pytest.mark.parametrize("step", [-0.3, -77.0])
def test_a_sensor_whose_clock_is_set_back_is_believed_again_soon(step: float) -> None:
    line = Line()
    for _ in range(10):
        line.send(0.001)
    line.theirs += step
    lates = [line.send(0.001) for _ in range(ODD + 2)]
    assert lates[0] == pytest.approx(-step) and lates[-1] == pytest.approx(0.0, abs=1e-6)


def test_what_comes_late_all_of_it_or_in_between_stays_late() -> None:
    """A queue that holds everything up lets its first message come after a pause."""
    line = Line()
    line.send(0.001)
    held_up = [line.send(0.2, after=0.2 if k == 0 else 0.002) for k in range(5 * ODD)]
    assert min(held_up) == pytest.approx(0.199, abs=1e-6)
    line = Line()
    line.send(0.001)
    between = [line.send(0.2 if k % 2 else 0.001) for k in range(5 * ODD)]
    assert between[1::2] == pytest.approx([0.199] * len(between[1::2]), abs=1e-6)
