"""A native Newton loop around one traced step, with the certificate that keeps the branch.

The traced step maps (p, sign, x) to (dx, err, guard). ``x -= dx`` is repeated until ``err <= tol``.
An iterate is accepted only while (a) every guard stays positive: guards are the determinants of the
irreducible blocks of the Jacobian times the sign they have on the wanted branch, so a changed
assembly mode or a singularity shows as a sign; and (b) the steps contract by at least
``contraction`` (the affine-invariant test of Deuflhard's continuation methods), so the start lies
in the convergence ball of its own solution, not of another one. A step that is not a number counts
as one that does not contract. What fails is reported, never used.

Starts ("seeds") are records (p0, x0, dx/dp): the nearest node of a table of solutions computed at
load, so that the answer does not depend on earlier calls; the newest solution only where there is
no such node. A prediction that goes further than ``reach`` is not used: near a singularity slopes
are huge, and a leap may end on another branch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from .emitter import Emitter, Lanes, literal
from .instructions import InstructionList
from .llvm_ir import emit_straight_line

#: Nodes cover half a step around them, and a little for rounding.
ONE_CELL = 0.5 + 1e-9
OK = 0
NOT_CONVERGED = 1
GUARD = 2
CONTRACTION = 3
#: A loop inside the step's unknowns did not converge (see :mod:`.nested`).
INNER = 4


@dataclass(frozen=True)
class NewtonSolver:
    """An implicit function x(p): its traced step and the numbers that govern the loop.

    Attributes:
        n_p, n_sign, n_x: numbers of parameters, guards and unknowns.
        step: inputs (p, sign, x), outputs (dx, err, guard); None once it is compiled.
        tolerance: the last step taken is at most this long (scaled); the error that remains is its
            square times the curvature.
        max_step: longest first step that counts as near.
        contraction: largest ratio of consecutive steps.
        max_iterations: of the loop.
        n_log: room behind the step's outputs, for what the loop leaves to be read.
    """

    n_p: int
    n_sign: int
    n_x: int
    step: InstructionList | None = None
    tolerance: float = 1e-8
    max_step: float = 0.2
    contraction: float = 0.35
    max_iterations: int = 12
    n_log: int = 0

    @staticmethod
    def of(step: InstructionList, **settings: Any) -> NewtonSolver:
        """The solver of a traced step."""
        n_p, n_sign, n_x = step.input_sizes
        return NewtonSolver(n_p, n_sign, n_x, step, **settings)

    @property
    def n_out(self) -> int:
        """Length of the block behind the step: dx, err, guards, log."""
        return self.n_x + 1 + self.n_sign + self.n_log

    @property
    def record(self) -> RecordLayout:
        """Where the seeds are."""
        return RecordLayout(self.n_p, self.n_sign, self.n_x)


@dataclass(frozen=True)
class RecordLayout:
    """Offsets (in doubles) inside the seed record of one solver.

    ``table`` holds the address of the node array (as an integer); nodes are ``(x0, dx/dp row by
    row)``, node ``(i, j, ...)`` at ``sum(index * stride)`` and p = low + index * step.
    """

    n_p: int
    n_sign: int
    n_x: int

    @property
    def has_table(self) -> int:
        """1.0 when the table may be used."""
        return 0

    @property
    def table(self) -> int:
        """Address of the table."""
        return 1

    @property
    def low(self) -> int:
        """(n_p,) first node."""
        return 2

    @property
    def step(self) -> int:
        """(n_p,) spacing."""
        return 2 + self.n_p

    @property
    def inverse_step(self) -> int:
        """(n_p,) 1 / spacing."""
        return 2 + 2 * self.n_p

    @property
    def last_index(self) -> int:
        """(n_p,) number of nodes - 1."""
        return 2 + 3 * self.n_p

    @property
    def stride(self) -> int:
        """(n_p,) strides of the node array, in nodes."""
        return 2 + 4 * self.n_p

    @property
    def inverse_reach(self) -> int:
        """(n_x,) 1 / longest prediction of each unknown."""
        return 2 + 5 * self.n_p

    @property
    def sign(self) -> int:
        """(n_sign,) sign of every guard on the wanted branch."""
        return self.inverse_reach + self.n_x

    @property
    def p0(self) -> int:
        """(n_p,) parameters of the newest solution (NaN: none)."""
        return self.sign + self.n_sign

    @property
    def x0(self) -> int:
        """(n_x,) newest solution."""
        return self.p0 + self.n_p

    @property
    def slope(self) -> int:
        """(n_x, n_p) its derivative, row by row."""
        return self.x0 + self.n_x

    @property
    def size(self) -> int:
        """Length of the record."""
        return self.slope + self.n_x * self.n_p

    @property
    def node_size(self) -> int:
        """Length of one table node."""
        return self.n_x * (1 + self.n_p)

    def write(self, record: Array, p: Array, x: Array, slope: Array | float) -> None:
        """Make (p, x, dx/dp) the newest solution."""
        record[self.p0 : self.p0 + self.n_p] = p
        record[self.x0 : self.x0 + self.n_x] = x
        record[self.slope : self.size] = np.ravel(slope)


def emit_seed(solver: NewtonSolver, symbol: str) -> str:
    """IR of ``void symbol(ptr record, ptr p, ptr x)``: predict x at p from the best seed."""
    rec = solver.record
    e = Emitter(Lanes(1))
    p = [e.load("%p", j) for j in range(rec.n_p)]
    p0 = [e.load("%record", rec.p0 + j) for j in range(rec.n_p)]
    near, inside, same = "true", "true", "true"
    node = "0"
    p_node = []
    for j in range(rec.n_p):
        inverse = e.load("%record", rec.inverse_step + j)
        low = e.load("%record", rec.low + j)
        away = e.intrinsic("fabs", e.arithmetic("fsub", p[j], p0[j]))
        scaled = e.value(f"fmul double {away}, {inverse}")
        # Ordered: without a newest solution p0 is NaN, and NaN is never near.
        close = e.value(f"fcmp olt double {scaled}, {literal(0.5)}")
        near = e.value(f"and i1 {near}, {close}")
        equal = e.value(f"fcmp oeq double {p[j]}, {p0[j]}")
        same = e.value(f"and i1 {same}, {equal}")
        exact = e.arithmetic("fmul", e.arithmetic("fsub", p[j], low), inverse)
        position = e.intrinsic("minnum", exact, e.load("%record", rec.last_index + j))
        position = e.intrinsic("maxnum", position, literal(0.0))
        nearest = e.arithmetic("fadd", position, literal(0.5))
        index = e.value(f"fptosi double {nearest} to i64")
        index_real = e.value(f"sitofp i64 {index} to double")
        beside = e.intrinsic("fabs", e.arithmetic("fsub", exact, index_real))
        covered = e.value(f"fcmp ole double {beside}, {literal(ONE_CELL)}")
        inside = e.value(f"and i1 {inside}, {covered}")
        p_node.append(e.fma(index_real, e.load("%record", rec.step + j), low))
        stride = e.value(f"fptosi double {e.load('%record', rec.stride + j)} to i64")
        product = e.value(f"mul i64 {index}, {stride}")
        node = e.value(f"add i64 {node}, {product}")
    no_table = e.value(f"fcmp oeq double {e.load('%record', rec.has_table)}, {literal(0.0)}")
    address = e.value(f"getelementptr double, ptr %record, i64 {rec.table}")
    table = e.value(f"load ptr, ptr {address}, align 8")
    offset = e.value(f"mul i64 {node}, {rec.node_size}")
    node_pointer = e.value(f"getelementptr double, ptr {table}, i64 {offset}")
    own_pointer = e.value(f"getelementptr double, ptr %record, i64 {rec.x0}")
    probe = e.value(f"select i1 {no_table}, ptr {own_pointer}, ptr {node_pointer}")
    reached = e.value(f"fcmp ord double {e.load(probe, 0)}, {literal(0.0)}")
    by_table = e.value(f"and i1 {inside}, {reached}")
    uncovered = e.value(f"xor i1 {by_table}, true")
    newest = e.value(f"and i1 {near}, {uncovered}")
    # At the very place of the newest solution: that is how a rescue hands its answer in.
    newest = e.value(f"or i1 {newest}, {same}")
    newest = e.value(f"or i1 {newest}, {no_table}")
    # x0 and slope follow each other both in the record and in a node.
    source = e.value(f"select i1 {newest}, ptr {own_pointer}, ptr {node_pointer}")
    dp = [e.arithmetic("fsub", p[j], e.select(newest, p0[j], p_node[j])) for j in range(rec.n_p)]
    within, predicted = "true", []
    for i in range(rec.n_x):
        change = literal(0.0)
        for j in range(rec.n_p):
            change = e.fma(e.load(source, rec.n_x + i * rec.n_p + j), dp[j], change)
        size = e.intrinsic("fabs", change)
        size = e.arithmetic("fmul", size, e.load("%record", rec.inverse_reach + i))
        short = e.value(f"fcmp ole double {size}, {literal(1.0)}")
        within = e.value(f"and i1 {within}, {short}")
        predicted.append(e.arithmetic("fadd", e.load(source, i), change))
    for i, x in enumerate(predicted):
        e.store(e.select(within, x, literal(float("nan"))), "%x", i)
    body = "\n".join(e.lines)
    return f"define void @{symbol}(ptr %record, ptr %p, ptr %x) {{\n{body}\n  ret void\n}}"


def emit_newton(
    solver: NewtonSolver,
    symbol: str,
    lanes: Lanes,
    before: Callable[[Emitter], str] | None = None,
) -> tuple[str, int]:
    """IR of ``void symbol(ptr in, ptr out, ptr ws, ptr status)`` and the workspace length.

    ``in`` holds (p, sign, x), x being updated in place; ``out`` receives the step's outputs, and
    then, where the solver has a log, err of every round; ``status`` two integers per lane: the
    result code and the number of iterations. ``before`` emits what is done before every step, and
    gives the flag that it went well.
    """
    assert solver.step is not None, "the step is needed to compile it"
    step_ir, workspace = emit_straight_line(solver.step, f"{symbol}_step", lanes)
    t, flag, integer = lanes.real, lanes.flag, lanes.integer
    n_x, n_p, n_sign = solver.n_x, solver.n_p, solver.n_sign
    x_at = n_p + n_sign
    e = Emitter(lanes)
    prepared = before(e) if before is not None else all_true(lanes)
    e.line(f"call void @{symbol}_step(ptr %in, ptr %out, ptr %ws)")
    err = e.load("%out", n_x)
    if solver.n_log:
        log = e.value(f"getelementptr {t}, ptr %out, i64 {n_x + 1 + n_sign}")
        entry = e.value(f"getelementptr {t}, ptr {log}, i64 %round")
        e.line(f"store {t} {err}, ptr {entry}, align {lanes.align}")
    good_guard = all_true(lanes)
    for k in range(n_sign):
        guard = e.load("%out", n_x + 1 + k)
        positive = e.compare("ogt", guard, lanes.const(0.0))
        good_guard = e.value(f"and {flag} {good_guard}, {positive}")
    small = e.compare("ole", err, lanes.const(solver.tolerance))
    limit = e.value(f"fmul {t} %previous, {lanes.const(solver.contraction)}")
    shrinking = e.compare("ole", err, limit)
    good_step = e.value(f"or {flag} {small}, {shrinking}")
    dx = [e.load("%out", i) for i in range(n_x)]
    for change in dx:  # err may be a maximum, which passes over NaN
        number = e.compare("ord", change, change)
        good_step = e.value(f"and {flag} {good_step}, {number}")
    good = e.value(f"and {flag} {good_guard}, {good_step}")
    good = e.value(f"and {flag} {good}, {prepared}")
    good = e.value(f"and {flag} {good}, %active")
    for i in range(n_x):
        x = e.load("%in", x_at + i)
        moved = e.arithmetic("fsub", x, dx[i])
        e.store(e.select(good, moved, x), "%in", x_at + i)
    code = e.value(
        f"select {flag} {good_guard}, {integer} {lanes.const_int(CONTRACTION)}, "
        f"{integer} {lanes.const_int(GUARD)}"
    )
    if before is not None:
        code = e.value(
            f"select {flag} {prepared}, {integer} {code}, {integer} {lanes.const_int(INNER)}"
        )
    code = e.value(
        f"select {flag} {good}, {integer} {lanes.const_int(NOT_CONVERGED)}, {integer} {code}"
    )
    done = e.value(f"and {flag} {good}, {small}")
    code = e.value(f"select {flag} {done}, {integer} {lanes.const_int(OK)}, {integer} {code}")
    new_status = e.value(f"select {flag} %active, {integer} {code}, {integer} %status_now")
    one = e.value(f"zext {flag} %active to {integer}")
    new_count = e.value(f"add {integer} %count, {one}")
    not_small = e.value(f"xor {flag} {small}, {all_true(lanes)}")
    still = e.value(f"and {flag} {good}, {not_small}")
    if lanes.count == 1:
        any_active = still
    else:
        any_active = e.value(f"call i1 @llvm.vector.reduce.or.v{lanes.count}i1({flag} {still})")
    next_round = e.value("add i64 %round, 1")
    more = e.value(f"icmp ult i64 {next_round}, {solver.max_iterations}")
    again = e.value(f"and i1 {any_active}, {more}")
    body = "\n".join(e.lines)
    first = lanes.const(solver.max_step / solver.contraction)
    align = lanes.align
    text = f"""{step_ir}

define void @{symbol}(ptr %in, ptr %out, ptr %ws, ptr %status) {{
entry:
  br label %loop
loop:
  %round = phi i64 [ 0, %entry ], [ {next_round}, %loop ]
  %previous = phi {t} [ {first}, %entry ], [ {err}, %loop ]
  %active = phi {flag} [ {all_true(lanes)}, %entry ], [ {still}, %loop ]
  %status_now = phi {integer} [ {lanes.const_int(NOT_CONVERGED)}, %entry ], [ {new_status}, %loop ]
  %count = phi {integer} [ {lanes.const_int(0)}, %entry ], [ {new_count}, %loop ]
{body}
  br i1 {again}, label %loop, label %exit
exit:
  store {integer} {new_status}, ptr %status, align {align}
  %count_at = getelementptr {integer}, ptr %status, i64 1
  store {integer} {new_count}, ptr %count_at, align {align}
  ret void
}}"""
    return text, workspace


def all_true(lanes: Lanes) -> str:
    """The flag that is set in every lane."""
    if lanes.count == 1:
        return "true"
    return "<" + ", ".join(["i1 true"] * lanes.count) + ">"


def newton_declarations(lanes: Lanes) -> str:
    """Declarations beyond those of :mod:`.llvm_ir`."""
    if lanes.count == 1:
        return ""
    return f"declare i1 @llvm.vector.reduce.or.v{lanes.count}i1({lanes.flag})"
