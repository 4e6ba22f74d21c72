"""Trajectories are checked beside the cycle, and take over exactly when that was promised."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from closed_loop_dynamics.ros.admission import Admission, Admitted
from closed_loop_dynamics.ros.trajectory import Motion, Points, Spline, TrajectoryRefused


class Examiner:
    """A judge whose clock goes on only when a check takes time."""

    def __init__(self, takes: list[float]) -> None:
        self.now = 100.0
        self.takes = takes
        self.begins: list[float] = []
        self.announced: list[float] = []
        self.refused: list[Exception] = []
        self.go = threading.Event()
        self.go.set()

    def clock(self) -> float:
        return self.now

    def lead_in(self, message: float, begin: float) -> Spline:
        """From rest at 0 to the message in a second."""
        zero = np.zeros(1)
        return Spline(Points.of([1.0], [[message]]), begin, Motion(begin, zero, zero, zero))

    def size(self, spline: Spline) -> int:
        return 10

    def check(self, spline: Spline, begin: float, wanted: Callable[[], bool]) -> str:
        self.go.wait(60.0)
        self.begins.append(begin)
        self.now += self.takes.pop(0)
        if spline.sample(begin + 2.0).y[0] > 10.0:
            raise TrajectoryRefused("too far")
        return "mapped"

    def announce(self, spline: Spline, begin: float, announcement: str) -> None:
        assert announcement == "mapped"
        self.announced.append(begin)

    def refuse(self, error: Exception) -> None:
        self.refused.append(error)


def drain(admission: Admission[float, str], examiner: Examiner) -> Admitted | None:
    """Ask as a cycle would, until there is an answer; time passes when nothing else happens."""
    while True:
        found = admission.take(examiner.now)
        if found is not None or examiner.refused:
            return found
        if examiner.announced:
            examiner.now += 1e-3


def test_it_takes_over_when_promised_from_where_the_old_one_is_then() -> None:
    examiner = Examiner([0.001])
    admission = Admission(examiner, patient=True)
    admission.offer(1.0)
    found = drain(admission, examiner)
    assert found is not None
    assert examiner.announced == [found.begin] and found.begin > 100.001
    assert examiner.now >= found.begin  # not before its time
    assert found.spline.sample(found.begin).y[0] == 0.0  # no jump
    assert not examiner.refused
    admission.close()


def test_a_check_that_is_late_is_repeated_with_more_time() -> None:
    examiner = Examiner([0.5, 0.6])
    admission = Admission(examiner, patient=True)
    admission.offer(1.0)
    found = drain(admission, examiner)
    assert found is not None and len(examiner.begins) == 2
    assert found.begin == examiner.begins[1] == 100.5 + 1.0
    admission.close()


def test_a_machine_that_is_never_in_time_is_told_so() -> None:
    examiner = Examiner([1.0 * 3**k for k in range(6)])
    admission = Admission(examiner, patient=True)
    admission.offer(1.0)
    assert drain(admission, examiner) is None
    assert "longer than expected" in str(examiner.refused[0]) and not examiner.announced
    admission.close()


def test_a_refusal_is_reported_and_the_next_one_is_looked_at() -> None:
    examiner = Examiner([0.001, 0.001])
    admission = Admission(examiner, patient=True)
    admission.offer(11.0)
    assert drain(admission, examiner) is None
    assert str(examiner.refused.pop()) == "too far"
    admission.offer(2.0)
    found = drain(admission, examiner)
    assert found is not None and found.spline.sample(200.0).y[0] == 2.0
    admission.close()


def test_the_newest_that_waits_is_taken_and_what_is_forgotten_never_comes() -> None:
    examiner = Examiner([0.001, 0.001])
    admission = Admission(examiner, patient=True)
    examiner.go.clear()
    admission.offer(1.0)
    assert admission.take(examiner.now) is None  # being checked
    admission.offer(2.0)
    admission.offer(3.0)
    admission.forget()
    examiner.go.set()
    found = drain(admission, examiner)
    assert found is not None and found.spline.sample(200.0).y[0] == 3.0
    assert len(examiner.announced) == 1 and not examiner.refused
    admission.close()


def test_in_lockstep_the_answer_comes_at_once() -> None:
    examiner = Examiner([0.5])
    admission = Admission(examiner, patient=False)
    admission.offer(1.0)
    found = admission.take(7.0)
    assert found is not None and found.begin == 7.0 == examiner.announced[0]
    assert admission.take(7.0) is None


def test_a_cycle_that_was_there_before_is_not_deceived() -> None:
    """The check is in time by its clock, but a cycle has already gone beyond the promised time."""
    examiner = Examiner([0.001, 0.001])
    admission = Admission(examiner, patient=True)
    examiner.go.clear()
    admission.offer(1.0)
    admission.take(100.0)
    admission.take(150.0)
    examiner.now = 149.0
    examiner.takes = [0.001] * 12
    examiner.go.set()
    while not examiner.refused and not examiner.announced:
        pass
    assert all(begin > 150.0 for begin in examiner.announced)
    admission.close()
