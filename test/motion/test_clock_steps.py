"""Steps of the clock are seen; slow corrections and a busy machine are none."""

from __future__ import annotations

from closed_loop_dynamics.motion.clock_steps import ClockSteps

SECOND = 1_000_000_000


class Clocks:
    """Two clocks that a test sets."""

    def __init__(self) -> None:
        self.system, self.steady, self.delays = 1_700_000_000 * SECOND, 5 * SECOND, [0]

    def read(self) -> int:
        now = self.system
        self.go_on(self.delays.pop(0) if self.delays else 0)  # preempted after reading
        return now

    def go_on(self, nanosec: int) -> None:
        self.system += nanosec
        self.steady += nanosec


def test_a_step_is_seen_once() -> None:
    clocks = Clocks()
    steps = ClockSteps(clocks.read, lambda: clocks.steady)
    assert steps.look() == (clocks.system, 0)
    for step in (3 * SECOND, -SECOND, 5_000_000):
        clocks.go_on(1_000_000)
        assert steps.look()[1] == 0
        clocks.system += step
        clocks.go_on(1_000_000)
        assert steps.look() == (clocks.system, step)
        clocks.go_on(1_000_000)
        assert steps.look()[1] == 0


def test_slow_correction_is_no_step() -> None:
    clocks = Clocks()
    steps = ClockSteps(clocks.read, lambda: clocks.steady)
    for _ in range(10_000):  # 500 ppm, seen every millisecond
        clocks.go_on(1_000_000)
        clocks.system += 500
        assert steps.look()[1] == 0


def test_being_held_up_is_no_step() -> None:
    clocks = Clocks()
    steps = ClockSteps(clocks.read, lambda: clocks.steady)
    steps.look()
    clocks.delays = [20_000_000]  # then it reads again
    assert steps.look()[1] == 0
    clocks.delays = [20_000_000] * 5  # then it gives up until the next time
    clocks.system += SECOND
    now, step = steps.look()
    assert step == 0 and clocks.system - SECOND - now <= 20_000_000  # as if it were not there yet
    assert steps.look() == (clocks.system, SECOND)
