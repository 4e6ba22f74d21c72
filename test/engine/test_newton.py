"""The Newton loop: what it converges to, what it refuses and why, where it starts.

Both back-ends are held to the same statuses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from engine_support.programs import ARM, SQUARE_ROOT, Implicit, arm_slope, arm_solution

from closed_loop_dynamics.engine import native
from closed_loop_dynamics.engine.layout import SOLVER
from closed_loop_dynamics.engine.newton import CONTRACTION, GUARD, NOT_CONVERGED, NewtonSolver
from closed_loop_dynamics.engine.seeds import point_beside
from closed_loop_dynamics.errors import ClosureNotFound

SETTINGS = NewtonSolver(0, 0, 0)
backends = pytest.mark.parametrize("backend", ["native", "vm"])


def arm_table(counts: tuple[int, int] = (3, 4)) -> dict[str, Any]:
    """Exact solutions on a grid over [0.8, 1.4] x [-0.3, 0.6]."""
    low, step = np.array([0.8, -0.3]), np.array([0.6, 0.9]) / (np.array(counts) - 1)
    nodes = [
        np.concatenate(
            [arm_solution(low + np.array(i) * step), arm_slope(low + np.array(i) * step).ravel()]
        )
        for i in np.ndindex(*counts)
    ]
    return {"low": low, "step": step, "count": np.array(counts), "nodes": np.array(nodes)}


@backends
def test_a_scalar_root_is_found_to_rounding(backend: str) -> None:
    program = SQUARE_ROOT.program(backend, SQUARE_ROOT.seeds([1.0], [1.0]))
    for p in np.linspace(0.7, 1.6, 10):
        assert program(np.array([p]))[0] == pytest.approx(np.sqrt(p), abs=1e-14)


@backends
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_two_unknowns_are_found_on_the_branch_of_the_sign(backend: str, sign: float) -> None:
    p0 = np.array([1.1, 0.2])
    program = ARM.program(backend, ARM.seeds(p0, arm_solution(p0, sign), [sign]))
    p = np.array([1.25, 0.1])
    np.testing.assert_allclose(program(p), arm_solution(p, sign), atol=1e-13)
    assert 1 < program.iterations() < 6


@backends
def test_a_start_on_the_other_branch_fails_the_guard(backend: str) -> None:
    program = SQUARE_ROOT.program(backend, SQUARE_ROOT.seeds([1.0], [-1.0]))
    context = program.new_context()
    assert program.run_in(context, [1.0]) == SOLVER + GUARD
    other = SQUARE_ROOT.program(backend, SQUARE_ROOT.seeds([1.0], [-1.0], [-1.0]))
    assert other(np.array([1.0]))[0] == pytest.approx(-1.0)


@backends
def test_a_start_too_far_away_fails_the_contraction_test(backend: str) -> None:
    program = SQUARE_ROOT.program(backend, SQUARE_ROOT.seeds([1.0], [100.0]))
    assert program.run_in(program.new_context(), [1.0]) == SOLVER + CONTRACTION


def relaxed(factor: float) -> Implicit:
    """x = p by steps that leave 1 - factor of the error."""

    def step(p: Any, sign: Any, x: Any) -> tuple[Any, Any, Any]:
        dx = factor * (x - p)
        return dx, ca.fabs(dx), sign

    return Implicit(1, 1, 1, step, lambda p, x: ca.SX(1.0))


@backends
def test_steps_that_shrink_too_slowly_fail_the_contraction_test(backend: str) -> None:
    factor = 1 - 1.1 * SETTINGS.contraction
    start = 0.9 * SETTINGS.max_step / factor
    program = relaxed(factor).program(backend, relaxed(factor).seeds([0.0], [start]))
    context = program.new_context()
    assert program.run_in(context, [0.0]) == SOLVER + CONTRACTION
    assert context.statuses[0][1] == 2  # the first step may be that long, the second not


@backends
@pytest.mark.parametrize(("size", "status"), [(0.99, 0), (1.01, SOLVER + CONTRACTION)])
def test_the_first_step_has_its_own_limit(backend: str, size: float, status: int) -> None:
    start = size * SETTINGS.max_step
    program = relaxed(1.0).program(backend, relaxed(1.0).seeds([0.0], [start]))
    assert program.run_in(program.new_context(), [0.0]) == status


@backends
def test_too_many_iterations_are_reported(backend: str) -> None:
    factor = 1 - 0.95 * SETTINGS.contraction
    start = 0.9 * SETTINGS.max_step / factor
    program = relaxed(factor).program(backend, relaxed(factor).seeds([0.0], [start]))
    context = program.new_context()
    assert program.run_in(context, [0.0]) == SOLVER + NOT_CONVERGED
    assert context.statuses[0].tolist() == [NOT_CONVERGED, SETTINGS.max_iterations]


@backends
def test_a_step_that_is_not_a_number_is_never_used(backend: str) -> None:
    # A maximum passes over NaN, and this guard does not depend on x.
    def step(p: Any, sign: Any, x: Any) -> tuple[Any, Any, Any]:
        dx = x - ca.sqrt(p)
        return dx, ca.fmax(0, ca.fabs(dx)), sign

    bad = Implicit(1, 1, 1, step, lambda p, x: ca.SX(1.0))
    program = bad.program(backend, bad.seeds([4.0], [2.0]))
    context = program.new_context()
    assert program.run_in(context, [-1.0]) == SOLVER + CONTRACTION
    assert program.run_in(context, [4.0]) == 0


@backends
def test_a_failed_call_leaves_the_newest_solution_alone(backend: str) -> None:
    program = SQUARE_ROOT.program(backend, SQUARE_ROOT.seeds([1.0], [1.0]))
    context = program.new_context()
    assert program.run_in(context, [1.2]) == 0
    before = context.records[0].copy()
    assert program.run_in(context, [-5.0]) != 0
    np.testing.assert_array_equal(context.records[0].view(np.int64), before.view(np.int64))


@backends
def test_the_newest_solution_is_the_next_start(backend: str) -> None:
    program = ARM.program(backend, ARM.seeds([1.1, 0.2], arm_solution([1.1, 0.2])))
    rec = program.shape.solvers[0].solver.record
    context = program.new_context()
    p = np.array([1.2, 0.15])
    assert program.run_in(context, p) == 0
    record = context.records[0]
    np.testing.assert_array_equal(record[rec.p0 : rec.p0 + 2], p)
    np.testing.assert_allclose(record[rec.x0 : rec.x0 + 2], arm_solution(p), atol=1e-13)
    slope = record[rec.slope : rec.size].reshape(2, 2)
    np.testing.assert_allclose(slope, arm_slope(p), atol=1e-11)
    assert program.run_in(context, p) == 0
    assert context.statuses[0].tolist() == [0, 1]


@backends
def test_a_near_newest_solution_is_preferred_to_the_table(backend: str) -> None:
    table = arm_table()
    table["nodes"] = np.full_like(table["nodes"], np.nan)  # to use it is to fail
    p0 = np.array([1.1, 0.2])
    program = ARM.program(backend, ARM.seeds(p0, arm_solution(p0), **table))
    context = program.new_context()
    assert program.run_in(context, p0 + 0.4 * table["step"]) == 0
    context = program.new_context()
    assert program.run_in(context, p0 + 0.6 * table["step"]) == SOLVER + GUARD


@backends
@pytest.mark.parametrize("newest", ["far", "none"])
def test_the_table_is_used_when_the_newest_solution_is_far(backend: str, newest: str) -> None:
    table = arm_table()
    p0 = {"far": [50.0, 50.0], "none": [np.nan, np.nan]}[newest]
    program = ARM.program(backend, ARM.seeds(p0, [9.0, 9.0], **table))
    for index in np.ndindex(*table["count"]):
        context = program.new_context()
        p = table["low"] + np.array(index) * table["step"]
        assert program.run_in(context, p) == 0
        np.testing.assert_allclose(context.output, arm_solution(p), atol=1e-13)
        assert context.statuses[0].tolist() == [0, 1]  # the node itself was found


@backends
def test_beyond_the_table_its_border_is_the_start(backend: str) -> None:
    table = arm_table()
    program = ARM.program(backend, ARM.seeds([np.nan] * 2, [0.0, 0.0], **table))
    for p in ([0.75, -0.4], [1.45, 0.65], [0.75, 0.65], [1.45, -0.4]):
        np.testing.assert_allclose(program(np.array(p)), arm_solution(p), atol=1e-13)


@backends
def test_beside_a_node_that_was_not_reached_the_next_one_is_the_start(backend: str) -> None:
    """As at the end of a loop's range; where none is near, nothing starts."""
    table = arm_table((4, 4))
    lost = np.array([k for k, (i, j) in enumerate(np.ndindex(4, 4)) if i >= 2 or j == 3])
    table["nodes"][lost] = np.nan
    bare = ARM.program(backend, ARM.seeds([np.nan] * 2, [0.0, 0.0], **table))
    table["nodes"] = table["nodes"].copy()
    point_beside(table["nodes"], table["count"], 2)
    program = ARM.program(backend, ARM.seeds([np.nan] * 2, [0.0, 0.0], **table))
    nearby, far = [(2, 0), (2, 2), (1, 3), (2, 3)], [(3, 0), (3, 3)]
    for index, ends in [(i, False) for i in nearby] + [(i, True) for i in far]:
        for there in ([0.0, 0.0], [-0.3, 0.2], [0.4, -0.4]):
            p = table["low"] + (np.array(index) + there) * table["step"]
            context = program.new_context()
            assert bool(program.run_in(context, p)) == ends
            assert bare.run_in(bare.new_context(), p)
            if not ends:
                np.testing.assert_allclose(context.output, arm_solution(p), atol=1e-13)


@backends
def test_the_answer_does_not_depend_on_the_start(backend: str) -> None:
    table = arm_table()
    rng = np.random.default_rng(7)
    p = rng.uniform([0.85, -0.2], [1.35, 0.5], (40, 2))
    program = ARM.program(backend, ARM.seeds([np.nan] * 2, [0.0, 0.0], **table))
    there = np.array([program(one) for one in p])
    back = np.array([program(one) for one in p[::-1]])[::-1]
    np.testing.assert_allclose(there, back, atol=1e-13)


def test_a_smooth_motion_goes_on_in_one_step() -> None:
    """From the cubic through its newest two solutions, while the table alone needs more."""
    table = arm_table()
    program = ARM.program("native", ARM.seeds([np.nan] * 2, [0.0, 0.0], **table))
    rounds, alone = [], []
    for angle in np.arange(60) * 6e-3:
        p = np.array([1.1 + 0.2 * np.cos(angle), 0.15 + 0.3 * np.sin(angle)])
        np.testing.assert_allclose(program(p), arm_solution(p), atol=1e-13)
        rounds.append(program.iterations())
        context = program.new_context()
        assert program.run_in(context, p) == 0
        alone.append(context.statuses[0][1])
    assert set(rounds[2:]) == {1}
    assert min(alone[:10]) >= 3


@pytest.mark.parametrize("wrong", [[2 * np.pi, 0.0], [0.0, -2.0], [0.2, 0.2]])
def test_history_that_the_table_does_not_confirm_is_not_believed(wrong: list[float]) -> None:
    """Another turn, the other elbow, and a place that is no solution, as the newest solution."""
    reach = np.full(2, 0.5)
    program = ARM.program("native", ARM.seeds([np.nan] * 2, [0.0, 0.0], reach=reach, **arm_table()))
    rec, context, p = program.shape.solvers[0].solver.record, program.new_context(), [1.08, 0.12]
    rec.write(context.records[0], p, arm_solution(p) + wrong, arm_slope(p))
    there = np.array(p) + 1e-3
    assert program.run_in(context, there) == 0
    np.testing.assert_allclose(context.output, arm_solution(there), atol=1e-13)


def test_a_solution_that_is_handed_in_has_no_past() -> None:
    program = ARM.program("native", ARM.seeds([1.1, 0.2], arm_solution([1.1, 0.2])))
    rec, context = program.shape.solvers[0].solver.record, program.new_context()
    for p in ([1.1, 0.2], [1.12, 0.2], [1.13, 0.21], [1.13, 0.21]):
        assert program.run_in(context, p) == 0
    record = context.records[0]
    np.testing.assert_array_equal(record[rec.p1 : rec.x1], [1.12, 0.2])
    rec.write(record, [1.0, 0.0], arm_solution([1.0, 0.0]), arm_slope([1.0, 0.0]))
    assert np.isnan(record[rec.p1 : rec.x1]).all()


@backends
def test_rescue_is_asked_with_the_parameters_and_its_answer_is_used(backend: str) -> None:
    asked = []

    def rescue(k: int, p: np.ndarray, first: np.ndarray) -> np.ndarray:
        asked.append((k, p.tolist(), first.tolist()))
        return np.sqrt(p)

    program = SQUARE_ROOT.program(backend, SQUARE_ROOT.seeds([1.0], [1.0]), rescue)
    assert program(np.array([400.0]))[0] == pytest.approx(20.0, abs=1e-12)
    assert asked == [(0, [400.0], [400.0])]
    assert program(np.array([401.0]))[0] == pytest.approx(np.sqrt(401), abs=1e-12)
    assert len(asked) == 1


@backends
def test_a_refused_rescue_is_left_to_the_source(backend: str) -> None:
    asked = []

    def rescue(k: int, p: np.ndarray, first: np.ndarray) -> np.ndarray:
        asked.append(p.tolist())
        return np.array([-1.0])

    program = SQUARE_ROOT.program(backend, SQUARE_ROOT.seeds([1.0], [1.0]), rescue)
    with pytest.raises(ArithmeticError) as caught:
        program(np.array([-5.0]))
    assert caught.value.args[0] == -1  # the first solver
    assert caught.value.args[1][0].tolist() == [-5.0]
    assert asked == [[-5.0]] * 2
    program.source = replace(program.source, on_failure=lambda k, inputs: np.array([7.0]))
    assert program(np.array([-5.0])).tolist() == [7.0]
    assert program(np.array([[1.0], [-5.0]])).tolist() == [[pytest.approx(1.0)], [7.0]]


@backends
def test_an_error_of_the_rescue_names_the_sample_of_a_batch(backend: str) -> None:
    def rescue(k: int, p: np.ndarray, first: np.ndarray) -> np.ndarray:
        raise ClosureNotFound("no root", submechanism="square root")

    program = SQUARE_ROOT.program(backend, SQUARE_ROOT.seeds([1.0], [1.0]), rescue)
    with pytest.raises(ClosureNotFound) as caught:
        program(np.array([[1.0], [1.1], [-1.0], [0.9]]))
    assert caught.value.sample == 2


@pytest.mark.parametrize("width", [2, 4, 8, 16])
def test_lanes_agree_with_single_samples(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Results and statuses, lane by lane, where lanes succeed, fail and stop at different times."""
    monkeypatch.setattr(native, "simd_lanes", lambda: width)
    program: Any = ARM.program("native", ARM.seeds([np.nan] * 2, [0.0, 0.0], **arm_table()))
    rng = np.random.default_rng(width)
    p = rng.uniform([0.0, -1.5], [2.2, 1.8], (5 * width + 3, 2))
    out, status = np.empty((len(p), 2)), np.full(len(p), -7, dtype=np.int64)
    context = program.context()
    program._run_batch(context, [p], out, status)
    rounds = []
    for i, one in enumerate(p):
        single = program.new_context()
        assert program.run_in(single, one) == status[i], one
        rounds.append(single.statuses[0][1])
        if status[i] == 0:
            np.testing.assert_allclose(out[i], single.output, atol=1e-14)
            np.testing.assert_allclose(out[i], arm_solution(one), atol=1e-12)
    assert len(set(status.tolist())) >= 2, "the test should meet failures"
    assert len(set(rounds)) >= 3, "the test should meet different numbers of iterations"
    assert context.statuses[0][1] == rounds[-1]


def test_statuses_agree_between_back_ends() -> None:
    reference = ARM.program("native", ARM.seeds([np.nan] * 2, [0.0, 0.0], **arm_table()))
    other = ARM.program("vm", ARM.seeds([np.nan] * 2, [0.0, 0.0], **arm_table()))
    seen = set()
    for p in np.random.default_rng(3).uniform([-0.5, -2.0], [2.5, 2.0], (200, 2)):
        a, b = reference.new_context(), other.new_context()
        assert reference.run_in(a, p) == other.run_in(b, p)
        np.testing.assert_array_equal(a.statuses[0], b.statuses[0])
        seen.add(int(a.statuses[0][0]))
    assert {0, GUARD, CONTRACTION} <= seen


def test_a_table_of_the_wrong_size_is_refused() -> None:
    table = arm_table()
    table["nodes"] = table["nodes"][:-1]
    program = ARM.program("native", ARM.seeds([1.0, 0.0], [0.0, 0.0], **table))
    with pytest.raises(ValueError, match="seed table has shape"):
        program(np.array([1.0, 0.0]))


def test_a_table_in_any_memory_order_is_read_correctly() -> None:
    table = arm_table()
    table["nodes"] = np.asfortranarray(table["nodes"])
    program = ARM.program("native", ARM.seeds([np.nan] * 2, [0.0, 0.0], **table))
    p = table["low"] + np.array([2, 1]) * table["step"]
    np.testing.assert_allclose(program(p), arm_solution(p), atol=1e-13)
    assert program.iterations() == 1
