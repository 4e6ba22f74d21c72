"""Functions in LLVM IR, as text.

A value of one lane is a ``double``, ``i64`` or ``i1``, one of L lanes a vector of L of them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Mapping
from typing import Any

from .code import Function, Module, Variable
from .values import Block, Flag, Int, Real, V, Value

_TYPE = {Real: "double", Int: "i64", Flag: "i1", Block: "ptr"}
_ARITHMETIC = frozenset({"add", "sub", "mul", "div"})
_INTEGER = {name: name for name in ("add", "sub", "mul", "and", "or", "xor")}
_INTEGER |= {"div": "udiv", "shift": "shl"}
_RELATION: dict[tuple[type[Value], str], str] = {
    (Real, "lt"): "fcmp olt",
    (Real, "le"): "fcmp ole",
    (Real, "gt"): "fcmp ogt",
    (Real, "eq"): "fcmp oeq",
    (Real, "ne"): "fcmp une",
    (Real, "apart"): "fcmp one",
    (Real, "ordered"): "fcmp ord",
    (Int, "lt"): "icmp ult",
    (Int, "eq"): "icmp eq",
    (Int, "ne"): "icmp ne",
}
_CONVERSION = {
    "truncate": "fptosi",
    "number": "sitofp",
    "count": "zext",
    "bits": "bitcast",
    "from_bits": "bitcast",
    "address": "inttoptr",
}
_INTRINSIC = {name: name for name in ("fma", "sqrt", "fabs", "floor", "ceil", "copysign")}
_INTRINSIC |= {"fmin": "minnum", "fmax": "maxnum"}
_LIBM = {"tan", "asin", "acos", "atan", "exp", "log", "sinh", "cosh", "tanh"}
_LIBM |= {"atan2", "pow", "hypot"}
#: Functions that compiled code may call: by name above, or because a CPU has no instruction for it.
LIBM_NAMES = (*_LIBM, "fma", "fmin", "fmax", "floor", "ceil")

#: Functions that the compiler calls by itself are called through the table too.
_FLAGS = '!llvm.module.flags = !{!0}\n!0 = !{i32 7, !"RtLibUseGOT", i32 1}\n'


def literal(value: float) -> str:
    """A double as LLVM spells it exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _type(kind: type[Value], lanes: int) -> str:
    return _TYPE[kind] if lanes == 1 else f"<{lanes} x {_TYPE[kind]}>"


def _typed(value: Value) -> str:
    return f"{_type(type(value), value.lanes)} {value.name}"


class LlvmModule(Module):
    """A module of LLVM IR; declares what its functions use."""

    def __init__(self) -> None:
        self._functions: list[str] = []
        self._declarations: dict[str, None] = {}

    def function(
        self,
        symbol: str,
        arguments: Mapping[str, type[Value]],
        *,
        lanes: int = 1,
        returns: type[Value] | None = None,
        private: bool = False,
        constant: Collection[str] = (),
    ) -> LlvmFunction:
        inside = []
        for name, kind in arguments.items():
            alone = " noalias" if private and kind is Block else ""
            read = " readonly" if name in constant else ""
            inside.append(f"{_type(kind, 1)}{alone}{read} %{name}")
        result = "void" if returns is None else _type(returns, 1)
        head = f"define {'internal ' if private else ''}{result} @{symbol}({', '.join(inside)})"
        return LlvmFunction(self, head + (" noinline" if private else ""), arguments, lanes)

    def external(
        self, symbol: str, arguments: Collection[type[Value]], returns: type[Value]
    ) -> None:
        self.declare(_type(returns, 1), f"@{symbol}", [_type(kind, 1) for kind in arguments])

    def declare(self, result: str, symbol: str, arguments: Collection[str]) -> None:
        """Say once what a function of another module looks like."""
        # Calls go through a table of addresses: another module may be anywhere.
        far = "" if symbol.startswith("@llvm.") else " nonlazybind"
        self._declarations[f"declare {result} {symbol}({', '.join(arguments)}){far}"] = None

    def add(self, text: str) -> None:
        """Take in a finished function."""
        self._functions.append(text)

    def text(self) -> str:
        return "\n\n".join(["\n".join(self._declarations), *self._functions, _FLAGS])


class LlvmFunction(Function):
    """One function of a module."""

    def __init__(
        self, module: LlvmModule, head: str, arguments: Mapping[str, type[Value]], lanes: int
    ) -> None:
        super().__init__(lanes)
        self._module = module
        self._lines = [f"{head} {{", "entry:"]
        self._block = "entry"
        self._next = 0
        self._loops: list[tuple[str, str, int, list[tuple[Value, Value]]]] = []
        values: list[Any] = []
        for name, kind in arguments.items():
            value = kind(self, f"%{name}")
            values.append(value.of(Real, lanes) if isinstance(value, Block) else value)
        self.arguments = tuple(values)

    # -- lines ----------------------------------------------------------------------------------

    def _result(self, text: str) -> str:
        self._next += 1
        name = f"%t{self._next}"
        self._lines.append(f"  {name} = {text}")
        return name

    def _label(self, stem: str) -> str:
        self._next += 1
        return f"{stem}{self._next}"

    def _start(self, label: str) -> None:
        self._lines.append(f"{label}:")
        self._block = label

    # -- values ---------------------------------------------------------------------------------

    def constant(self, kind: type[Value], lanes: int, number: float) -> str:
        if kind is Real:
            one = literal(number)
        elif kind is Block:
            one = "null"
        else:
            one = str(number).lower()  # an integer, True or False
        if lanes == 1:
            return one
        return "<" + ", ".join([f"{_TYPE[kind]} {one}"] * lanes) + ">"

    def operation(self, name: str, kind: type[Value], lanes: int, *operands: Value) -> str:
        first = operands[0]
        own = type(first)
        t = _type(own, first.lanes)
        names = ", ".join([operand.name for operand in operands])
        if own is Real and name in _ARITHMETIC:
            return self._result(f"f{name}{' contract' if self.fusing else ''} {t} {names}")
        if (own, name) in _RELATION:
            return self._result(f"{_RELATION[own, name]} {t} {names}")
        if name in _INTRINSIC:
            return self._intrinsic(_INTRINSIC[name], operands)
        if name in _LIBM:
            return self._libm(name, operands)
        if name in _CONVERSION:
            return self._result(f"{_CONVERSION[name]} {t} {names} to {_type(kind, lanes)}")
        if name == "choose":
            return self._result(f"select {', '.join(map(_typed, operands))}")
        if name == "neg":
            return self._result(f"fneg {t} {names}")
        if name == "not":
            return self._result(f"xor {t} {names}, {self.constant(own, lanes, True)}")
        if name == "everywhere":
            return self._everywhere(first, _type(kind, lanes), lanes)
        if name == "any":
            return self._any(t, first)
        if own is not Real and name in _INTEGER:
            return self._result(f"{_INTEGER[name]} {t} {names}")
        raise NotImplementedError(f"no LLVM code for operation '{name}'")

    def _intrinsic(self, name: str, operands: tuple[Value, ...]) -> str:
        lanes = operands[0].lanes
        t = _type(Real, lanes)
        symbol = f"@llvm.{name}.{'f64' if lanes == 1 else f'v{lanes}f64'}"
        self._module.declare(t, symbol, [t] * len(operands))
        return self._result(f"call {t} {symbol}({', '.join(map(_typed, operands))})")

    def _libm(self, name: str, operands: tuple[Value, ...]) -> str:
        """The C library knows one lane."""
        self._module.declare("double", f"@{name}", ["double"] * len(operands))
        lanes = operands[0].lanes
        if lanes == 1:
            return self._result(f"call double @{name}({', '.join(map(_typed, operands))})")
        t, result = _type(Real, lanes), "poison"
        for lane in range(lanes):
            parts = [self._result(f"extractelement {_typed(o)}, i32 {lane}") for o in operands]
            inside = ", ".join(f"double {part}" for part in parts)
            one = self._result(f"call double @{name}({inside})")
            result = self._result(f"insertelement {t} {result}, double {one}, i32 {lane}")
        return result

    def _everywhere(self, value: Value, t: str, lanes: int) -> str:
        if lanes == 1:
            return value.name
        first = self._result(f"insertelement {t} poison, {_typed(value)}, i32 0")
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self._result(f"shufflevector {t} {first}, {t} poison, {zeros}")

    def _any(self, t: str, flag: Value) -> str:
        symbol = f"@llvm.vector.reduce.or.v{flag.lanes}i1"
        self._module.declare("i1", symbol, [t])
        return self._result(f"call i1 {symbol}({_typed(flag)})")

    # -- memory ---------------------------------------------------------------------------------

    def load(self, block: Block[Any], index: Int | int) -> str:
        address = self.moved(block, index)
        t = _type(block.element, block.width)
        return self._result(f"load {t}, ptr {address}, align {_align(block)}")

    def store(self, value: Value, block: Block[Any], index: Int | int) -> None:
        address = self.moved(block, index)
        self._lines.append(f"  store {_typed(value)}, ptr {address}, align {_align(block)}")

    def moved(self, block: Block[Any], index: Int | int) -> str:
        t = _type(block.element, block.width)
        place = index.name if isinstance(index, Int) else index
        return self._result(f"getelementptr inbounds {t}, ptr {block.name}, i64 {place}")

    # -- control --------------------------------------------------------------------------------

    def return_if(self, flag: Flag, value: Int | int | Callable[[], Int]) -> None:
        leave, stay = self._label("leave"), self._label("stay")
        self._lines.append(f"  br i1 {flag.name}, label %{leave}, label %{stay}")
        self._start(leave)
        value = value() if callable(value) else value
        self._lines.append(f"  ret i64 {value.name if isinstance(value, Int) else value}")
        self._start(stay)

    def call(self, function: str | Block[Any], *arguments: Value) -> None:
        self._lines.append(f"  {self._call('void', function, arguments)}")

    def called(self, function: str | Block[Any], kind: type[V], *arguments: Value) -> V:
        return kind(self, self._result(self._call(_type(kind, 1), function, arguments)))

    def _call(self, t: str, function: str | Block[Any], arguments: tuple[Value, ...]) -> str:
        target = f"@{function}" if isinstance(function, str) else function.name
        return f"call {t} {target}({', '.join(map(_typed, arguments))})"

    def finish(self, value: Value | int | None = None) -> None:
        result = "void" if value is None else f"i64 {value}"
        self._lines.append(f"  ret {_typed(value) if isinstance(value, Value) else result}")
        self._lines.append("}")
        self._module.add("\n".join(self._lines))
        self._lines.clear()  # values refer to this object and it to them: leave no text behind

    def _open_loop(self, variables: Collection[Variable[Any]]) -> Int:
        head, before = self._label("head"), self._block
        self._lines.append(f"  br label %{head}")
        self._start(head)
        index = Int(self, f"%{head}_index")
        starts = [Int(self, "0"), *(v.value for v in variables)]
        for number, variable in enumerate(variables):
            variable.value = variable.value.renamed(f"%{head}_{number}")
        carried = [index, *(v.value for v in variables)]
        self._loops.append(
            (head, before, len(self._lines), list(zip(carried, starts, strict=True)))
        )
        return index

    def _close_loop(
        self,
        following: Int,
        count: Int | int,
        variables: Collection[Variable[Any]],
        condition: Flag | None,
    ) -> None:
        head, before, place, carried = self._loops.pop()
        more = following < count
        again = more if condition is None else condition & more
        ends = [following, *(v.value for v in variables)]
        # Only now is it known what the next round begins with.
        self._lines[place:place] = [
            f"  {value.name} = phi {_type(type(value), value.lanes)} "
            f"[ {start.name}, %{before} ], [ {end.name}, %{self._block} ]"
            for (value, start), end in zip(carried, ends, strict=True)
        ]
        tail = self._label("tail")
        self._lines.append(f"  br i1 {again.name}, label %{head}, label %{tail}")
        self._start(tail)


def _align(block: Block[Any]) -> int:
    return block.align or min(64, 8 * block.width)
