"""IR of whole programs: validate inputs, run the Newton loops, run the straight-line body, check.

The Newton code lives in a unit of its own (:mod:`.solver_unit`) and is called through addresses
kept in the program's memory: no names are shared between units, so two robots cannot meet.
"""

from __future__ import annotations

from .emitter import FunctionEmitter, Lanes, literal
from .layout import CHECK, INPUT, SOLVER, BoundSolver, Layout, ProgramShape

__all__ = ["CHECK", "INPUT", "SOLVER", "emit_batch", "emit_single"]


def emit_single(shape: ProgramShape, symbol: str, body_symbol: str) -> str:
    """IR of ``i64 symbol(ptr memory)``: one sample, inputs and outputs inside the memory."""
    lay = shape.layout
    f = FunctionEmitter(Lanes(1))
    body_in = f.at("%memory", lay.body_in, "double")
    user_in = f.at(body_in, shape.n_x, "double")
    body_out = f.at("%memory", lay.body_out, "double")
    workspace = f.at("%memory", lay.workspace, "double")

    def check_input(i: str) -> None:
        value = f.value(f"load double, ptr {f.at(user_in, i, 'double')}, align 8")
        size = f.intrinsic("fabs", value)
        bad = f.value(f"fcmp ugt double {size}, {literal(shape.input_limit)}")
        f.return_if(bad, f.value(f"add i64 {i}, {INPUT}"))

    if shape.n_user_in:
        f.loop(shape.n_user_in, check_input)
    x_at = 0
    for k, b in enumerate(shape.solvers):
        _single_solver(f, shape, lay, k, b, user_in, body_in, x_at, workspace)
        x_at += b.solver.n_x
    f.line(f"call void @{body_symbol}(ptr {body_in}, ptr {body_out}, ptr {workspace})")
    for i in range(shape.n_checks):
        value = f.load(body_out, shape.n_user_out + i)
        f.return_if(f.value(f"fcmp ule double {value}, {literal(0.0)}"), str(CHECK + i))
    _keep_newest(f, shape, lay, user_in, body_in, body_out)
    text = "\n".join(f.lines)
    return f"define i64 @{symbol}(ptr %memory) {{\nentry:\n{text}\n  ret i64 0\n}}"


def _single_solver(
    f: FunctionEmitter,
    shape: ProgramShape,
    lay: Layout,
    k: int,
    b: BoundSolver,
    user_in: str,
    body_in: str,
    x_at: int,
    workspace: str,
) -> None:
    s, rec = b.solver, b.solver.record
    record = f.at("%memory", lay.records[k], "double")
    block = f.at("%memory", lay.solver_in[k], "double")
    out = f.at("%memory", lay.solver_out[k], "double")
    status = f.at("%memory", lay.status[k], "double")
    for j, position in enumerate(b.parameters):
        f.store(f.load(user_in, position), block, j)
    for j in range(s.n_sign):
        f.store(f.load(record, rec.sign + j), block, s.n_p + j)
    x = f.at(block, s.n_p + s.n_sign, "double")
    seed, newton = _solver_functions(f, f.at("%memory", lay.functions[k], "double"))
    f.line(f"call void {seed}(ptr {record}, ptr {block}, ptr {x})")
    arguments = f"ptr {block}, ptr {out}, ptr {workspace}, ptr {status}"
    f.line(f"call void {newton}({arguments})")
    code = f.value(f"load i64, ptr {status}, align 8")
    failed = f.value(f"icmp ne i64 {code}, 0")
    f.return_if(failed, f.value(f"add i64 {code}, {SOLVER * (k + 1)}"))
    for i in range(s.n_x):
        f.store(f.load(x, i), body_in, x_at + i)


def _solver_functions(f: FunctionEmitter, table: str) -> tuple[str, str]:
    """The addresses of a solver's seeding and Newton code."""
    seed = f.value(f"load ptr, ptr {f.at(table, 0, 'i64')}, align 8")
    newton = f.value(f"load ptr, ptr {f.at(table, 1, 'i64')}, align 8")
    return seed, newton


def _keep_newest(
    f: FunctionEmitter, shape: ProgramShape, lay: Layout, user_in: str, body_in: str, body_out: str
) -> None:
    """The solution just found becomes the newest seed."""
    x_at, slope_at = 0, shape.n_user_out + shape.n_checks
    for k, b in enumerate(shape.solvers):
        s, rec = b.solver, b.solver.record
        record = f.at("%memory", lay.records[k], "double")
        for j, position in enumerate(b.parameters):
            f.store(f.load(user_in, position), record, rec.p0 + j)
        for i in range(s.n_x):
            f.store(f.load(body_in, x_at + i), record, rec.x0 + i)
        for i in range(s.n_x * s.n_p):
            f.store(f.load(body_out, slope_at + i), record, rec.slope + i)
        x_at += s.n_x
        slope_at += s.n_x * s.n_p


def emit_batch(shape: ProgramShape, symbol: str, body_symbol: str, lanes: Lanes) -> str:
    """IR of ``i64 symbol(ptr in, ptr out, ptr status, i64 count, ptr records, ptr lanes)``.

    ``in`` is (count, n_user_in) and ``out`` (count, n_user_out), row by row; ``status`` one integer
    per sample. The last block repeats the last sample in its spare lanes.
    """
    lay, single = shape.lane_layout, shape.layout
    width, t = lanes.count, lanes.real
    f = FunctionEmitter(lanes)
    body_in = f.at("%lanes", lay.body_in, t)
    user_in = f.at(body_in, shape.n_x, t)
    body_out = f.at("%lanes", lay.body_out, t)
    workspace = f.at("%lanes", lay.workspace, t)
    padded = f.value(f"add i64 %count, {width - 1}")
    blocks = f.value(f"udiv i64 {padded}, {width}")
    last = f.value("sub i64 %count, 1")

    def sample_of(block: str, lane: str) -> str:
        first = f.value(f"mul i64 {block}, {width}")
        position = f.value(f"add i64 {first}, {lane}")
        inside = f.value(f"icmp ult i64 {position}, %count")
        return f.value(f"select i1 {inside}, i64 {position}, i64 {last}")

    def transpose(block: str, rows: int, far: str, near: str, inward: bool) -> None:
        def lane_loop(lane: str) -> None:
            sample = sample_of(block, lane)
            start = f.value(f"mul i64 {sample}, {rows}")

            def element(i: str) -> None:
                position = f.value(f"add i64 {start}, {i}")
                outside = f.at(far, position, "double")
                row = f.value(f"mul i64 {i}, {width}")
                inside = f.at(near, f.value(f"add i64 {row}, {lane}"), "double")
                source, target = (outside, inside) if inward else (inside, outside)
                value = f.value(f"load double, ptr {source}, align 8")
                f.line(f"store double {value}, ptr {target}, align 8")

            f.loop(rows, element)

        f.loop(width, lane_loop)

    def one_block(block: str) -> None:
        if shape.n_user_in:
            transpose(block, shape.n_user_in, "%in", user_in, True)
        status = lanes.const_int(0)
        x_at = 0
        for k, b in enumerate(shape.solvers):
            status = _lane_solver(f, lay, single, k, b, user_in, body_in, x_at, workspace, status)
            x_at += b.solver.n_x
        f.line(f"call void @{body_symbol}(ptr {body_in}, ptr {body_out}, ptr {workspace})")
        for i in range(shape.n_checks):
            bad = f.compare("ule", f.load(body_out, shape.n_user_out + i), lanes.const(0.0))
            status = _first_failure(f, status, bad, lanes.const_int(CHECK + i))
        if shape.n_user_out:
            transpose(block, shape.n_user_out, "%out", body_out, False)

        scratch = f.at("%lanes", lay.scratch, t)
        f.line(f"store {lanes.integer} {status}, ptr {scratch}, align {lanes.align}")

        def keep(lane: str) -> None:
            code = f.value(f"load i64, ptr {f.at(scratch, lane, 'i64')}, align 8")
            target = f.at("%status", sample_of(block, lane), "i64")
            f.line(f"store i64 {code}, ptr {target}, align 8")

        f.loop(width, keep)

    f.loop(blocks, one_block)
    text = "\n".join(f.lines)
    arguments = "ptr %in, ptr %out, ptr %status, i64 %count, ptr %records, ptr %lanes"
    return f"define i64 @{symbol}({arguments}) {{\nentry:\n{text}\n  ret i64 0\n}}"


def _first_failure(f: FunctionEmitter, status: str, bad: str, code: str) -> str:
    """Keep an earlier failure, else ``code`` where ``bad``."""
    ln = f.lanes
    clean = f.value(f"icmp eq {ln.integer} {status}, {ln.const_int(0)}")
    take = f.value(f"and {ln.flag} {clean}, {bad}")
    return f.value(f"select {ln.flag} {take}, {ln.integer} {code}, {ln.integer} {status}")


def _lane_solver(
    f: FunctionEmitter,
    lay: Layout,
    single: Layout,
    k: int,
    b: BoundSolver,
    user_in: str,
    body_in: str,
    x_at: int,
    workspace: str,
    status: str,
) -> str:
    """Seed every lane, run the Newton loop on all of them; returns the merged status."""
    s, rec, ln = b.solver, b.solver.record, f.lanes
    record = f.at("%records", single.records[k], "double")
    block = f.at("%lanes", lay.solver_in[k], ln.real)
    out = f.at("%lanes", lay.solver_out[k], ln.real)
    state = f.at("%lanes", lay.status[k], ln.real)
    scratch = f.at("%lanes", lay.scratch, ln.real)
    for j, position in enumerate(b.parameters):
        f.store(f.load(user_in, position), block, j)
    for j in range(s.n_sign):
        address = f.at(record, rec.sign + j, "double")
        value = f.value(f"load double, ptr {address}, align 8")
        first = f.value(f"insertelement {ln.real} poison, double {value}, i32 0")
        zeros = f"<{ln.count} x i32> zeroinitializer"
        everywhere = f.value(f"shufflevector {ln.real} {first}, {ln.real} poison, {zeros}")
        f.store(everywhere, block, s.n_p + j)

    seed, newton = _solver_functions(f, f.at("%lanes", lay.functions[k], ln.real))

    def seed_lane(lane: str) -> None:
        for j in range(s.n_p):
            offset = f.value(f"add i64 {lane}, {j * ln.count}")
            value = f.value(f"load double, ptr {f.at(block, offset, 'double')}, align 8")
            f.line(f"store double {value}, ptr {f.at(scratch, j, 'double')}, align 8")
        x = f.at(scratch, s.n_p, "double")
        f.line(f"call void {seed}(ptr {record}, ptr {scratch}, ptr {x})")
        for i in range(s.n_x):
            value = f.value(f"load double, ptr {f.at(x, i, 'double')}, align 8")
            offset = f.value(f"add i64 {lane}, {(s.n_p + s.n_sign + i) * ln.count}")
            f.line(f"store double {value}, ptr {f.at(block, offset, 'double')}, align 8")

    f.loop(ln.count, seed_lane)
    arguments = f"ptr {block}, ptr {out}, ptr {workspace}, ptr {state}"
    f.line(f"call void {newton}({arguments})")
    code = f.value(f"load {ln.integer}, ptr {state}, align {ln.align}")
    for i in range(s.n_x):
        f.store(f.load(block, s.n_p + s.n_sign + i), body_in, x_at + i)
    bad = f.value(f"icmp ne {ln.integer} {code}, {ln.const_int(0)}")
    tagged = f.value(f"add {ln.integer} {code}, {ln.const_int(SOLVER * (k + 1))}")
    return _first_failure(f, status, bad, tagged)
