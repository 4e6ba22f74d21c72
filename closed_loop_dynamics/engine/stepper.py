"""Runge-Kutta steps (:mod:`.rk4`) as machine code, around compiled programs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from . import cache, native
from .contexts import Context, aligned_zeros
from .instructions import instruction_list
from .layout import ProgramShape
from .llvm_ir import LlvmModule
from .native_program import NativeProgram
from .progress import compiling
from .rk4 import Rk4Layout, emit_rk4
from .symbolic import tracing

_STEP = "cld_rk4"
_PROTOTYPE = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
)
#: Traces (y, yd) -> dy/dt and y -> y brought back onto its manifold, as CasADi functions.
Kinematics = Callable[[], tuple[Any, Any]]


class NativeRk4:
    """Steps of one robot in memory of its own: for one thread.

    Attributes:
        z: (n_y + m,) the state [y; yd]; :meth:`run` advances it in place.
        lower, upper: (n_y,) positions between which the run goes on.
    """

    def __init__(
        self,
        program: NativeProgram,
        context: Context,
        accept: NativeProgram,
        accept_context: Context,
        kinematics: Kinematics,
        key: str,
    ) -> None:
        n_y, m = program.source.input_sizes[:2]
        at = Rk4Layout(n_y, m)
        shapes = program.shape, accept.shape
        self._code = native.LoadedCode(_machine_code(shapes, kinematics, key))
        self._run = _PROTOTYPE(self._code.address(_STEP))
        self._keep = program, context, accept, accept_context
        self._memory = aligned_zeros(at.size)
        integers = self._memory.view(np.int64)
        integers[[at.run, at.accept]] = program.run_address(), accept.run_address()
        self._done = integers[at.done : at.done + 1]
        self._step = self._memory[at.step : at.step + 1]
        self.z = self._memory[at.z : at.z + n_y + m]
        self.lower, self.upper = (self._memory[a : a + n_y] for a in (at.lower, at.upper))
        self.lower[:], self.upper[:] = -np.inf, np.inf
        blocks = (context.memory, accept_context.memory, self._memory)
        self._pointers = tuple(ctypes.c_void_p(block.ctypes.data) for block in blocks)

    def run(self, h: float, steps: int) -> tuple[int, int]:
        """Up to ``steps`` steps of length ``h``; status (0: all) and number of good steps.

        The program's other inputs lie in its context already.
        """
        self._step[0] = h
        status = int(self._run(*self._pointers, steps))
        return status, int(self._done[0])


def _machine_code(
    shapes: tuple[ProgramShape, ProgramShape], kinematics: Kinematics, key: str
) -> bytes:
    def make() -> tuple[dict[str, Any], bytes]:
        with compiling("Runge-Kutta integrator"):
            with tracing():
                rate, normalised = (instruction_list(function) for function in kinematics())
            module = LlvmModule()
            emit_rk4(module, _STEP, shapes, rate, normalised)
            return {}, native.compile_ir(module.text())

    places = [(s.layout.user_in, s.layout.body_out) for s in shapes]
    return cache.get_or_make(native.key_of("rk4", key, shapes[0].input_sizes[:2], places), make)[1]
