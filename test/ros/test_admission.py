"""Trajectories are examined beside the cycle, the newest first; what is good is handed over."""

from __future__ import annotations

import threading
from collections.abc import Callable

from closed_loop_dynamics.motion.admission import MOST_WAITING, Admission, Interrupted


class Examiner:
    """Examines numbers; negative ones are bad. Waits for ``go`` before each answer."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.refused: list[str] = []
        self.go, self.started = threading.Event(), threading.Event()
        self.go.set()

    def examine(self, message: int, wanted: Callable[[], bool]) -> str:
        self.begun.append(message)
        self.started.set()
        assert self.go.wait(60.0)
        if not wanted():
            raise Interrupted
        if message < 0:
            raise ValueError(f"bad {message}")
        return f"good {message}"

    def refuse(self, error: Exception) -> None:
        self.refused.append(str(error))


def drain(admission: Admission[int, str]) -> list[str]:
    """Ask as a cycle would, until nothing is left to wait for."""
    found = []
    while True:
        busy = admission.waiting or (admission._work is not None and not admission._work.done())
        candidate = admission.take()
        if candidate is not None:
            found.append(candidate)
        elif not busy:
            return found


def test_good_ones_come_and_bad_ones_are_refused() -> None:
    examiner = Examiner()
    admission = Admission(examiner, patient=True)
    assert admission.take() is None
    for message, found in ((1, ["good 1"]), (-2, []), (3, ["good 3"])):
        admission.offer(message)
        assert drain(admission) == found
    assert examiner.refused == ["bad -2"]
    admission.close()


def test_newer_ones_interrupt_and_a_good_one_replaces_all_before_it() -> None:
    examiner = Examiner()
    admission = Admission(examiner, patient=True)
    examiner.go.clear()
    admission.offer(1)
    assert admission.take() is None
    assert examiner.started.wait(60.0)  # 1 is being examined
    admission.offer(2)
    admission.offer(3)
    examiner.go.set()
    assert drain(admission) == ["good 3"]
    assert examiner.begun == [1, 3] and not examiner.refused
    admission.close()


def test_bad_newer_ones_do_not_cost_the_good_one_before() -> None:
    examiner = Examiner()
    admission = Admission(examiner, patient=True)
    examiner.go.clear()
    admission.offer(1)
    admission.take()
    assert examiner.started.wait(60.0)
    admission.offer(-2)
    admission.offer(-3)
    examiner.go.set()
    assert drain(admission) == ["good 1"]
    assert examiner.begun == [1, -3, -2, 1] and examiner.refused == ["bad -3", "bad -2"]
    admission.close()


def test_what_is_forgotten_never_comes_but_what_waits_does() -> None:
    examiner = Examiner()
    admission = Admission(examiner, patient=True)
    examiner.go.clear()
    admission.offer(1)
    admission.take()
    assert examiner.started.wait(60.0)
    admission.forget()
    examiner.go.set()
    while not admission._work.done():
        pass
    assert admission.take() is None
    admission.offer(2)
    assert drain(admission)[-1] == "good 2"
    admission.close()


def test_a_flood_is_bounded() -> None:
    examiner = Examiner()
    admission = Admission(examiner, patient=False)
    for k in range(100):
        admission.offer(-k - 1)
    assert admission.take() is None and len(examiner.refused) == MOST_WAITING


def test_in_lockstep_the_answer_comes_at_once() -> None:
    admission = Admission(Examiner(), patient=False)
    admission.offer(1)
    assert admission.take() == "good 1"
    assert admission.take() is None
