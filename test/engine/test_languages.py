"""What the engine writes does not depend on LLVM: printed as C99 it computes the same bits.

LLVM may fuse products and sums; here it is told not to, as the C compiler is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from engine_support.c99 import CModule, compile_c
from engine_support.operations import OPERATIONS, samples, written
from engine_support.programs import ARM, arm_slope, arm_solution

from closed_loop_dynamics.engine import native
from closed_loop_dynamics.engine.code import Function, Module, Variable
from closed_loop_dynamics.engine.contexts import aligned_zeros
from closed_loop_dynamics.engine.instructions import instruction_list
from closed_loop_dynamics.engine.layout import CHECK, BoundSolver, ProgramShape
from closed_loop_dynamics.engine.llvm_ir import LlvmModule
from closed_loop_dynamics.engine.nested import InnerStep, NestedStep, emit_nested
from closed_loop_dynamics.engine.newton import CONTRACTION, GUARD, OK, NewtonSolver, emit_newton
from closed_loop_dynamics.engine.program_ir import emit_single
from closed_loop_dynamics.engine.rk4 import HALTED, Rk4Layout, emit_rk4
from closed_loop_dynamics.engine.seeds import Seeds, emit_seed, point_beside
from closed_loop_dynamics.engine.straight_line import emit_straight_line
from closed_loop_dynamics.engine.values import Int

#: Finds a compiled function by name.
Library = Callable[[str], Any]


class UnfusedModule(LlvmModule):
    """LLVM IR in which every operation is rounded by itself."""

    def function(self, *arguments: Any, **options: Any) -> Any:
        f: Function = super().function(*arguments, **options)
        f.fusing = False
        return f


@pytest.fixture
def both(tmp_path: Path) -> Callable[[Callable[[Module], None]], list[Library]]:
    """Compiles what a function writes, once by LLVM and once by the C compiler."""
    alive: list[Any] = []

    def compiled(write: Callable[[Module], None]) -> list[Library]:
        ir, c = UnfusedModule(), CModule()
        write(ir)
        write(c)
        code = native.LoadedCode(native.compile_ir(ir.text()))
        library = compile_c(c.text(), tmp_path)
        alive.extend([code, library])

        def by_llvm(symbol: str) -> Any:
            return code.address(symbol)

        def by_c(symbol: str) -> Any:
            return ctypes.cast(library[symbol], ctypes.c_void_p).value

        return [by_llvm, by_c]

    return compiled


def call(address: int, *arguments: Any) -> int:
    """Call with arrays and integers; the result is meaningful where the function returns one."""
    values = [a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments]
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(values))(address)(*values))


def assert_same_bits(a: np.ndarray, b: np.ndarray) -> None:
    """The sign of a NaN means nothing."""
    a, b = (np.where(np.isnan(v), np.nan, v).view(np.int64) for v in (a, b))
    np.testing.assert_array_equal(a, b)


def test_loop_variables_change_together_until_the_condition_fails(both: Any) -> None:
    def write(module: Module) -> None:
        f = module.function("fibonacci", {"limit": Int}, returns=Int)
        a, b = Variable(f.integer(0)), Variable(f.integer(1))
        with f.loop(90, a, b):
            a.value, b.value = b.value, a.value + b.value
            f.repeat_while(a.value < f.arguments[0])
        f.finish(a.value)

    for library in both(write):
        assert [call(library("fibonacci"), limit) for limit in (0, 2, 50, 55, 56)] == [
            1, 2, 55, 55, 89
        ]  # fmt: skip
        assert call(library("fibonacci"), 1 << 62) == 2880067194370816120  # all 90 rounds


def test_every_operation(both: Any) -> None:
    codes = {name: instruction_list(written(name)) for name in OPERATIONS}

    def write(module: Module) -> None:
        for name, code in codes.items():
            emit_straight_line(module, code, f"f_{name}")

    libraries = both(write)
    for name in OPERATIONS:
        for point in samples(name, np.random.default_rng(1), 30):
            results = []
            for library in libraries:
                out = np.full(1, np.nan)
                call(library(f"f_{name}"), np.ascontiguousarray(point), out, 0)
                results.append(out)
            np.testing.assert_array_equal(*results, err_msg=f"{name} {point}")


def newton_rounds(library: Library, solver: NewtonSolver, start: np.ndarray) -> np.ndarray:
    """Everything a Newton loop leaves behind: block, outputs with the log of errors, status."""
    block = start.copy()
    out, status = np.zeros(solver.n_out), np.zeros(2)
    call(library("newton"), block, out, np.zeros(64), status)
    return np.concatenate([block, out, status])


def test_newton_iterates(both: Any) -> None:
    step = instruction_list(ARM.function())
    solver = NewtonSolver.of(step, n_log=NewtonSolver.max_iterations)
    libraries = both(lambda module: emit_newton(module, solver, "newton"))
    codes = []
    for p in np.random.default_rng(2).uniform([0.4, -0.9], [1.6, 1.0], (60, 2)):
        beside = arm_solution(p) + np.array([0.08, -0.06])
        for begin in (beside, arm_solution([1.1, 0.2]), [0.5, -0.4], [np.nan, 0.0]):
            start = np.array([*p, 1.0, *begin])
            by_llvm, by_c = (newton_rounds(library, solver, start) for library in libraries)
            assert_same_bits(by_c, by_llvm)
            code, rounds = by_c[-2:].view(np.int64)
            codes.append((code, rounds))
            if code == OK:
                np.testing.assert_allclose(by_c[3:5], arm_solution(p), atol=1e-12)
    assert {code for code, _ in codes} == {OK, GUARD, CONTRACTION}
    assert len({rounds for _, rounds in codes}) >= 3


def test_newton_loops_inside_a_newton_loop(both: Any) -> None:
    q, w, p = ca.SX.sym("q"), ca.SX.sym("w"), ca.SX.sym("p")
    one, two, theta = ca.SX.sym("sign", 1), ca.SX.sym("sign", 2), ca.SX.sym("theta", 2)
    inner = ca.Function("inner", [q, one, w], [(w**2 - q) / (2 * w), ca.fabs(w**2 - q), one * w])
    slope = 1 / (2 * theta[1])
    error = p - theta[0] - theta[1]
    dq = error / (1 + slope)
    guards = ca.vertcat(two[0] * theta[1], two[1])
    outer = ca.Function(
        "outer", [p, two, theta], [-ca.vertcat(dq, slope * dq), ca.fabs(error), guards]
    )
    settings = {"tolerance": 1e-12, "contraction": 0.7, "max_step": 2.0}
    nested = NestedStep(outer, (InnerStep(inner, (0,), (1,), (0,)),), settings)
    libraries = both(lambda module: emit_nested(module, nested, "newton"))
    for value in (1.5, 2.0, 3.0):
        start = np.array([value, 1.0, 1.0, 1.0, 1.0])
        by_llvm, by_c = (newton_rounds(lib, nested.solver(), start) for lib in libraries)
        assert_same_bits(by_c, by_llvm)
        assert by_c[-2:].view(np.int64)[0] == OK
        assert by_c[4] == pytest.approx(0.5 * (np.sqrt(1 + 4 * value) - 1), abs=1e-12)


def arm_seeds() -> Seeds:
    """A small table, exact."""
    low, step, counts = np.array([0.8, -0.3]), np.array([0.3, 0.3]), np.array([3, 4])
    nodes = [
        np.concatenate([arm_solution(p), arm_slope(p).ravel()])
        for p in (low + np.array(i) * step for i in np.ndindex(3, 4))
    ]
    reference = (np.array([1.1, 0.2]), arm_solution([1.1, 0.2]), arm_slope([1.1, 0.2]))
    return Seeds(np.ones(1), low, step, counts, np.array(nodes), reference, np.array([0.3, 0.3]))


def test_seeds(both: Any) -> None:
    rec = NewtonSolver(2, 1, 2).record
    libraries = both(lambda module: emit_seed(module, rec, "seed"))
    predicted = []
    holes = arm_seeds().nodes.copy()
    holes[[0, 1, 4, 11]] = np.nan
    point_beside(holes, arm_seeds().count, 2)
    none = np.zeros(2, dtype=np.int64)
    for change in ({}, {"nodes": holes}, {"count": none}):
        seeds = replace(arm_seeds(), **change)
        record = np.zeros(rec.size)
        seeds.fill(record, rec)
        for p in np.random.default_rng(3).uniform([0.3, -1.0], [1.9, 1.2], (80, 2)):
            results = []
            for library in libraries:
                x = np.zeros(2)
                call(library("seed"), record, p, x)
                results.append(x)
            assert_same_bits(results[1], results[0])
            predicted.append(results[0])
    some = np.isnan(np.array(predicted)).any(axis=1)
    assert some.any() and not some.all(), "some predictions should reach too far"


def write_stepper(module: Module, shapes: tuple[ProgramShape, ProgramShape]) -> None:
    """A pendulum whose angle y is held to x = arm(y): programs with a Newton loop, and RK4."""
    solver = NewtonSolver.of(instruction_list(ARM.function()))
    emit_newton(module, solver, "newton")
    emit_seed(module, solver.record, "seed")
    x, y, yd = ca.SX.sym("x", 2), ca.SX.sym("y", 2), ca.SX.sym("yd", 2)
    slope = ca.densify(ca.vec(ARM.slope(y, x).T))
    near = 3.0 - y[0]
    acceleration = ca.vertcat(-ca.sin(x[0]) - 0.1 * yd[0], -x[1] * yd[1])
    bodies = {
        "forward": ca.Function("forward", [x, y, yd], [acceleration, near, slope]),
        "closing": ca.Function("closing", [x, y], [x, near, slope]),
    }
    for shape, (name, body) in zip(shapes, bodies.items(), strict=True):
        assert emit_straight_line(module, instruction_list(body), f"{name}_body") == 0
        emit_single(module, shape, name, f"{name}_body")
    rate = instruction_list(ca.Function("rate", [y, yd], [yd]))
    normalised = instruction_list(ca.Function("normalised", [y], [y]))
    emit_rk4(module, "rk4", shapes, rate, normalised)


def run_steps(
    library: Library, shapes: tuple[ProgramShape, ProgramShape], z: np.ndarray, steps: int
) -> tuple[int, int, np.ndarray]:
    """Status, good steps and state after up to ``steps`` steps."""
    seeds, at = arm_seeds(), Rk4Layout(2, 2)
    memories = []
    for shape in shapes:
        memory = aligned_zeros(shape.layout.size)
        start = shape.layout.records[0]
        seeds.fill(memory[start : start + shape.solvers[0].solver.record.size],
                   shape.solvers[0].solver.record)  # fmt: skip
        functions = shape.layout.functions[0]
        memory.view(np.int64)[functions : functions + 2] = library("seed"), library("newton")
        memories.append(memory)
    block = aligned_zeros(at.size)
    block.view(np.int64)[[at.run, at.accept]] = library("forward"), library("closing")
    block[at.step] = 0.01
    block[at.z : at.z + 4] = z
    block[at.lower : at.lower + 2], block[at.upper : at.upper + 2] = -9.0, 1.45
    status = call(library("rk4"), *memories, block, steps)
    return status, int(block.view(np.int64)[at.done]), block[at.z : at.z + 4].copy()


def test_runge_kutta_steps_of_programs_with_newton_loops(both: Any) -> None:
    bound = BoundSolver(NewtonSolver(2, 1, 2), (0, 1))
    shapes = (ProgramShape((bound,), (2, 2), 2, 1, 0), ProgramShape((bound,), (2,), 2, 1, 0))
    libraries = both(lambda module: write_stepper(module, shapes))
    seen = set()
    for z in ([1.1, 0.2, 0.3, -0.1], [1.2, 0.1, -2.0, 0.5], [1.4, 0.1, 0.9, 0.0]):
        by_llvm, by_c = (run_steps(library, shapes, np.array(z), 40) for library in libraries)
        assert by_c[:2] == by_llvm[:2]
        assert_same_bits(by_c[2], by_llvm[2])
        assert by_c[1] > 0
        seen.add(by_c[0])
    assert {0, HALTED} <= seen
    assert CHECK not in seen
