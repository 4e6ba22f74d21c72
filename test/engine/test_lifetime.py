"""Programs live and die independently: twice the same robot, forks, copies, collected memory."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from engine_support.programs import ARM, SQUARE_ROOT, Implicit, arm_solution, explicit_program

from closed_loop_dynamics.engine import ProgramSource, SolverUnit, SolverUse
from closed_loop_dynamics.engine.native_program import NativeProgram

P0 = np.array([1.1, 0.2])


def arm_program(**options: Any) -> Any:
    return ARM.program("native", ARM.seeds(P0, arm_solution(P0)), **options)


def test_a_twin_may_die_before_the_other_compiles_its_batch() -> None:
    first, second = arm_program(), arm_program()
    np.testing.assert_allclose(second(P0), arm_solution(P0), atol=1e-12)
    del second
    gc.collect()
    p = np.tile(P0, (5, 1)) + 0.01
    np.testing.assert_allclose(first(p), arm_solution(p), atol=1e-12)
    np.testing.assert_allclose(first(P0), arm_solution(P0), atol=1e-12)


def test_equal_names_and_keys_of_different_functions_do_not_meet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLOSED_LOOP_DYNAMICS_CACHE", "")
    cube = Implicit(
        1,
        1,
        1,
        lambda p, s, x: ((x**3 - p) / (3 * x**2), ca.fabs((x**3 - p) / (3 * x**2)), s * x),
        lambda p, x: 1 / (3 * x**2),
    )
    seeds = SQUARE_ROOT.seeds([1.0], [1.0])
    units = {n: SolverUnit("same", lambda f=f: [f.function()]) for n, f in
             {2: SQUARE_ROOT, 3: cube}.items()}  # fmt: skip

    def program(unit: SolverUnit) -> NativeProgram:
        x, p = ca.SX.sym("x", 1), ca.SX.sym("p", 1)
        body = ca.Function("body", [x, p], [x, ca.SX(0, 1), x])
        source = ProgramSource("same", ("p",), (1,), 1, lambda: body,
                               lambda i, v: ValueError(), (SolverUse(0, (0,)),))  # fmt: skip
        return NativeProgram(source, "same", unit, [seeds])

    made = [(n, program(units[n])) for n in (2, 3, 2, 3)]
    for n, one in made:
        assert one(np.array([1.2]))[0] == pytest.approx(1.2 ** (1 / n), abs=1e-12)
        assert one(np.array([[1.2]]))[0, 0] == pytest.approx(1.2 ** (1 / n), abs=1e-12)


@pytest.mark.parametrize("width", [1, 4])
def test_equal_loops_share_their_code_and_others_do_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, width: int
) -> None:
    monkeypatch.setenv("CLOSED_LOOP_DYNAMICS_CACHE", str(tmp_path))
    for _ in ("made", "from the cache"):
        unit = SolverUnit("twins", lambda: [f.function() for f in (ARM, SQUARE_ROOT, ARM)])
        left, root, right = unit.bind([SolverUse(k, ()) for k in range(3)], width)
        assert left.newton == right.newton != root.newton
        assert left.seed == right.seed != root.seed
        assert (left.solver, left.workspace) == (right.solver, right.workspace)


def test_programs_and_their_memory_can_be_collected() -> None:
    for _ in range(20):
        program = explicit_program("native", [2], lambda v: v + 1)
        context = program.new_context()
        call = context.call
        assert call(np.zeros(2)).tolist() == [1.0, 1.0]
        program([1.0, 2.0])
        del program, context
        gc.collect()
        assert call(np.zeros(2)).tolist() == [1.0, 1.0]
        with pytest.raises(ReferenceError, match="is gone"):
            call([0.0, 0.0])
        del call  # the last reference to the code, the memory and its own definition


def test_programs_in_reference_cycles_can_be_collected() -> None:
    """The garbage collector finalises the parts of a program in any order."""
    for _ in range(20):
        program = arm_program(key=f"cycle {_}" if _ < 3 else "cycle")
        ring: list[Any] = [program]
        program.use_seeds(program._seeds, lambda k, p, first, ring=ring: ring[0])
        ring.append(program(np.tile(P0, (3, 1))))
        del program, ring
        gc.collect()
    np.testing.assert_allclose(arm_program()(P0), arm_solution(P0), atol=1e-12)


def test_seed_tables_live_as_long_as_the_contexts_that_use_them() -> None:
    low, step, count = np.array([0.5]), np.array([0.1]), np.array([100001])
    x = np.sqrt(low + np.arange(count[0]) * step)
    nodes = np.stack([x, 1 / (2 * x)], axis=1)
    table = {"low": low, "step": step, "count": count, "nodes": nodes}
    program = SQUARE_ROOT.program("native", SQUARE_ROOT.seeds([np.nan], [0.0], **table))
    context = program.new_context()
    program.use_seeds([SQUARE_ROOT.seeds([1.0], [1.0])], None)
    del table, nodes
    gc.collect()
    filler = [np.full((100001, 2), -1.0) for _ in range(4)]
    for p in (3.3, 777.7, 9000.1):
        assert program.run_in(context, [p]) == 0
        assert context.output[0] == pytest.approx(np.sqrt(p), abs=1e-12)
    assert filler


def test_new_seeds_are_used_by_threads_that_have_called_before() -> None:
    program = SQUARE_ROOT.program("native", SQUARE_ROOT.seeds([1.0], [1.0]))
    assert program(np.array([1.0]))[0] == pytest.approx(1.0)
    program.use_seeds([SQUARE_ROOT.seeds([1.0], [-1.0], [-1.0])], None)
    assert program(np.array([1.0]))[0] == pytest.approx(-1.0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_call_and_compile() -> None:
    program = arm_program()
    program(P0)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            p = np.tile(P0, (3, 1)) + 0.01
            good = np.allclose(program(P0), arm_solution(P0), atol=1e-12)
            good &= np.allclose(program(p), arm_solution(p), atol=1e-12)
            other = explicit_program("native", [2], lambda v: 5 * v)
            good &= np.array_equal(other([1.0, 2.0]), [5.0, 10.0])
            code = 0 if good else 2
        finally:
            sys.stdout.flush()
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    np.testing.assert_allclose(program(P0), arm_solution(P0), atol=1e-12)


@pytest.mark.parametrize("action", [pickle.dumps, copy.copy, copy.deepcopy])
def test_copying_a_program_says_what_to_do_instead(action: Any) -> None:
    with pytest.raises(TypeError, match="load it again"):
        action(arm_program())
