"""Classical Runge-Kutta steps around a program, in one function.

The program maps (y, yd, further inputs) to ydd, closing the loops of every stage itself; here are
the stages, the rates of y (traced: y may hold a quaternion) and the check of every step's result by
a second program, which must close there too. A stage or a result that fails leaves the loop with
the program's status and the last good state, so that the caller can go the long way round.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from . import cache, native
from .code import Function, Module
from .contexts import Context, aligned_zeros
from .instructions import InstructionList, instruction_list
from .layout import ProgramShape
from .llvm_ir import LlvmModule
from .native_program import NativeProgram
from .progress import compiling
from .straight_line import emit_straight_line
from .symbolic import tracing
from .values import Block, Int, Real

#: Status of a run that stopped because a position passed its bounds after a good step.
HALTED = -2
#: Traces (y, yd) -> dy/dt and y -> y brought back onto its manifold, as CasADi functions.
Kinematics = Callable[[], tuple[Any, Any]]
_STEP = "cld_rk4"
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, ctypes.c_int64)


class Rk4Layout:
    """Offsets, in doubles, inside the memory of one integrator.

    Attributes:
        run, accept: addresses of the two programs.
        done: number of good steps, an integer; step: their length.
        z, k, trial: (n_y + m,) state [y; yd], its four rates, the state that is being tried.
        lower, upper: (n_y,) positions between which the run goes on.
    """

    run, accept, done, step = range(4)

    def __init__(self, n_y: int, m: int) -> None:
        n = n_y + m
        self.z = 8
        self.k = [8 + (1 + s) * n for s in range(4)]
        self.trial = 8 + 5 * n
        self.lower = 8 + 6 * n
        self.upper = self.lower + n_y
        self.size = self.upper + n_y


def emit_rk4(
    module: Module,
    symbol: str,
    shapes: tuple[ProgramShape, ProgramShape],
    rate: InstructionList,
    normalised: InstructionList,
) -> None:
    """Write ``int symbol(memory, accept_memory, block, steps)``.

    Multiplications and additions are not fused: with y on a vector space the bits are those of the
    same formula in NumPy.

    Args:
        shapes: of the program and of the one that accepts a position.
        rate, normalised: (y, yd) -> dy/dt, and y -> y brought back onto its manifold.
    """
    for code, name in ((rate, f"{symbol}_rate"), (normalised, f"{symbol}_normalised")):
        if emit_straight_line(module, code, name):
            raise ValueError(f"{code.name} is too long for the integrator")
    kinds = {"memory": Block, "accept_memory": Block, "block": Block, "steps": Int}
    f = module.function(symbol, kinds, returns=Int)
    memory, accept_memory, block, steps = f.arguments
    n_y, m = shapes[0].input_sizes[:2]
    at = Rk4Layout(n_y, m)
    state_in, ydd = memory + shapes[0].layout.user_in, memory + shapes[0].layout.body_out
    position_in = accept_memory + shapes[1].layout.user_in
    run, accept = block.of(Block)[at.run], block.of(Block)[at.accept]
    z, k, trial = block + at.z, [block + offset for offset in at.k], block + at.trial
    lower, upper = block + at.lower, block + at.upper
    done = block.of(Int) + at.done
    done[0] = f.integer(0)
    with f.as_written():
        h = block[at.step]
        half, sixth = 0.5 * h, h / 6.0
        with f.loop(steps):
            for s, length in enumerate((None, half, half, h)):
                # k_s = rates at z + length k_{s-1}
                with f.loop(n_y + m) as i:
                    state_in[i] = z[i] if length is None else z[i] + length * k[s - 1][i]
                _call(f, run, memory)
                f.call(f"{symbol}_rate", state_in, k[s], f.nowhere())
                _copy(f, ydd, k[s] + n_y, m)
            with f.loop(n_y + m) as i:
                total = k[0][i] + 2.0 * (k[1][i] + k[2][i]) + k[3][i]
                trial[i] = z[i] + sixth * total
            f.call(f"{symbol}_normalised", trial, position_in, f.nowhere())
            _call(f, accept, accept_memory)
            _copy(f, position_in, z, n_y)
            _copy(f, trial + n_y, z + n_y, m)
            done[0] = done[0] + 1
            with f.loop(n_y) as i:
                f.return_if((z[i] < lower[i]) | (z[i] > upper[i]), HALTED)
    f.finish(0)


def _call(f: Function, program: Block[Real], memory: Block[Real]) -> None:
    """Run a program; its failure is ours."""
    status = f.called(program, Int, memory)
    f.return_if(status.differs(0), status)


def _copy(f: Function, source: Block[Real], target: Block[Real], count: int) -> None:
    with f.loop(count) as i:
        target[i] = source[i]


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
