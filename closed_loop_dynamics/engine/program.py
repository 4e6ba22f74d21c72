"""Programs: what one Python call runs natively, from input check to result.

A :class:`Program` owns a traced *body* and refers to the Newton solvers of a :class:`SolverUnit`.
Calls copy the inputs into a per-thread block of memory, run one native function on it and copy the
result out: well under a microsecond of overhead. Programs of one robot share the solvers' code.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from . import cache, native
from .instructions import instruction_list
from .llvm_ir import MAX_ANGLE, Lanes, declarations, emit_straight_line, libm_declarations
from .newton import NewtonSolver, emit_newton, emit_seed, newton_declarations
from .program_ir import (
    CHECK,
    INPUT,
    SOLVER,
    BoundSolver,
    Layout,
    ProgramShape,
    emit_batch,
    emit_single,
    external_declarations,
)

Array = NDArray[np.float64]
ENGINE_VERSION = 1
_DOUBLE = np.dtype(np.float64)


@dataclass
class Seeds:
    """Starting points of one solver, shared by all programs and threads (read only).

    Attributes:
        sign: (n_sign,) sign of the guards on the branch.
        low, step, count: (n_p,) the grid; ``count`` all zero means there is no table.
        nodes: (prod(count), n_x * (1 + n_p)) solutions and their slopes; NaN where unreachable.
        reference: (p0, x0, slope) of the reference configuration.
    """

    sign: Array
    low: Array
    step: Array
    count: NDArray[np.int64]
    nodes: Array
    reference: tuple[Array, Array, Array]


@dataclass(frozen=True)
class SolverUse:
    """Solver number ``solver`` of the unit, its parameters at these places of the user inputs."""

    solver: int
    parameters: tuple[int, ...]


class Rescue(Protocol):
    """Finds the unknowns of the program's ``k``-th solver when the short way failed, or raises.

    ``p`` are its parameters, ``first`` is the program's first input vector.
    """

    def __call__(self, k: int, p: Array, first: Array) -> Array: ...


class SolverUnit:
    """The Newton solvers of one robot, compiled together (one object for each lane width)."""

    def __init__(self, key: str, build: Callable[[], Sequence[Any]]) -> None:
        self.key = cache.key_of("solvers", key, ENGINE_VERSION, native.target_description())
        self._build = build
        self._loaded: dict[int, tuple[native.LoadedCode, list[BoundSolver]]] = {}
        self._lock = threading.Lock()

    def bind(self, use: Sequence[SolverUse], width: int = 1) -> list[BoundSolver]:
        """The chosen solvers, ready to be called by a program of ``width`` lanes."""
        if not use:
            return []
        with self._lock:
            for needed in {1, width}:  # seeding is scalar code, in the unit of width 1
                if needed not in self._loaded:
                    self._loaded[needed] = self._load(needed)
            available = self._loaded[width][1]
        return [replace(available[u.solver], parameters=u.parameters) for u in use]

    def _load(self, width: int) -> tuple[native.LoadedCode, list[BoundSolver]]:
        key = cache.key_of(self.key, width)
        found = cache.load(key)
        if found is None:
            found = self._compile(width)
            cache.store(key, *found)
        metadata, code = found
        loaded = native.LoadedCode(code)
        bound = []
        for k, (sizes, workspace) in enumerate(metadata["solvers"]):
            symbol = self._symbol(k)
            native.publish(f"{symbol}_newton{width}", loaded.address(f"{symbol}_newton{width}"))
            if width == 1:
                native.publish(f"{symbol}_seed", loaded.address(f"{symbol}_seed"))
            bound.append(
                BoundSolver(NewtonSolver(*sizes), symbol, (), workspace)
            )
        return loaded, bound

    def _symbol(self, k: int) -> str:
        return f"cld_{self.key[:24]}_{k}"

    def _compile(self, width: int) -> tuple[dict[str, Any], bytes]:
        lanes = Lanes(width)
        texts = [declarations(lanes), libm_declarations(), newton_declarations(lanes)]
        solvers = []
        for k, step in enumerate(self._build()):
            solver = NewtonSolver.of(instruction_list(step))
            text, workspace = emit_newton(solver, f"{self._symbol(k)}_newton{width}", lanes)
            texts.append(text)
            if width == 1:
                texts.append(emit_seed(solver, f"{self._symbol(k)}_seed"))
            solvers.append(((solver.n_p, solver.n_sign, solver.n_x), workspace))
        return {"solvers": solvers}, native.compile_ir("\n\n".join(texts))


def as_vectors(value: Any, name: str, size: int) -> Array:
    """``value`` as floats of shape (size,) or (N, size); InvalidInput otherwise."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"of type {array.dtype}")
        array = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} is not a vector of real numbers ({error})") from None
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise InvalidInput(
            f"{name} has shape {array.shape}; expected ({size},) or (N, {size}) for a batch"
        )
    return array


def aligned_zeros(length: int) -> Array:
    """A zeroed block on a 64-byte boundary."""
    raw = np.zeros(length + 8)
    start = (-(raw.ctypes.data // 8)) % 8
    return raw[start : start + length]


@dataclass
class _Context:
    """The memory of one thread."""

    memory: Array
    inputs: tuple[Array, ...]
    output: Array
    pointer: ctypes.c_void_p
    records: list[Array]
    statuses: list[NDArray[np.int64]]
    lanes: Array | None = None


@dataclass(frozen=True)
class ProgramSource:
    """What a program is made of.

    Attributes:
        name: for messages and the cache.
        input_names, input_sizes: the user's vectors.
        output_size: length of the user's output block.
        build: traces the body (only called when nothing usable is cached).
        describe_check: turns the index of a failed check into the exception to raise.
    """

    name: str
    input_names: tuple[str, ...]
    input_sizes: tuple[int, ...]
    output_size: int
    build: Callable[[], Any]
    describe_check: Callable[[int, tuple[Array, ...]], Exception]
    solvers: tuple[SolverUse, ...] = ()


class Program:
    """A native function of several vectors; call it with one sample or with a batch."""

    def __init__(
        self,
        source: ProgramSource,
        key: str,
        unit: SolverUnit,
        seeds: Sequence[Seeds],
        rescue: Rescue | None = None,
    ) -> None:
        self.source = source
        self._key = cache.key_of("program", source.name, key, ENGINE_VERSION, unit.key)
        self._unit = unit
        self._seeds = list(seeds)
        self._rescue = rescue
        self._local = threading.local()
        self._lock = threading.Lock()
        self._batch: Any = None
        self._offsets = np.concatenate([[0], np.cumsum(source.input_sizes)]).astype(int)
        self.shape, self._code, self._single = self._load(1)

    def use_seeds(self, seeds: Sequence[Seeds], rescue: Rescue | None) -> None:
        """Replace the seeds (before the first call)."""
        self._seeds, self._rescue = list(seeds), rescue

    # -- compiling --------------------------------------------------------------------------

    def _load(self, width: int) -> tuple[ProgramShape, native.LoadedCode, Any]:
        bound = self._unit.bind(self.source.solvers, width)
        key = cache.key_of(self._key, width)
        found = cache.load(key)
        if found is None:
            found = self._compile(width, bound)
            cache.store(key, *found)
        metadata, code = found
        shape = self._shape(bound, metadata["checks"], metadata["workspace"])
        loaded = native.LoadedCode(code)
        if width == 1:
            function = ctypes.CFUNCTYPE(ctypes.c_int64)(loaded.address(shape.symbol))
        else:
            prototype = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, ctypes.c_int64,
                                         *[ctypes.c_void_p] * 2)
            function = prototype(loaded.address(f"{shape.symbol}_batch"))
        if width == 1:
            function.argtypes = None
        return shape, loaded, function

    def _compile(self, width: int, bound: list[BoundSolver]) -> tuple[dict[str, Any], bytes]:
        lanes = Lanes(width)
        body = instruction_list(self.source.build())
        checks = body.output_sizes[len(body.output_sizes) - 1 - len(bound)]
        symbol = f"cld_{self._key[:24]}_body"
        body_ir, workspace = emit_straight_line(body, symbol, lanes)
        shape = self._shape(bound, checks, workspace)
        driver = emit_single(shape, symbol) if width == 1 else emit_batch(shape, symbol, lanes)
        texts = [declarations(lanes), libm_declarations(), external_declarations(shape, lanes)]
        code = native.compile_ir("\n\n".join([*texts, body_ir, driver]))
        return {"checks": checks, "workspace": workspace}, code

    def _shape(self, bound: list[BoundSolver], checks: int, workspace: int) -> ProgramShape:
        return ProgramShape(
            symbol=f"cld_{self._key[:24]}",
            solvers=tuple(bound),
            n_user_in=sum(self.source.input_sizes),
            n_user_out=self.source.output_size,
            n_checks=checks,
            body_workspace=workspace,
            input_limit=MAX_ANGLE,
        )

    def prepare_batch(self) -> None:
        """Compile the SIMD version now instead of at the first batch call."""
        with self._lock:
            if self._batch is None:
                self._batch = self._load(native.simd_lanes())

    # -- calling ----------------------------------------------------------------------------

    def __call__(self, *values: Any) -> Array:
        """Evaluate one sample; returns a fresh array of the user outputs."""
        try:
            context = self._local.context
        except AttributeError:
            context = self._context()
        try:
            for view, value in zip(context.inputs, values, strict=True):
                if value.dtype is not _DOUBLE or value.shape != view.shape:
                    return self._converted(values)
                view[:] = value
        except AttributeError:
            return self._converted(values)
        status = self._single(context.pointer)
        if status:
            self._recover(context, status)
        result: Array = context.output.copy()
        return result

    def _converted(self, values: Sequence[Any]) -> Array:
        """Anything array-like: checked, made floats, sent to one sample or to the batch."""
        arrays = [
            as_vectors(value, name, size)
            for value, name, size in zip(
                values, self.source.input_names, self.source.input_sizes, strict=True
            )
        ]
        counts = {len(a) for a in arrays if a.ndim == 2}
        if not counts:
            return self(*arrays)
        if len(counts) > 1:
            raise InvalidInput(f"{self.source.name}: batches of different length {sorted(counts)}")
        (count,) = counts
        return self.batch(*(np.broadcast_to(a, (count, a.shape[-1])) for a in arrays))

    def _context(self) -> _Context:
        """This thread's memory."""
        if not hasattr(self._local, "context"):
            self._local.context = self.new_context()
        context: _Context = self._local.context
        return context

    def iterations(self) -> int:
        """Newton iterations of this thread's newest call."""
        return int(sum(s[1] for s in self._local.context.statuses))

    def new_context(self, seeds: Sequence[Seeds] | None = None) -> _Context:
        """Memory for one thread, seeded from the tables (or from the given seeds)."""
        layout = Layout(self.shape, records=True)
        memory = aligned_zeros(layout.size)
        start = layout.body_in + self.shape.n_x
        inputs = tuple(
            memory[start + a : start + b]
            for a, b in zip(self._offsets[:-1], self._offsets[1:], strict=True)
        )
        output = memory[layout.body_out : layout.body_out + self.shape.n_user_out]
        records = []
        for k, bound in enumerate(self.shape.solvers):
            rec = bound.solver.record
            record = memory[layout.records[k] : layout.records[k] + rec.size]
            _fill_record(record, rec, (seeds or self._seeds)[k])
            records.append(record)
        statuses = [memory[at : at + 2].view(np.int64) for at in layout.status]
        return _Context(
            memory, inputs, output, ctypes.c_void_p(memory.ctypes.data), records, statuses
        )

    def run_in(self, context: _Context, *values: Any) -> int:
        """Run in a context of the caller's; returns the status, raises nothing."""
        for view, value in zip(context.inputs, values, strict=True):
            view[:] = value
        return int(self._single(context.pointer))

    def _recover(self, context: _Context, status: int) -> None:
        """Ask the rescue for the solution of the solver that failed, and run again."""
        for _ in range(len(self.shape.solvers) + 1):
            if status >= INPUT:
                raise self.input_error(status - INPUT)
            if status >= CHECK:
                raise self.source.describe_check(status - CHECK, context.inputs)
            k = status // SOLVER - 1
            bound = self.shape.solvers[k]
            rec = bound.solver.record
            flat = np.concatenate(context.inputs)
            p = flat[list(bound.parameters)]
            if self._rescue is None:
                raise RuntimeError(f"{self.source.name}: solver {k} failed, code {status % SOLVER}")
            x = self._rescue(k, p, context.inputs[0].copy())
            record = context.records[k]
            record[rec.p0 : rec.p0 + rec.n_p] = p
            record[rec.x0 : rec.x0 + rec.n_x] = x
            record[rec.slope : rec.size] = 0.0
            status = self._single(context.pointer)
            if not status:
                return
        raise RuntimeError(f"{self.source.name}: status {status} after rescue")

    def input_error(self, position: int) -> InvalidInput:
        """The exception for a non-finite or huge element of the input block."""
        which = int(np.searchsorted(self._offsets, position, side="right")) - 1
        element = position - int(self._offsets[which])
        return InvalidInput(
            f"{self.source.name}: {self.source.input_names[which]}[{element}] is not a finite "
            f"number below {MAX_ANGLE:g} in magnitude"
        )

    def batch(self, *values: Array) -> Array:
        """Evaluate N samples, each argument (N, size); returns (N, output size)."""
        self.prepare_batch()
        shape, _, function = self._batch
        block = np.ascontiguousarray(np.concatenate(values, axis=1))
        with np.errstate(invalid="ignore"):
            fine = np.abs(block) <= MAX_ANGLE
        if not fine.all():
            sample, position = np.argwhere(~fine)[0]
            raise InvalidInput(f"sample {sample}: {self.input_error(int(position))}")
        count = len(block)
        out = np.empty((count, shape.n_user_out))
        status = np.empty(count, dtype=np.int64)
        if count == 0:
            return out
        context = self._context()
        if context.lanes is None:
            layout = Layout(shape, records=False)
            context.lanes = aligned_zeros(layout.size * native.simd_lanes())
        function(
            block.ctypes.data,
            out.ctypes.data,
            status.ctypes.data,
            count,
            context.memory.ctypes.data,
            context.lanes.ctypes.data,
        )
        for sample in np.flatnonzero(status):
            parts = [v[sample] for v in values]
            try:
                out[sample] = self(*parts)
            except Exception as error:
                if hasattr(error, "sample"):
                    error.sample = int(sample)
                raise
        return out


def _fill_record(record: Array, rec: Any, seeds: Seeds) -> None:
    """Write the table's description, the signs and the reference solution."""
    has_table = bool(np.all(seeds.count > 0)) and seeds.nodes.size > 0
    record[rec.has_table] = float(has_table)
    record.view(np.int64)[rec.table] = seeds.nodes.ctypes.data if has_table else 0
    n = rec.n_p
    record[rec.low : rec.low + n] = seeds.low
    record[rec.step : rec.step + n] = seeds.step
    record[rec.inverse_step : rec.inverse_step + n] = 1.0 / seeds.step
    record[rec.last_index : rec.last_index + n] = np.maximum(seeds.count - 1, 0)
    strides = np.concatenate([np.cumprod(seeds.count[::-1])[::-1][1:], [1]]) if n else []
    record[rec.stride : rec.stride + n] = strides
    record[rec.sign : rec.sign + rec.n_sign] = seeds.sign
    p0, x0, slope = seeds.reference
    record[rec.p0 : rec.p0 + n] = p0
    record[rec.x0 : rec.x0 + rec.n_x] = x0
    record[rec.slope : rec.size] = np.ravel(slope)
