"""Classical Runge-Kutta steps as machine code: a native loop around a compiled program.

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
from .contexts import Context, aligned_zeros
from .emitter import FunctionEmitter, Lanes, declarations, libm_declarations, literal
from .instructions import instruction_list
from .layout import ProgramShape
from .llvm_ir import emit_straight_line
from .native_program import NativeProgram
from .symbolic import tracing

#: Status of a run that stopped because a position passed its bounds after a good step.
HALTED = -2
_STEP, _RATE, _NORMALISED = "cld_rk4", "cld_rate", "cld_normalised"
_PROTOTYPE = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
)
#: Traces (y, yd) -> dy/dt and y -> y brought back onto its manifold, as CasADi functions.
Kinematics = Callable[[], tuple[Any, Any]]


class _Block:
    """Offsets, in doubles, inside the memory of one integrator."""

    run, accept, done, step = range(4)  # two addresses, steps done, step length

    def __init__(self, n_y: int, m: int) -> None:
        n = n_y + m
        self.z = 8
        self.k = [8 + (1 + s) * n for s in range(4)]
        self.trial = 8 + 5 * n
        self.lower = 8 + 6 * n
        self.upper = self.lower + n_y
        self.size = self.upper + n_y


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
        at = _Block(n_y, m)
        shapes = program.shape, accept.shape
        self._code = native.LoadedCode(_machine_code(shapes, at, kinematics, key))
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
    shapes: tuple[ProgramShape, ProgramShape], at: _Block, kinematics: Kinematics, key: str
) -> bytes:
    places = [(s.layout.body_in + s.n_x, s.layout.body_out) for s in shapes]
    sizes = shapes[0].input_sizes[:2]
    unit = native.key_of("rk4", key, sizes, places)
    return cache.get_or_make(
        unit, lambda: ({}, native.compile_ir(_module(shapes, at, kinematics)))
    )[1]


def _module(shapes: tuple[ProgramShape, ProgramShape], at: _Block, kinematics: Kinematics) -> str:
    lanes = Lanes(1)
    with tracing():
        lists = [instruction_list(function) for function in kinematics()]
    texts = [declarations(lanes), libm_declarations()]
    for code, symbol in zip(lists, (_RATE, _NORMALISED), strict=True):
        text, workspace = emit_straight_line(code, symbol, lanes)
        if workspace:
            raise ValueError(f"{code.name} is too long for the integrator")
        texts.append(text)
    return "\n\n".join([*texts, _emit_rk4(*shapes, at)])


def _emit_rk4(shape: ProgramShape, accept: ProgramShape, at: _Block) -> str:
    """IR of ``i64 cld_rk4(ptr memory, ptr accept, ptr block, i64 steps)``.

    Multiplications and additions are not fused: with y on a vector space the bits are those of the
    same formula in NumPy.
    """
    n_y, m = shape.input_sizes[:2]
    f = FunctionEmitter(Lanes(1))
    state_in = f.at("%memory", shape.layout.body_in + shape.n_x, "double")
    accelerations = f.at("%memory", shape.layout.body_out, "double")
    position_in = f.at("%accept", accept.layout.body_in + accept.n_x, "double")
    z, trial, lower, upper = (
        f.at("%block", o, "double") for o in (at.z, at.trial, at.lower, at.upper)
    )
    k = [f.at("%block", offset, "double") for offset in at.k]
    run, check = (
        f.value(f"load ptr, ptr {f.at('%block', o, 'double')}, align 8")
        for o in (at.run, at.accept)
    )
    done = f.at("%block", at.done, "double")
    f.line(f"store i64 0, ptr {done}, align 8")
    h = f.load("%block", at.step)
    half = f.value(f"fmul double {literal(0.5)}, {h}")
    sixth = f.value(f"fdiv double {h}, {literal(6.0)}")

    def element(block: str, i: str) -> str:
        return f.value(f"load double, ptr {f.at(block, i, 'double')}, align 8")

    def put(value: str, block: str, i: str) -> None:
        f.line(f"store double {value}, ptr {f.at(block, i, 'double')}, align 8")

    def copy(source: str, target: str, count: int) -> None:
        f.loop(count, lambda i: put(element(source, i), target, i))

    def add(a: str, b: str) -> str:
        return f.value(f"fadd double {a}, {b}")

    def scaled(factor: str, value: str) -> str:
        return f.value(f"fmul double {factor}, {value}")

    def call(function: str, memory: str) -> None:
        status = f.value(f"call i64 {function}(ptr {memory})")
        f.return_if(f.value(f"icmp ne i64 {status}, 0"), status)

    def stage(s: int, length: str) -> None:
        """k_s = rates at z + length k_{s-1}."""

        def place(i: str) -> None:
            value = element(z, i)
            if s:
                value = add(value, scaled(length, element(k[s - 1], i)))
            put(value, state_in, i)

        f.loop(n_y + m, place)
        call(run, "%memory")
        f.line(f"call void @{_RATE}(ptr {state_in}, ptr {k[s]}, ptr null)")
        copy(accelerations, f.at(k[s], n_y, "double"), m)

    def combine(i: str) -> None:
        middle = scaled(literal(2.0), add(element(k[1], i), element(k[2], i)))
        total = add(add(element(k[0], i), middle), element(k[3], i))
        put(add(element(z, i), scaled(sixth, total)), trial, i)

    def halt_outside(i: str) -> None:
        value = element(z, i)
        below = f.value(f"fcmp olt double {value}, {element(lower, i)}")
        above = f.value(f"fcmp ogt double {value}, {element(upper, i)}")
        f.return_if(f.value(f"or i1 {below}, {above}"), str(HALTED))

    def one_step(_: str) -> None:
        for s, length in enumerate(("", half, half, h)):
            stage(s, length)
        f.loop(n_y + m, combine)
        f.line(f"call void @{_NORMALISED}(ptr {trial}, ptr {position_in}, ptr null)")
        call(check, "%accept")
        copy(position_in, z, n_y)
        copy(f.at(trial, n_y, "double"), f.at(z, n_y, "double"), m)
        count = f.value(f"load i64, ptr {done}, align 8")
        f.line(f"store i64 {f.value(f'add i64 {count}, 1')}, ptr {done}, align 8")
        f.loop(n_y, halt_outside)

    f.loop("%steps", one_step)
    body = "\n".join(f.lines)
    arguments = "ptr %memory, ptr %accept, ptr %block, i64 %steps"
    return f"define i64 @{_STEP}({arguments}) {{\nentry:\n{body}\n  ret i64 0\n}}"
