"""Whoever asks hears what is compiled: once, when it is really made, from any thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np
import pytest
from engine_support.programs import ARM, arm_solution, explicit_program

from closed_loop_dynamics.engine import ProgramSource, SolverUnit, progress
from closed_loop_dynamics.engine.native_program import NativeProgram
from closed_loop_dynamics.engine.progress import Compilation

P0 = np.array([1.1, 0.2])


@pytest.fixture
def heard() -> Iterator[list[Compilation]]:
    """What a listener hears during the test."""
    events: list[Compilation] = []
    stop = progress.subscribe(events.append)
    yield events
    stop()


def pair(name: str, batch: bool = False) -> list[Compilation]:
    return [Compilation(name, batch, False), Compilation(name, batch, True)]


def source_of(name: str, expression: Any, v: Any) -> ProgramSource:
    function = ca.Function("f", [ca.SX.sym("x", 0), v], [expression, ca.SX(0, 1)])
    return ProgramSource(name, ("v",), (1,), 1, lambda: function, lambda i, _: ValueError(i))


def arm(backend: str = "native") -> Any:
    return ARM.program(backend, ARM.seeds(P0, arm_solution(P0)))


def test_solvers_and_program_are_told_in_the_order_they_are_made(heard: list[Compilation]) -> None:
    program = arm()
    assert heard == pair("Newton solvers") + pair("implicit")
    heard.clear()
    program(P0)
    assert heard == []
    program(np.tile(P0, (3, 1)))
    assert heard == pair("Newton solvers", True) + pair("implicit", True)
    heard.clear()
    program(np.tile(P0, (3, 1)))
    assert heard == []


def test_what_the_cache_has_is_not_told(heard: list[Compilation]) -> None:
    arm()(np.tile(P0, (3, 1)))
    heard.clear()
    arm()(np.tile(P0, (3, 1)))
    assert heard == []


def test_tracing_for_the_virtual_machine_is_told(heard: list[Compilation]) -> None:
    arm("vm")
    assert sorted(heard) == sorted(pair("Newton solvers") + pair("implicit"))


def test_the_end_of_a_compilation_that_fails_is_told(heard: list[Compilation]) -> None:
    v = ca.SX.sym("v", 2)
    source = source_of("lie", v[0], v)
    with pytest.raises(ValueError):
        NativeProgram(source, "lie", SolverUnit("lie", list), [])
    assert heard == pair("lie")


def test_a_listener_that_left_hears_no_more_and_others_still_do(heard: list[Compilation]) -> None:
    again: list[Compilation] = []
    stops = [progress.subscribe(again.append) for _ in range(2)]
    stops[0]()
    stops[0]()
    explicit_program("native", [1], lambda v: v)
    assert again == heard == pair("f")
    stops[1]()
    explicit_program("native", [1], lambda v: v + 1, key="other")
    assert len(again) == 2 and len(heard) == 4


def test_threads_may_compile_while_listeners_come_and_go(heard: list[Compilation]) -> None:
    v = ca.SX.sym("v", 1)
    sources = [source_of(f"program {k}", k * v, v) for k in range(1, 5)]

    def compile_one(source: ProgramSource) -> None:
        stop = progress.subscribe(lambda event: None)
        NativeProgram(source, "threads", SolverUnit("threads", list), [])
        stop()

    threads = [threading.Thread(target=compile_one, args=(source,)) for source in sources]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(heard) == sorted(event for source in sources for event in pair(source.name))
