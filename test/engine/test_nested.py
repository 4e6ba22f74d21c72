"""Newton loops inside a Newton loop: native and virtual machine give the same, log and all."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from closed_loop_dynamics.engine import ProgramSource, Seeds, SolverUnit, SolverUse
from closed_loop_dynamics.engine.layout import SOLVER
from closed_loop_dynamics.engine.native_program import NativeProgram
from closed_loop_dynamics.engine.nested import InnerStep, NestedStep
from closed_loop_dynamics.engine.newton import INNER
from closed_loop_dynamics.engine.vm import VmProgram

SETTINGS = {"tolerance": 1e-12, "contraction": 0.7, "max_step": 2.0, "max_iterations": 12}


def _steps() -> list[NestedStep]:
    """Unknowns (q, w): inside w^2 = q, outside q + w = p; so w = (sqrt(1 + 4 p) - 1) / 2."""
    q, w, p = ca.SX.sym("q"), ca.SX.sym("w"), ca.SX.sym("p")
    one, two = ca.SX.sym("sign", 1), ca.SX.sym("sign", 2)
    inner = ca.Function(
        "inner", [q, one, w], [(w**2 - q) / (2 * w), ca.fabs(w**2 - q), one * 2 * w]
    )
    theta = ca.SX.sym("theta", 2)
    slope = 1 / (2 * theta[1])
    dq = (p - theta[0] - theta[1]) / (1 + slope)
    error = ca.fabs(p - theta[0] - theta[1])
    guards = ca.vertcat(two[0] * theta[1], two[1])
    outer = ca.Function("outer", [p, two, theta], [-ca.vertcat(dq, slope * dq), error, guards])
    return [NestedStep(outer, (InnerStep(inner, (0,), (1,), (0,)),), SETTINGS)]


def _program(kind: Any) -> Any:
    theta, p = ca.SX.sym("theta", 2), ca.SX.sym("p")
    slope = 1 / (2 * theta[1])
    rate = 1 / (1 + slope)
    body = ca.Function("body", [theta, p], [theta, ca.SX(0, 1), ca.vertcat(rate, slope * rate)])
    source = ProgramSource(
        "nested",
        ("p",),
        (1,),
        2,
        lambda: body,
        lambda i, inputs: ValueError(i),
        (SolverUse(0, (0,)),),
    )
    start = (np.array([2.0]), np.array([1.0, 1.0]), np.zeros((2, 1)))
    grid = (np.zeros(1), np.ones(1), np.zeros(1, dtype=np.int64), np.zeros((0, 0)))
    seeds = Seeds(np.ones(2), *grid, start)
    return kind(source, "test nested", SolverUnit("test nested", _steps), [seeds], None)


both = pytest.mark.parametrize("kind", [NativeProgram, VmProgram])


@both
def test_inner_and_outer_equations_hold(kind: Any) -> None:
    program = _program(kind)
    for p in (2.0, 1.5, 3.0, 2.7):
        q, w = program(np.array([p]))
        assert w == pytest.approx(0.5 * (np.sqrt(1 + 4 * p) - 1), abs=1e-13)
        assert q == pytest.approx(w**2, abs=1e-13)


def _logs(kind: Any, p: float) -> tuple[int, np.ndarray, list[np.ndarray]]:
    program = _program(kind)
    program(np.array([p]))
    context, log = program.context(), _steps()[0].log()
    out = context.memory[program.shape.layout.solver_out[0] :]
    count = int(context.counts[0])
    return count, log.errors(out, count), [log.inner_errors(out, 0, r) for r in range(count)]


def test_both_machines_log_the_same_rounds() -> None:
    native, vm = _logs(NativeProgram, 3.0), _logs(VmProgram, 3.0)
    assert native[0] == vm[0] > 2
    np.testing.assert_allclose(native[1], vm[1], rtol=1e-6, atol=1e-15)
    assert [len(e) for e in native[2]] == [len(e) for e in vm[2]]
    assert max(len(e) for e in native[2]) > 2
    assert native[1][-1] <= 1e-12 and all(e[-1] <= 1e-12 for e in native[2])


def test_lanes_give_what_single_samples_give() -> None:
    program = _program(NativeProgram)
    p = np.linspace(1.4, 3.0, 21)[:, None]
    batch = program(p)
    w = 0.5 * (np.sqrt(1 + 4 * p[:, 0]) - 1)
    np.testing.assert_allclose(batch, np.stack([w**2, w], axis=1), rtol=0, atol=1e-12)


@both
def test_an_inner_loop_that_fails_stops_the_outer_one(kind: Any) -> None:
    program = _program(kind)
    context = program.new_context()
    record = program.shape.solvers[0].solver.record
    record.write(context.records[0], np.array([2.0]), np.array([4.0, 0.05]), 0.0)
    status = program.run_in(context, np.array([2.0]))
    assert status == SOLVER + INNER
