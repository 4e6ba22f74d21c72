"""Programs that run as machine code: compile or fetch from the cache, link, call."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from . import array_call, cache, native
from .contexts import Context, aligned_zeros
from .instructions import instruction_list
from .layout import BoundSolver, ProgramShape
from .llvm_ir import LlvmModule
from .program import Program
from .program_ir import emit_batch, emit_single
from .progress import compiling
from .solver_unit import SolverUnit
from .straight_line import emit_straight_line
from .symbolic import tracing

_BODY, _RUN, _CALL = "cld_body", "cld_run", "cld_call"
_SINGLE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_BATCH = ctypes.CFUNCTYPE(
    ctypes.c_int64, *[ctypes.c_void_p] * 3, ctypes.c_int64, *[ctypes.c_void_p] * 2
)
#: Where an array of ours begins: in a third of the time of its ``ctypes.data``.
_PLACE: Any = ctypes.c_char * 0


@dataclass(frozen=True)
class _Compiled:
    """A program for one lane width; ``code`` keeps the machine code in place."""

    width: int
    shape: ProgramShape
    code: native.LoadedCode
    run: Any


class NativeProgram(Program):
    """A program compiled by LLVM; the SIMD version for batches at its first use."""

    def _prepare(self, key: str, unit: SolverUnit) -> None:
        source = self.source
        sizes = source.input_sizes, source.output_size, source.solvers
        self._key = cache.key_of("program", source.name, key, unit.key, *sizes)
        self._unit = unit
        self._lock = threading.Lock()
        self._wide: _Compiled | None = None
        self._scalar = self._load(1)
        self.shape = self._scalar.shape
        self._call = self._scalar.code.address(_CALL) if array_call.supported() else 0

    # -- compiling ------------------------------------------------------------------------------

    def _load(self, width: int) -> _Compiled:
        bound = self._unit.bind(self.source.solvers, width)
        how = array_call.DESCRIPTION if array_call.supported() else ""
        level = native.QUICK if self.source.seldom and width == 1 else native.USUAL
        key = native.key_of(self._key, width, how, level)
        metadata, machine_code = cache.get_or_make(key, lambda: self._make(width, bound, level))
        shape = self._shape(bound, metadata["checks"], metadata["workspace"])
        code = native.LoadedCode(machine_code)
        prototype = _SINGLE if width == 1 else _BATCH
        return _Compiled(width, shape, code, prototype(code.address(_RUN)))

    def _make(
        self, width: int, bound: list[BoundSolver], level: int
    ) -> tuple[dict[str, Any], bytes]:
        with compiling(self.source.name, batch=width > 1):
            with tracing():
                body = instruction_list(self.source.build())
            module = LlvmModule()
            workspace = emit_straight_line(module, body, _BODY, width)
            shape = self._traced_shape(bound, body.input_sizes, body.output_sizes, workspace)
            if width > 1:
                emit_batch(module, shape, _RUN, _BODY, width)
            else:
                emit_single(module, shape, _RUN, _BODY)
                if array_call.supported():
                    array_call.emit_array_call(module, shape, _CALL, _RUN)
            code = native.compile_ir(module.text(), level)
        return {"checks": shape.n_checks, "workspace": workspace}, code

    def prepare_batch(self) -> None:
        """Compile the SIMD version now instead of at the first batch call."""
        if self._wide is None:
            with self._lock:
                self._wide = self._wide or self._load(native.simd_lanes())

    def run_address(self) -> int:
        """Address of ``i64 run(ptr memory)``, good while this program lives."""
        return self._scalar.code.address(_RUN)

    # -- running --------------------------------------------------------------------------------

    def _attach(self, context: Context) -> None:
        _write_addresses(context.memory, self._scalar)
        context.handle = ctypes.c_void_p(context.memory.ctypes.data)
        if self._call:
            keep = (self._scalar.code, self._unit)
            # Weak: what the function lives on is its code and its memory.
            alive, here = weakref.ref(self), weakref.ref(context)

            def otherwise(status: int | None, values: tuple[Any, ...]) -> Array:
                program, own = alive(), here()
                if program is None:
                    raise ReferenceError("the robot that this function belongs to is gone")
                if status is None or own is None:
                    return program(*values)
                return program.otherwise(own, status, values)

            context.call = array_call.bind(context.memory, self.shape, self._call, keep, otherwise)
        else:
            context.call = self._copying_call(context)

    def _single(self, handle: Any) -> int:
        return int(self._scalar.run(handle))

    def _grain(self, rows: int) -> int:
        self.prepare_batch()
        assert self._wide is not None
        return self._wide.width

    def _run_batch(
        self, context: Context, values: Sequence[Array], out: Array, status: NDArray[np.int64]
    ) -> None:
        # The context may be another thread's: its seeds are read, and nothing is written there.
        self.prepare_batch()
        assert self._wide is not None
        wide, width, own = self._wide, self._wide.width, self.context()
        if own.lanes is None:
            own.lanes = aligned_zeros(wide.shape.lane_layout.size * width)
            _write_addresses(own.lanes, wide)
        places = np.array(
            [(v.__array_interface__["data"][0], v.strides[0] // v.itemsize) for v in values]
        )
        rows = map(_PLACE.from_buffer, (places, out, status))
        wide.run(*rows, len(out), context.handle, _PLACE.from_buffer(own.lanes))
        lane = (len(out) - 1) % width
        for at, last in zip(wide.shape.lane_layout.status, own.statuses, strict=True):
            integers = own.lanes[at * width : (at + 2) * width].view(np.int64)
            last[:] = integers[lane], integers[width + lane]


def _write_addresses(memory: Array, compiled: _Compiled) -> None:
    """Tell the code that will run in ``memory`` where its solvers are."""
    shape, width = compiled.shape, compiled.width
    layout = shape.layout if width == 1 else shape.lane_layout
    integers = memory.view(np.int64)
    for at, bound in zip(layout.functions, shape.solvers, strict=True):
        start = at * width
        integers[start : start + 2] = bound.seed, bound.newton
