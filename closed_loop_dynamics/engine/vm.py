"""Programs on CasADi's own virtual machine, for machines without llvmlite.

The same memory, the same statuses and, in Python, the same Newton loop as :mod:`.newton` and
:mod:`.program_ir` emit; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import MAX_ANGLE, Array
from .contexts import Context
from .instructions import block_sizes
from .layout import CHECK, INPUT, SOLVER, BoundSolver
from .nested import NestedStep
from .newton import CONTRACTION, GUARD, INNER, NOT_CONVERGED, OK, NewtonSolver
from .program import Program
from .progress import compiling
from .seeds import ONE_CELL
from .solver_unit import SolverUnit
from .symbolic import tracing


class VmProgram(Program):
    """A program whose body and Newton steps are CasADi functions."""

    def _prepare(self, key: str, unit: SolverUnit) -> None:
        """Nothing is compiled, so nothing is cached and ``key`` does not matter."""
        source = self.source
        with compiling(source.name), tracing():
            self._body = source.build()
        self._steps = [unit.traced()[use.solver] for use in source.solvers]
        bound = []
        for step, use in zip(self._steps, source.solvers, strict=True):
            if isinstance(step, NestedStep):
                solver = step.solver()
            else:
                n_p, n_sign, n_x = block_sizes(step)[0]
                solver = NewtonSolver(n_p, n_sign, n_x)
            bound.append(BoundSolver(solver, use.parameters))
        self.shape = self._traced_shape(bound, *block_sizes(self._body))

    def prepare_batch(self) -> None:
        """Nothing: batches run sample by sample."""

    def _attach(self, context: Context) -> None:
        context.handle = _Machine(self, context, self._body, self._steps)
        context.call = self._copying_call(context)

    def _single(self, handle: Any) -> int:
        machine: _Machine = handle
        return machine.run()

    def _run_batch(
        self, context: Context, values: Sequence[Array], out: Array, status: NDArray[np.int64]
    ) -> None:
        machine: _Machine = context.handle
        for sample, rows in enumerate(zip(*values, strict=True)):
            np.concatenate(rows, out=machine.user_in)
            status[sample] = machine.run()
            out[sample] = context.output


class _Machine:
    """The functions of a program, bound to the memory of one context."""

    def __init__(
        self, program: VmProgram, context: Context, body: Any, steps: Sequence[Any]
    ) -> None:
        shape, memory = program.shape, context.memory
        lay = shape.layout
        body_in = memory[lay.body_in : lay.body_in + shape.n_x + shape.n_user_in]
        body_out = memory[lay.body_out : lay.body_out + shape.n_body_out]
        self.x, self.user_in = body_in[: shape.n_x], body_in[shape.n_x :]
        self.checks, self.slopes = memory[lay.checks : lay.slopes], memory[lay.slopes :]
        self.body = _Evaluator(body, body_in, body_out)
        self.solvers = []
        for k, (bound, step) in enumerate(zip(shape.solvers, steps, strict=True)):
            s = bound.solver
            block = memory[lay.solver_in[k] :][: s.n_p + s.n_sign + s.n_x]
            out = memory[lay.solver_out[k] :][: s.n_out]
            self.solvers.append(
                _Solver(bound, step, block, out, context.records[k], context.seeds[k].nodes)
            )
        self.statuses = context.statuses

    def run(self) -> int:
        """One evaluation; the inputs and outputs are in the memory."""
        with np.errstate(all="ignore"):
            bad = np.flatnonzero(~(np.abs(self.user_in) <= MAX_ANGLE))
            if bad.size:
                return INPUT + int(bad[0])
            at = 0
            for k, solver in enumerate(self.solvers):
                code, rounds = solver.solve(self.user_in)
                self.statuses[k][:] = code, rounds
                if code:
                    return SOLVER * (k + 1) + code
                self.x[at : at + len(solver.x)] = solver.x
                at += len(solver.x)
            self.body.evaluate()
            failed = np.flatnonzero(~(self.checks > 0.0))
            if failed.size:
                return CHECK + int(failed[0])
            at = 0
            for solver in self.solvers:
                at = solver.keep_newest(self.slopes, at)
        return 0


class _Solver:
    """One Newton loop; see :mod:`.newton` for the rules it follows."""

    def __init__(
        self, bound: BoundSolver, step: Any, block: Array, out: Array, record: Array, nodes: Array
    ) -> None:
        s = bound.solver
        self.settings, self.rec, self.record, self.nodes = s, s.record, record, nodes
        self.parameters = list(bound.parameters)
        self.p, self.sign, self.x = np.split(block, [s.n_p, s.n_p + s.n_sign])
        end = s.n_x + 1 + s.n_sign
        self.dx, self.err, self.guard, self.log = np.split(out, [s.n_x, s.n_x + 1, end])
        self.inner: list[_Inner] = []
        if isinstance(step, NestedStep):
            self.inner = [_Inner(step, k, self, out) for k in range(len(step.inner))]
            step = step.step
        self.step = _Evaluator(step, block, out[:end])

    def solve(self, user_in: Array) -> tuple[int, int]:
        """Seed and iterate; result code and number of iterations."""
        rec = self.rec
        self.p[:] = user_in[self.parameters]
        self.sign[:] = self.record[rec.sign : rec.p1]
        self._seed()
        return self.iterate()

    def iterate(self) -> tuple[int, int]:
        """The loop from the x that is there; result code and number of iterations."""
        s = self.settings
        previous = s.max_step / s.contraction
        for rounds in range(1, s.max_iterations + 1):
            solved = all([inner.solve(rounds - 1) for inner in self.inner])
            self.step.evaluate()
            err = float(self.err[0])
            if s.n_log:
                self.log[rounds - 1] = err
            if not solved:
                return INNER, rounds
            if not (self.guard > 0.0).all():
                return GUARD, rounds
            small = err <= s.tolerance
            if np.isnan(self.dx).any() or not (small or err <= previous * s.contraction):
                return CONTRACTION, rounds
            self.x -= self.dx
            if small:
                return OK, rounds
            previous = err
        return NOT_CONVERGED, s.max_iterations

    def _seed(self) -> None:
        """Predict x at p from the table, or from the newest solution where it has no node."""
        rec, record = self.rec, self.record
        n_p, n_x = rec.n_p, rec.n_x
        low, step, inverse, last, stride = record[rec.low : rec.inverse_reach].reshape(5, n_p)
        p0 = record[rec.p0 : rec.p0 + n_p]
        best = record[rec.x0 : rec.size]
        if record[rec.has_table]:
            near = (np.abs(self.p - p0) * inverse < 0.5).all()
            exact = (self.p - low) * inverse
            index = np.floor(np.clip(exact, 0.0, last) + 0.5)
            node = self.nodes[int(index @ stride)]
            covered = (np.abs(exact - index) <= ONE_CELL).all() and not np.isnan(node[0])
            if np.isnan(node[0]) and not np.isnan(node[n_x]):
                index += node[n_x : n_x + n_p]
                node = self.nodes[int(index @ stride)]
            if not (self.p == p0).all() and (covered or not near):
                best, p0 = node, low + index * step
        change = best[n_x:].reshape(n_x, n_p) @ (self.p - p0)
        within = (np.abs(change) * record[rec.inverse_reach : rec.sign] <= 1.0).all()
        self.x[:] = best[:n_x] + change if within else np.nan

    def keep_newest(self, slopes: Array, at: int) -> int:
        """The solution just found becomes the newest seed; returns where the next slope is."""
        end = at + self.rec.n_x * self.rec.n_p
        self.rec.write(self.record, self.p, self.x, slopes[at:end])
        return end


class _Inner:
    """A loop inside the step of another (see :mod:`.nested`)."""

    def __init__(self, nested: NestedStep, k: int, outer: _Solver, out: Array) -> None:
        self.inner, self.log, self.k = nested.inner[k], nested.log(), k
        self.outer, self.out = outer, out
        n_p, n_sign, n_x = block_sizes(self.inner.step)[0]
        solver = NewtonSolver(n_p, n_sign, n_x, n_log=self.log.rounds, **nested.settings)
        self.bound = BoundSolver(solver, ())
        self.own = np.zeros(self.log.block(k))
        status = self.log.status(k)
        self.status = self.own[status : status + 2].view(np.int64)
        block, results = self.own[self.log.inputs(k) :], self.own[:status]
        self.loop = _Solver(self.bound, self.inner.step, block, results, np.zeros(0), np.zeros(0))

    def solve(self, outer_round: int) -> bool:
        """Solve for its share of the outer unknowns."""
        inner, loop, outer = self.inner, self.loop, self.outer
        loop.p[:] = outer.x[list(inner.parameters)]
        loop.sign[:] = outer.sign[list(inner.signs)]
        loop.x[:] = outer.x[list(inner.unknowns)]
        self.status[:] = loop.iterate()
        outer.x[list(inner.unknowns)] = loop.x
        at = self.log.inner_at(self.k) + outer_round * self.log.per_round
        self.out[at : at + len(self.own)] = self.own
        return bool(self.status[0] == OK)


class _Evaluator:
    """A function from one block to another, its vectors one behind the other in them."""

    def __init__(self, function: Any, block_in: Array, block_out: Array) -> None:
        self._buffer, self.evaluate = function.buffer()
        self._blocks = block_in, block_out  # CasADi keeps bare addresses
        bind = self._buffer.set_arg, self._buffer.set_res
        for set_, block, sizes in zip(bind, self._blocks, block_sizes(function), strict=True):
            for i, vector in enumerate(np.split(block, np.cumsum(sizes)[:-1])):
                set_(i, vector.data)
