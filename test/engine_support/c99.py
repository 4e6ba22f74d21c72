"""C99 as a second language for what the engine writes: one lane, every operation rounded."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest

from closed_loop_dynamics.engine.code import Function, Module, Variable
from closed_loop_dynamics.engine.values import Block, Flag, Int, Real, Value

TYPE = {Real: "double", Int: "int64_t", Flag: "bool", Block: "void *"}
INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
INFIX |= {"shift": "<<", "lt": "<", "le": "<=", "gt": ">", "eq": "==", "ne": "!="}
OPERATION = {
    "neg": "-{0}",
    "not": "!{0}",
    "choose": "{0} ? {1} : {2}",
    "apart": "{0} < {1} || {0} > {1}",
    "ordered": "!isnan({0}) && !isnan({1})",
    "truncate": "(int64_t){0}",
    "number": "(double){0}",
    "count": "{0}",
    "everywhere": "{0}",
    "bits": "bits_of({0})",
    "from_bits": "from_bits({0})",
}
PRELUDE = """#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static int64_t bits_of(double x) { int64_t b; memcpy(&b, &x, 8); return b; }
static double from_bits(int64_t b) { double x; memcpy(&x, &b, 8); return x; }
"""


class CModule(Module):
    """A C99 file."""

    def __init__(self) -> None:
        self.functions: list[str] = []

    def function(
        self,
        symbol: str,
        arguments: Mapping[str, type[Value]],
        *,
        lanes: int = 1,
        returns: type[Value] | None = None,
        private: bool = False,
        constant: Collection[str] = (),
    ) -> CFunction:
        assert lanes == 1, "C has no lanes"
        inside = ", ".join(f"{TYPE[kind]} a_{name}" for name, kind in arguments.items())
        result = "void" if returns is None else TYPE[returns]
        head = f"{'static ' if private else ''}{result} {symbol}({inside})"
        return CFunction(self, head, arguments)

    def external(
        self, symbol: str, arguments: Collection[type[Value]], returns: type[Value]
    ) -> None:
        inside = ", ".join(TYPE[kind] for kind in arguments)
        self.functions.append(f"extern {TYPE[returns]} {symbol}({inside});")

    def text(self) -> str:
        return "\n\n".join([PRELUDE, *self.functions]) + "\n"


class CFunction(Function):
    """One function of a C99 file."""

    def __init__(self, module: CModule, head: str, arguments: Mapping[str, type[Value]]) -> None:
        super().__init__(1)
        self._module, self._lines = module, [head, "{"]
        self._next = 0
        self._loops: list[list[str]] = []
        self.arguments = tuple(kind(self, f"a_{name}") for name, kind in arguments.items())

    def _name(self, stem: str) -> str:
        self._next += 1
        return f"{stem}{self._next}"

    def _result(self, kind: type[Value], text: str) -> str:
        name = self._name("t")
        self._lines.append(f"{TYPE[kind]} const {name} = {text};")
        return name

    def constant(self, kind: type[Value], lanes: int, number: float) -> str:
        if kind is Real:
            return "NAN" if math.isnan(number) else f"({float(number).hex()})"
        return "NULL" if kind is Block else f"({int(number)})"

    def operation(self, name: str, kind: type[Value], lanes: int, *operands: Value) -> str:
        names = [operand.name for operand in operands]
        if name in INFIX:
            if isinstance(operands[0], Int):
                names = [f"(uint64_t){operand}" for operand in names]
            return self._result(kind, f"{names[0]} {INFIX[name]} {names[1]}")
        if name in OPERATION:
            return self._result(kind, OPERATION[name].format(*names))
        return self._result(kind, f"{name}({', '.join(names)})")

    def _element(self, block: Block[Any], index: Int | int) -> str:
        place = index.name if isinstance(index, Int) else index
        return f"(({TYPE[block.element]} *){block.name})[{place}]"

    def load(self, block: Block[Any], index: Int | int) -> str:
        return self._result(block.element, self._element(block, index))

    def store(self, value: Value, block: Block[Any], index: Int | int) -> None:
        self._lines.append(f"{self._element(block, index)} = {value.name};")

    def moved(self, block: Block[Any], index: Int | int) -> str:
        return self._result(Block, f"&{self._element(block, index)}")

    def return_if(self, flag: Flag, value: Int | int) -> None:
        result = value.name if isinstance(value, Int) else value
        self._lines.append(f"if ({flag.name}) return {result};")

    def call(self, function: str | Block[Any], *arguments: Value) -> None:
        self._lines.append(f"{self._call('void', function, arguments)};")

    def called(self, function: str | Block[Any], kind: type[Any], *arguments: Value) -> Any:
        return kind(self, self._result(kind, self._call(TYPE[kind], function, arguments)))

    def _call(self, result: str, function: str | Block[Any], arguments: tuple[Value, ...]) -> str:
        inside = ", ".join(value.name for value in arguments)
        if isinstance(function, str):
            return f"{function}({inside})"
        kinds = ", ".join(TYPE[type(value)] for value in arguments)
        return f"(({result} (*)({kinds}))(uintptr_t){function.name})({inside})"

    def finish(self, value: Value | int | None = None) -> None:
        if value is not None:
            self._lines.append(f"return {value.name if isinstance(value, Value) else value};")
        self._module.functions.append("\n".join([*self._lines, "}"]))

    def _open_loop(self, variables: Collection[Variable[Any]]) -> Int:
        values = [Int(self, "0"), *(variable.value for variable in variables)]
        names = [self._name("v") for _ in values]
        for name, value in zip(names, values, strict=True):
            self._lines.append(f"{TYPE[type(value)]} {name} = {value.name};")
        self._loops.append(names)
        self._lines.append("for (;;) {")
        index, *inside = (
            value.renamed(self._result(type(value), name))
            for name, value in zip(names, values, strict=True)
        )
        for variable, value in zip(variables, inside, strict=True):
            variable.value = value
        return index

    def _close_loop(
        self,
        following: Int,
        count: Int | int,
        variables: Collection[Variable[Any]],
        condition: Flag | None,
    ) -> None:
        more = following < count
        names = self._loops.pop()
        values = [following, *(variable.value for variable in variables)]
        self._lines += [f"{n} = {v.name};" for n, v in zip(names, values, strict=True)]
        again = more.name if condition is None else f"{more.name} && {condition.name}"
        self._lines += [f"if (!({again})) break;", "}"]
        for variable, name in zip(variables, names[1:], strict=True):
            variable.value = variable.value.renamed(name)


def compile_c(text: str, folder: Path) -> ctypes.CDLL:
    """The file as a library of this process; skips where there is no compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler: apt install gcc")
    (folder / "code.c").write_text(text)
    flags = ["-std=c99", "-pedantic-errors", "-O1", "-ffp-contract=off", "-fno-strict-aliasing"]
    command = [compiler, *flags, "-fPIC", "-shared", "code.c", "-o", "code.so", "-lm"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return ctypes.CDLL(str(folder / "code.so"))
