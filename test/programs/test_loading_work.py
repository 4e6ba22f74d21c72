"""What loading a robot for the first time does, and what it does not do twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.closure import closed_form
from closed_loop_dynamics.closure.continuation import Continuation
from closed_loop_dynamics.engine import backend, native
from tools.robots import crank_leg


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CLOSED_LOOP_DYNAMICS_CACHE", str(tmp_path / "cache"))
    native._compiled.clear()
    yield
    native._compiled.clear()


def leg() -> cld.Robot:
    return cld.load(*crank_leg.generate(), prepare=())


def spied(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[tuple[Any, ...]]:
    """The arguments of all calls of a function from now on."""
    function, calls = getattr(owner, name), []

    def spy(*args: Any, **named: Any) -> Any:
        calls.append(args)
        return function(*args, **named)

    monkeypatch.setattr(owner, name, spy)
    return calls


@pytest.mark.skipif(not backend.use_native(), reason="compiles nothing")
def test_what_only_loading_runs_is_compiled_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = spied(monkeypatch, native, "_compile")
    robot = leg()
    levels = [level for _, level in calls]
    assert levels.count(native.USUAL) == 1  # the Newton loops, which numerical programs call too
    assert levels.count(native.QUICK) == len(robot.branches) == 2
    calls.clear()
    robot.inverse_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    robot.independent_from_actuator(robot.state(np.array([0.1, 0.8, 0.2])).u)
    assert {level for _, level in calls} == {native.USUAL}
    calls.clear()
    leg().inverse_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    assert not calls


@pytest.mark.skipif(not backend.use_native(), reason="compiles nothing")
def test_code_of_two_levels_is_not_mixed_up() -> None:
    text = "define double @f(double %a) {\n  ret double %a\n}\n"
    first = native.compile_ir(text, native.QUICK)
    assert native.compile_ir(text, native.QUICK) is first
    assert native.compile_ir(text) is not first
    assert native.compile_ir(text, native.QUICK) is first


def test_a_way_between_two_nodes_is_gone_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = spied(monkeypatch, Continuation, "follow")
    robot = leg()
    gone = [(start.p.tobytes(), target.tobytes()) for _, _, start, target, *_ in calls]
    nodes = sum(int(branch.table.reached.sum()) for branch in robot.branches.values())
    assert len(gone) > nodes - 2 and not {(b, a) for a, b in gone if a != b} & set(gone)


def test_a_leg_is_traced_once_for_all_its_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = spied(monkeypatch, closed_form, "solve_leg")
    robot = leg()
    legs = [leg for _, leg, *_ in calls]
    assert len(legs) == len(set(map(id, legs))) == len(robot.branches) == 2
    assert all(leg.mode_words for leg in legs)
