"""Whole programs: validate inputs, run the Newton loops, run the straight-line body, check.

The Newton code lives in a unit of its own (:mod:`.solver_unit`) and is called through addresses
kept in the program's memory: no names are shared between units, so two robots cannot meet.
"""

from __future__ import annotations

from ..arrays import MAX_ANGLE
from .code import Function, Module, Variable
from .layout import CHECK, INPUT, SOLVER, BoundSolver, Layout, ProgramShape
from .values import Block, Flag, Int, Real


def emit_single(module: Module, shape: ProgramShape, symbol: str, body: str) -> None:
    """Write ``int symbol(memory)``: one sample, inputs and outputs inside the memory."""
    f = module.function(symbol, {"memory": Block}, returns=Int)
    (memory,) = f.arguments
    at = _Memory(memory, shape, shape.layout)
    if shape.n_user_in:
        with f.loop(shape.n_user_in) as i:
            f.return_if(~(abs(at.user_in[i]) <= MAX_ANGLE), i + INPUT)
    records = [memory + offset for offset in shape.layout.records]
    for solver, record in zip(at.solvers, records, strict=True):
        solver.take_parameters(at.user_in)
        for j in range(solver.n_sign):
            solver.sign[j] = record[solver.record.sign + j]
        f.call(solver.seed, record, solver.p, solver.x)
        code = solver.iterate(f, at.workspace)
        f.return_if(code.differs(0), code + solver.tag)
        solver.hand_over()
    f.call(body, at.x, at.user_out, at.workspace)
    for c in range(shape.n_checks):
        f.return_if(~(at.checks[c] > 0.0), CHECK + c)
    _keep_newest(f, at, records)
    f.finish(0)


def emit_batch(module: Module, shape: ProgramShape, symbol: str, body: str, lanes: int) -> None:
    """Write ``int symbol(in, out, status, count, records, lanes)``.

    ``in`` has two integers for each of the user's vectors: where its rows are, and how many numbers
    there are from one to the next. ``out`` is (count, n_user_out), row by row; ``status`` one
    integer per sample, INPUT for one that is not finite or too large. The last block repeats the
    last sample in its spare lanes.
    """
    kinds = {"in": Block, "out": Block, "status": Block, "count": Int}
    kinds |= {"records": Block, "lanes": Block}
    f = module.function(symbol, kinds, lanes=lanes, returns=Int)
    places, rows_out, statuses, count, records, memory = f.arguments
    rows_out, records = (block.of(Real) for block in (rows_out, records))
    at = _Memory(memory, shape, shape.lane_layout)
    vectors = [
        (places.of(Block)[2 * k], places.of(Int)[2 * k + 1], size, sum(shape.input_sizes[:k]))
        for k, size in enumerate(shape.input_sizes)
        if size
    ]
    blocks, last = (count + (lanes - 1)) // lanes, count - 1

    def sample(block: Int, lane: Int) -> Int:
        position = block * lanes + lane
        return (position < count).choose(position, last)

    with f.loop(blocks) as block:
        if vectors:
            with f.loop(lanes) as lane:
                for rows, step, size, start in vectors:
                    row, own = rows + sample(block, lane) * step, _Lane(at.user_in + start, lane)
                    with f.loop(size) as i:
                        own[i] = row[i]
        status = _refused(f, at.user_in, shape.n_user_in)
        for solver, offset in zip(at.solvers, shape.layout.records, strict=True):
            code = _solve_lanes(f, solver, records + offset, at)
            status = _first_failure(status, code.differs(0), code + solver.tag)
        f.call(body, at.x, at.user_out, at.workspace)
        for c in range(shape.n_checks):
            status = _first_failure(status, ~(at.checks[c] > 0.0), f.integer(CHECK + c))
        if shape.n_user_out:
            with f.loop(lanes) as lane:
                row = rows_out + sample(block, lane) * shape.n_user_out
                with f.loop(shape.n_user_out) as i:
                    row[i] = _Lane(at.user_out, lane)[i]
        at.scratch.of(Int, lanes)[0] = status
        with f.loop(lanes) as lane:
            statuses.of(Int)[sample(block, lane)] = at.scratch.of(Int)[lane]
    f.finish(0)


class _Memory:
    """The regions of a program's memory, in a function that works on it."""

    def __init__(self, memory: Block[Real], shape: ProgramShape, layout: Layout) -> None:
        self.x, self.user_in = memory + layout.body_in, memory + layout.user_in
        self.user_out = memory + layout.body_out
        self.checks, self.slopes = memory + layout.checks, memory + layout.slopes
        self.scratch = memory + layout.scratch
        self.workspace = memory + layout.workspace
        self.solvers: list[_Solver] = []
        found = self.x
        for k, bound in enumerate(shape.solvers):
            self.solvers.append(_Solver(memory, layout, k, bound, found))
            found = found + bound.solver.n_x


class _Solver:
    """The regions of one of its solvers; ``found`` is where the body expects the unknowns."""

    def __init__(
        self, memory: Block[Real], layout: Layout, k: int, bound: BoundSolver, found: Block[Real]
    ) -> None:
        s = bound.solver
        self.n_p, self.n_sign, self.n_x = s.n_p, s.n_sign, s.n_x
        self.parameters, self.record, self.found = bound.parameters, s.record, found
        self.p = memory + layout.solver_in[k]
        self.sign = self.p + s.n_p
        self.x = self.sign + s.n_sign
        self.out = memory + layout.solver_out[k]
        self.status = memory + layout.status[k]
        functions = (memory + layout.functions[k]).of(Block)
        self.seed, self.newton = functions[0], functions[1]
        self.tag = SOLVER * (k + 1)

    def take_parameters(self, user_in: Block[Real]) -> None:
        """Its parameters are some of the user's inputs."""
        for j, position in enumerate(self.parameters):
            self.p[j] = user_in[position]

    def iterate(self, f: Function, workspace: Block[Real]) -> Int:
        """Run the Newton loop; gives its result code."""
        f.call(self.newton, self.p, self.out, workspace, self.status)
        return self.status.of(Int, f.lanes)[0]

    def hand_over(self) -> None:
        """Give the unknowns to the body."""
        for i in range(self.n_x):
            self.found[i] = self.x[i]


class _Lane:
    """One lane of a block: its elements are numbers of one lane."""

    def __init__(self, block: Block[Real], lane: Int) -> None:
        self._reals, self._lane, self._lanes = block.of(Real), lane, block.width

    def __getitem__(self, i: Int | int) -> Real:
        return self._reals[self._lane + i * self._lanes]

    def __setitem__(self, i: Int | int, value: Real) -> None:
        self._reals[self._lane + i * self._lanes] = value


def _solve_lanes(f: Function, solver: _Solver, record: Block[Real], at: _Memory) -> Int:
    """Seed every lane, run the Newton loop on all of them; gives the result codes."""
    solver.take_parameters(at.user_in)
    for j in range(solver.n_sign):
        solver.sign[j] = record[solver.record.sign + j].everywhere()
    p = at.scratch.of(Real)
    x = p + solver.n_p
    with f.loop(f.lanes) as lane:
        lane_p, lane_x = _Lane(solver.p, lane), _Lane(solver.x, lane)
        for j in range(solver.n_p):
            p[j] = lane_p[j]
        f.call(solver.seed, record, p, x)
        for i in range(solver.n_x):
            lane_x[i] = x[i]
    code = solver.iterate(f, at.workspace)
    solver.hand_over()
    return code


def _refused(f: Function, user_in: Block[Real], count: int) -> Int:
    """INPUT where a number is not finite or too large, and zero in its place; else 0."""
    fine = Variable(f.flag(True))
    if count:
        with f.loop(count, fine) as i:
            good = abs(user_in[i]) <= MAX_ANGLE
            user_in[i] = good.choose(user_in[i], f.real(0.0))
            fine.value = fine.value & good
    return fine.value.choose(f.integer(0), f.integer(INPUT))


def _first_failure(status: Int, failed: Flag, code: Int) -> Int:
    """Keep an earlier failure, else ``code`` where ``failed``."""
    return (status.equals(0) & failed).choose(code, status)


def _keep_newest(f: Function, at: _Memory, records: list[Block[Real]]) -> None:
    """The solution just found becomes the newest seed; at another place, that becomes the older."""
    slopes = at.slopes
    for solver, record in zip(at.solvers, records, strict=True):
        rec = solver.record
        new = [at.user_in[position] for position in solver.parameters]
        stayed = f.all(each.equals(record[rec.p0 + j]) for j, each in enumerate(new))
        older, kept = record + rec.p1, stayed.choose(record + rec.p1, record + rec.p0)
        with f.loop(rec.p0 - rec.p1) as i:
            older[i] = kept[i]
        for j, each in enumerate(new):
            record[rec.p0 + j] = each
        for k in range(rec.n_x):
            record[rec.x0 + k] = solver.found[k]
        for k in range(rec.n_x * rec.n_p):
            record[rec.slope + k] = slopes[k]
        slopes = slopes + rec.n_x * rec.n_p
