"""Instruction list -> straight-line code, for one sample or for lanes of them.

The list is cut into functions of a few thousand instructions: one giant basic block makes the
compiler superlinear and buys no speed. Values that cross a cut go through a workspace.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from .code import Function, Module
from .instructions import InstructionList
from .trigonometry import sincos
from .values import Block, Flag, Real

CHUNK = 3000
_BLOCKS = {"in": Block, "out": Block, "workspace": Block}


def emit_straight_line(module: Module, code: InstructionList, symbol: str, lanes: int = 1) -> int:
    """Write ``symbol(in, out, workspace)``, blocks of reals; returns the workspace's length."""
    chunks = cut(code, CHUNK)
    slot = crossing_values(code, chunks)
    for number, (start, stop) in enumerate(chunks):
        f = module.function(
            f"{symbol}_{number}", _BLOCKS, lanes=lanes, private=True, constant=("in",)
        )
        _Chunk(f, code, slot).write(start, stop)
        f.finish()
    whole = module.function(symbol, _BLOCKS, lanes=lanes)
    for number in range(len(chunks)):
        whole.call(f"{symbol}_{number}", *whole.arguments)
    whole.finish()
    return len(slot)


def cut(code: InstructionList, chunk: int) -> list[tuple[int, int]]:
    """Ranges of operations, each of at most ``chunk``."""
    total = len(code.operations)
    pieces = max(1, -(-total // chunk))
    bounds = [total * i // pieces for i in range(pieces + 1)]
    return list(itertools.pairwise(bounds))


def crossing_values(code: InstructionList, chunks: list[tuple[int, int]]) -> dict[int, int]:
    """Workspace slot of every computed value that is used in a later chunk than its own."""
    chunk_of = [0] * len(code.operations)
    for number, (start, stop) in enumerate(chunks):
        chunk_of[start:stop] = [number] * (stop - start)
    slot: dict[int, int] = {}
    for index, (name, a, b) in enumerate(code.operations):
        if name in ("input", "const"):
            continue
        for operand in (a, b):
            if operand < 0 or code.operations[operand][0] in ("input", "const"):
                continue
            if chunk_of[operand] != chunk_of[index]:
                slot.setdefault(operand, len(slot))
    return slot


class _Chunk:
    """A part of the list, as one function."""

    def __init__(self, f: Function, code: InstructionList, slot: dict[int, int]) -> None:
        self._f, self._code, self._slot = f, code, slot
        self._in, self._out, self._workspace = f.arguments
        self._known: dict[int, Real] = {}
        self._sincos: dict[int, tuple[Real, Real]] = {}
        self._places: dict[int, list[int]] = {}
        for position, value in enumerate(code.outputs):
            self._places.setdefault(value, []).append(position)

    def write(self, start: int, stop: int) -> None:
        """Operations ``start`` to ``stop``."""
        for index in range(start, stop):
            kind, a, b = self._code.operations[index]
            if kind not in ("input", "const"):
                value = self._known[index] = self._result(kind, a, b)
                if index in self._slot:
                    self._workspace[self._slot[index]] = value
            for position in self._places.get(index, ()):
                self._out[position] = self._value(index)

    def _value(self, index: int) -> Real:
        """Of an operation of this chunk or of an earlier one, an input or a constant."""
        value = self._known.get(index)
        if value is None:
            kind, a, _ = self._code.operations[index]
            if kind == "const":
                value = self._f.real(self._code.constants[index])
            elif kind == "input":
                value = self._in[a]
            else:
                value = self._workspace[self._slot[index]]
            self._known[index] = value
        return value

    def _result(self, kind: str, a: int, b: int) -> Real:
        x = self._value(a)
        if kind in ("sin", "cos"):
            if a not in self._sincos:
                self._sincos[a] = sincos(self._f, x)
            return self._sincos[a][kind == "cos"]
        if b < 0:
            return _UNARY[kind](x) if kind in _UNARY else x.apply(kind)
        y = self._value(b)
        return _BINARY[kind](x, y) if kind in _BINARY else x.apply(kind, y)


def _is_true(x: Real) -> Flag:
    return x.differs(0.0)


# What is not simply a function of the same name; truth is 1.0 or 0.0.
_UNARY: dict[str, Callable[[Real], Real]] = {
    "not": lambda x: x.equals(0.0).as_real(),
    "sign": lambda x: x.compare("apart", 0.0).choose(x.like(1.0).apply("copysign", x), x),
}
_BINARY: dict[str, Callable[[Real, Real], Real]] = {
    "lt": lambda x, y: (x < y).as_real(),
    "le": lambda x, y: (x <= y).as_real(),
    "eq": lambda x, y: x.equals(y).as_real(),
    "ne": lambda x, y: x.differs(y).as_real(),
    "and": lambda x, y: (_is_true(x) & _is_true(y)).as_real(),
    "or": lambda x, y: (_is_true(x) | _is_true(y)).as_real(),
    "if_else_zero": lambda x, y: _is_true(x).choose(y, x.like(0.0)),
}
