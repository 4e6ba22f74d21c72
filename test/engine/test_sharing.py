"""Sharing rows among threads: which parts there are, who takes them, and what an error does."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from engine_support.programs import ARM, arm_solution

from closed_loop_dynamics.engine import threads
from closed_loop_dynamics.engine.native import simd_lanes
from closed_loop_dynamics.engine.threads import how_many, on_threads, parts, share
from closed_loop_dynamics.errors import InvalidInput


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 16, 1000, 4097, 100_000])
@pytest.mark.parametrize("count", [2, 3, 7, 5000])
@pytest.mark.parametrize("pace", [0.0, 1e-9, 1e-6, 1e-3])
def test_parts_cover_all_rows_once_and_begin_at_whole_blocks(
    rows: int, count: int, pace: float
) -> None:
    found = list(parts(rows, 8, count, pace))
    assert found[0][0] == 0 and found[-1][1] == rows
    assert all(end == start for (_, end), (start, _) in pairwise(found))
    assert all(start % 8 == 0 for start, _ in found)
    assert len(found) >= min(count, -(-rows // 8)) // 2 + 1  # hardly a thread has nothing to do
    sizes = [end - start for start, end in found]
    assert max(sizes) <= max(8, rows / count + 8)
    assert all(later <= earlier for earlier, later in pairwise(sizes))


def test_parts_become_shorter_but_not_too_short_to_be_worth_it() -> None:
    sizes = [end - start for start, end in parts(100_000, 8, 2, 1e-6)]
    assert sizes[0] == 25_000 and len(sizes) < 40
    assert min(sizes[:-1]) == 1e6 * threads.SHORTEST + 4  # whole blocks


def test_by_default_the_work_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_cores", lambda: 4)
    found = [how_many(n, 8, threads.WORTH / 100) for n in (10, 199, 201, 399, 5000)]
    assert found == [0, 1, 2, 3, 4]


def test_what_a_slow_thread_has_not_begun_is_done_by_others() -> None:
    """The helper is held in its first part until all others have ended."""
    begun, ended = threading.Event(), threading.Event()
    caller, taken, others = threading.get_ident(), [0], [0]

    def run(start: int, end: int) -> None:
        if threading.get_ident() != caller:
            taken[0] = end - start
            begun.set()
            assert ended.wait(60)
            return
        assert begun.wait(60)  # or it would take none
        others[0] += end - start
        if others[0] + taken[0] == 1000:
            ended.set()

    on_threads(2, share, 1000, 1, run, 1e-3)
    assert 0 < taken[0] <= 250 and others[0] + taken[0] == 1000


def test_parts_run_at_the_same_time() -> None:
    together = threading.Barrier(3, timeout=60)
    seen = set()

    def run(start: int, end: int) -> None:
        together.wait()
        seen.add(threading.get_ident())

    on_threads(3, share, 3, 1, run, 0.0)
    assert len(seen) == 3 and threading.get_ident() in seen


def test_who_asks_while_all_others_are_busy_does_the_work_alone() -> None:
    free, begun = threading.Event(), threading.Barrier(2, timeout=60)
    threads_before = threads._pool()
    blockers = []
    for _ in range(threads_before._max_workers):
        blockers.append(threads_before.submit(lambda: (begun.wait(), free.wait(60))))
        begun.wait()
    seen: list[int] = []
    try:
        on_threads(4, share, 4, 1, lambda a, b: seen.append(threading.get_ident()), 0.0)
    finally:
        free.set()
    assert seen == [threading.get_ident()] * 4
    assert all(blocker.result(60) for blocker in blockers)


def test_the_earliest_error_is_raised_when_all_have_ended() -> None:
    done: list[int] = []

    def run(start: int, end: int) -> None:
        done.append(start)
        if start in (1, 3):
            raise ValueError(f"row {start}")

    with pytest.raises(ValueError, match="row 1"):
        on_threads(5, share, 5, 1, run, 0.0)
    assert sorted(done) == [0, 1, 2, 3, 4]


def test_what_was_asked_for_ends_with_the_call_and_belongs_to_its_thread() -> None:
    work = 64, 1, 1e-6

    def inner() -> list[int]:
        counts = [how_many(*work), on_threads(2, how_many, *work), how_many(*work)]
        other = threading.Thread(target=lambda: counts.append(how_many(*work)))
        other.start()
        other.join()
        return counts

    assert on_threads(5, inner) == [5, 2, 5, 0]
    with pytest.raises(ZeroDivisionError):
        on_threads(5, lambda: 1 // 0)
    assert how_many(*work) == 0


@pytest.mark.parametrize("wrong", [0, -1, 2.0, "2", True, np.nan, [2]])
def test_wrong_numbers_of_threads_are_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="threads must be a whole number of at least 1"):
        on_threads(wrong, share, 10, 1, lambda a, b: None, 0.0)


def test_numbers_of_numpy_are_numbers() -> None:
    count: Any = np.int64(3)
    assert on_threads(count, how_many, 64, 8, 0.0) == 3


def test_at_the_end_of_the_interpreter_nothing_hangs_and_nothing_is_lost() -> None:
    code = (
        "import atexit\n"
        "from closed_loop_dynamics.engine.threads import on_threads, share\n"
        "done = []\n"
        "def work():\n"
        "    on_threads(2, share, 16, 8, lambda *part: done.append(part), 0.0)\n"
        "work()\n"
        "atexit.register(lambda: (work(), print(sorted(done))))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "[(0, 8), (0, 8), (8, 16), (8, 16)]\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    def run(start: int, end: int) -> None:
        together.wait()

    together = threading.Barrier(3, timeout=60)
    on_threads(3, share, 3, 1, run, 0.0)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            together = threading.Barrier(3, timeout=60)
            on_threads(3, share, 3, 1, run, 0.0)
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_batch_leaves_the_records_alone() -> None:
    """Threads read them while others do: a batch that wrote there would depend on its parts."""
    start = np.array([1.1, 0.2])
    program = ARM.program("native", ARM.seeds(start, arm_solution(start)))
    p = np.random.default_rng(4).uniform([1.0, 0.1], [1.2, 0.3], (4 * simd_lanes() + 1, 2))
    program(p[0])
    before = [record.tobytes() for record in program.context().records]
    found = [on_threads(count, program, p) for count in (1, 3)]
    assert [record.tobytes() for record in program.context().records] == before
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], arm_solution(p), atol=1e-12)
