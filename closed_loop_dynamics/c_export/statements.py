"""The instruction list of a traced function as C: straight lines, cut into small functions.

One statement per value that is used more than once; what is used once is written where it is used.
Rounding is that of the list: parentheses keep the order of operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..engine.instructions import InstructionList
from ..engine.straight_line import crossing_values, cut
from .dialect import MATH, Dialect, comment

#: Instructions per function: small stack frames, quick compilers.
CHUNK = 1000
#: Longest expression that is written into another one.
LONGEST = 60
_SUM, _PRODUCT, _UNARY, _ATOM = range(4)
_INFIX = {"add": ("+", _SUM), "sub": ("-", _SUM), "mul": ("*", _PRODUCT), "div": ("/", _PRODUCT)}
_RELATION = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}


@dataclass(frozen=True)
class Vector:
    """A pointer that a C function takes or gives.

    Attributes:
        name: of the argument; size: its length.
        words: what each element is, for comments.
    """

    name: str
    size: int
    words: Sequence[str] = ()

    def word(self, i: int) -> str:
        """A comment on element ``i``; empty without words."""
        return f"  /* {comment(self.words[i])} */" if i < len(self.words) else ""


@dataclass(frozen=True)
class StraightLine:
    """C functions that have to be called one after the other.

    Attributes:
        functions: their definitions; calls: ``name(arguments);`` with the names of the vectors.
        workspace: reals that ``work`` needs.
        instructions: operations in all of them.
    """

    functions: str
    calls: tuple[str, ...]
    workspace: int
    instructions: int


def straight_line(
    c: Dialect, name: str, code: InstructionList, inputs: Sequence[Vector], out: Vector
) -> StraightLine:
    """C functions ``name_0``, ``name_1`` ... of the vectors they need, ``out`` and ``work``."""
    chunks = cut(code, CHUNK)
    slots = crossing_values(code, chunks)
    writer = _Writer(c, code, slots, inputs, out)
    functions, calls = [], []
    for k, (start, stop) in enumerate(chunks):
        body = writer.chunk(start, stop)
        arguments, names = [], []
        for vector in inputs:
            if vector.name in body.used:
                arguments.append(f"const {c.real} *restrict {vector.name}")
                names.append(vector.name)
        for block in (out.name, "work"):
            if block in body.used:
                arguments.append(f"{c.real} *restrict {block}")
                names.append(block)
        inside = "\n".join(f"    {line}" for line in body.lines)
        head = ", ".join(arguments) or "void"
        functions.append(f"static void {name}_{k}({head})\n{{\n{inside}\n}}\n")
        calls.append(f"{name}_{k}({', '.join(names)});")
    return StraightLine("\n".join(functions), tuple(calls), len(slots), code.count())


@dataclass
class _Body:
    lines: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    known: dict[int, tuple[str, int]] = field(default_factory=dict)  # value -> text, strength


class _Writer:
    def __init__(
        self,
        c: Dialect,
        code: InstructionList,
        slots: dict[int, int],
        inputs: Sequence[Vector],
        out: Vector,
    ) -> None:
        self._c, self._code, self._slots, self._out = c, code, slots, out
        self._elements = [(v, i) for v in inputs for i in range(v.size)]
        self._places: dict[int, list[int]] = {}
        for position, value in enumerate(code.outputs):
            self._places.setdefault(value, []).append(position)
        self._uses = [0] * len(code.operations)
        for kind, a, b in code.operations:
            if kind not in ("input", "const"):
                self._uses[a] += 1
                if b >= 0:
                    self._uses[b] += 1

    def chunk(self, start: int, stop: int) -> _Body:
        """Operations ``start`` to ``stop`` as statements."""
        body = _Body()
        for index in range(start, stop):
            kind, a, b = self._code.operations[index]
            places = self._places.get(index, [])
            if kind not in ("input", "const"):
                text, strength = self._expression(body, kind, a, b)
                kept = self._uses[index] + len(places) > 1 or index in self._slots
                if kept or (not places and len(text) > LONGEST):
                    body.lines.append(f"const {self._c.real} v{index} = {text};")
                    text, strength = f"v{index}", _ATOM
                body.known[index] = text, strength
                if index in self._slots:
                    body.used.add("work")
                    body.lines.append(f"work[{self._slots[index]}] = {text};")
            for place in places:
                body.used.add(self._out.name)
                text = self._operand(body, index)[0]
                note = self._out.word(place)
                body.lines.append(f"{self._out.name}[{place}] = {text};{note}")
        return body

    def _operand(self, body: _Body, index: int) -> tuple[str, int]:
        """A value that is known, of this chunk or from before, with the strength of its text."""
        if index in body.known:
            return body.known[index]
        kind, a, _ = self._code.operations[index]
        if kind == "const":
            text = self._c.literal(self._code.constants[index])
            return text, _UNARY if text.startswith("-") else _ATOM
        if kind == "input":
            vector, i = self._elements[a]
            body.used.add(vector.name)
            text, source, note = f"{vector.name}_{i}", f"{vector.name}[{i}]", vector.word(i)
        else:
            body.used.add("work")
            text, source, note = f"v{index}", f"work[{self._slots[index]}]", ""
        body.lines.append(f"const {self._c.real} {text} = {source};{note}")
        body.known[index] = text, _ATOM
        return body.known[index]

    def _named(self, body: _Body, index: int) -> str:
        """An operand that is written more than once: not a long expression."""
        text, strength = self._operand(body, index)
        if strength != _ATOM:
            body.lines.append(f"const {self._c.real} v{index} = {text};")
            text = f"v{index}"
            body.known[index] = text, _ATOM
        return text

    def _expression(self, body: _Body, kind: str, a: int, b: int) -> tuple[str, int]:
        c, one, zero = self._c, self._c.literal(1.0), self._c.literal(0.0)
        if kind == "sign":  # of nan it is nan
            x = self._named(body, a)
            return f"({x} < {zero} || {x} > {zero} ? {c.function('copysign')}({one}, {x}) : {x})", 3
        x, x_strength = self._operand(body, a)
        if kind == "neg":
            return f"-{_inside(x, x_strength, _UNARY, x.startswith('-'))}", _UNARY
        if kind == "not":
            return f"({c.real})({x} == {zero})", _ATOM
        if b < 0:
            return f"{c.function(_math(kind))}({x})", _ATOM
        y, y_strength = self._operand(body, b)
        if kind in _INFIX:
            sign, strength = _INFIX[kind]
            left = _inside(x, x_strength, strength)
            return f"{left} {sign} {_inside(y, y_strength, strength, True)}", strength
        x, y = _inside(x, x_strength, _ATOM), _inside(y, y_strength, _ATOM)
        if kind in _RELATION:
            return f"({c.real})({x} {_RELATION[kind]} {y})", _ATOM
        if kind in ("and", "or"):
            word = "&&" if kind == "and" else "||"
            return f"({c.real})({x} != {zero} {word} {y} != {zero})", _ATOM
        if kind == "if_else_zero":
            return f"({x} != {zero} ? {y} : {zero})", _ATOM
        return f"{c.function(_math(kind))}({x}, {y})", _ATOM


def _math(kind: str) -> str:
    if kind not in MATH:
        raise NotImplementedError(f"no C code for operation '{kind}'")
    return kind


def _inside(text: str, strength: int, outside: int, tight: bool = False) -> str:
    """``text`` as an operand: in parentheses where C would read it differently."""
    weaker = strength <= outside and strength < _ATOM if tight else strength < outside
    return f"({text})" if weaker else text
