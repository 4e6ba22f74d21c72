"""From a traced CasADi function to our own instruction list.

CasADi's virtual machine reuses registers; here every value gets a number of its own (static single
assignment), equal computations are merged, and what no output needs is dropped. The back-ends
(:mod:`.llvm_ir`, and the CasADi VM in :mod:`.vm`) know nothing of robots; this is all they see.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

UNARY = {
    "OP_NEG": "neg",
    "OP_SQRT": "sqrt",
    "OP_SIN": "sin",
    "OP_COS": "cos",
    "OP_TAN": "tan",
    "OP_ASIN": "asin",
    "OP_ACOS": "acos",
    "OP_ATAN": "atan",
    "OP_EXP": "exp",
    "OP_LOG": "log",
    "OP_SINH": "sinh",
    "OP_COSH": "cosh",
    "OP_TANH": "tanh",
    "OP_FABS": "fabs",
    "OP_SIGN": "sign",
    "OP_NOT": "not",
    "OP_FLOOR": "floor",
    "OP_CEIL": "ceil",
}
BINARY = {
    "OP_ADD": "add",
    "OP_SUB": "sub",
    "OP_MUL": "mul",
    "OP_DIV": "div",
    "OP_FMIN": "fmin",
    "OP_FMAX": "fmax",
    "OP_LT": "lt",
    "OP_LE": "le",
    "OP_EQ": "eq",
    "OP_NE": "ne",
    "OP_AND": "and",
    "OP_OR": "or",
    "OP_IF_ELSE_ZERO": "if_else_zero",
    "OP_ATAN2": "atan2",
    "OP_POW": "pow",
    "OP_CONSTPOW": "pow",
    "OP_COPYSIGN": "copysign",
    "OP_HYPOT": "hypot",
}
COMMUTATIVE = frozenset({"add", "mul", "fmin", "fmax", "eq", "ne", "and", "or"})

#: An operation: (name, operand, operand); operands are value numbers, -1 when unused. For
#: ``("input", slot, -1)`` the operand is the position in the concatenated inputs.
Operation = tuple[str, int, int]


@dataclass(frozen=True)
class InstructionList:
    """A straight-line numeric function of one input block and one output block.

    Attributes:
        name: for messages.
        operations: in execution order; operation ``i`` defines value ``i``.
        constants: value number -> number, for operations named ``"const"``.
        outputs: value number of every element of the concatenated outputs.
        input_sizes, output_sizes: lengths of the vectors that make up the blocks.
    """

    name: str
    operations: tuple[Operation, ...]
    constants: dict[int, float]
    outputs: tuple[int, ...]
    input_sizes: tuple[int, ...]
    output_sizes: tuple[int, ...]

    @property
    def n_in(self) -> int:
        """Length of the input block."""
        return sum(self.input_sizes)

    @property
    def n_out(self) -> int:
        """Length of the output block."""
        return sum(self.output_sizes)

    def count(self, *names: str) -> int:
        """How many operations of the given names there are (of all, without arguments)."""
        if not names:
            return sum(op[0] not in ("input", "const") for op in self.operations)
        return sum(op[0] in names for op in self.operations)

    def digest(self) -> str:
        """Content hash: equal digests compile to equal code."""
        h = hashlib.sha256()
        h.update(repr((self.operations, self.outputs, self.input_sizes)).encode())
        h.update(np.array([*self.constants.keys(), *self.constants.values()]).tobytes())
        return h.hexdigest()


class _Builder:
    """Appends operations, merging equal ones and folding the few shapes CasADi leaves."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.constants: dict[int, float] = {}
        self._seen: dict[Any, int] = {}

    def add(self, name: str, a: int = -1, b: int = -1) -> int:
        if name in COMMUTATIVE and b < a:
            a, b = b, a
        if name in ("add", "sub", "mul"):
            a_op, b_op = self.operations[a], self.operations[b]
            if name == "add" and b_op[0] == "neg":
                return self.add("sub", a, b_op[1])
            if name == "add" and a_op[0] == "neg":
                return self.add("sub", b, a_op[1])
            if name == "sub" and b_op[0] == "neg":
                return self.add("add", a, b_op[1])
            if name == "mul" and a_op[0] == "neg" and b_op[0] == "neg":
                return self.add("mul", a_op[1], b_op[1])
            if name == "mul" and a_op[0] == "neg":
                return self.add("neg", self.add("mul", a_op[1], b))
            if name == "mul" and b_op[0] == "neg":
                return self.add("neg", self.add("mul", a, b_op[1]))
            if name == "mul":
                for const, other in ((a, b), (b, a)):
                    if self.constants.get(const) == -1.0:
                        return self.add("neg", other)
                    if self.constants.get(const, 0.0) < 0.0:
                        positive = self.constant(-self.constants[const])
                        return self.add("neg", self.add("mul", positive, other))
        if name in ("sin", "cos"):
            expanded = self._trigonometry_of_arc_tangent(name, a)
            if expanded is not None:
                return expanded
        if name == "neg":
            op = self.operations[a]
            if op[0] == "neg":
                return op[1]
            if op[0] == "sub":
                return self.add("sub", op[2], op[1])
            if op[0] == "const":
                return self.constant(-self.constants[a])
        return self._append((name, a, b), (name, a, b))

    def _trigonometry_of_arc_tangent(self, name: str, angle: int) -> int | None:
        """sin and cos of atan2(y, x), or of that shifted by a constant, without any angle.

        Closed-form closures give angles as arc tangents; the dynamics need only their sine and
        cosine, so that the arc tangents themselves drop out as dead code.
        """
        kind, a, b = self.operations[angle]
        if kind == "neg":
            inner = self._trigonometry_of_arc_tangent(name, a)
            return inner if inner is None or name == "cos" else self.add("neg", inner)
        shift = 0.0
        if kind in ("add", "sub"):
            constant, other = (a, b) if a in self.constants else (b, a)
            if constant not in self.constants:
                return None
            # constant + other, other - constant, or constant - other
            if kind == "sub" and constant == a:
                inner = self.add("sub", other, constant)
                mirrored = self._trigonometry_of_arc_tangent(name, inner)
                if mirrored is None or name == "cos":
                    return mirrored
                return self.add("neg", mirrored)
            shift = self.constants[constant] * (1.0 if kind == "add" else -1.0)
            kind, a, b = self.operations[other]
        if kind != "atan2":
            return None
        squares = self.add("add", self.add("mul", a, a), self.add("mul", b, b))
        inverse = self.add("div", self.constant(1.0), self.add("sqrt", squares))
        sine, cosine = self.add("mul", a, inverse), self.add("mul", b, inverse)
        if shift == 0.0:
            return sine if name == "sin" else cosine
        s, c = self.constant(math.sin(shift)), self.constant(math.cos(shift))
        if name == "sin":
            return self.add("add", self.add("mul", sine, c), self.add("mul", cosine, s))
        return self.add("sub", self.add("mul", cosine, c), self.add("mul", sine, s))

    def constant(self, value: float) -> int:
        index = self._append(("const", -1, -1), ("const", float(value).hex()))
        self.constants[index] = float(value)
        return index

    def _append(self, operation: Operation, key: Any) -> int:
        index = self._seen.get(key)
        if index is None:
            index = len(self.operations)
            self.operations.append(operation)
            self._seen[key] = index
        return index


def block_sizes(function: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Lengths of the inputs and of the outputs of a CasADi function; all must be dense."""
    for i in range(function.n_in()):
        if function.nnz_in(i) != function.numel_in(i):
            raise ValueError(f"{function.name()}: input {i} is sparse")
    for i in range(function.n_out()):
        if function.nnz_out(i) != function.numel_out(i):
            raise ValueError(f"{function.name()}: output {i} is sparse; densify it before tracing")
    return (
        tuple(function.numel_in(i) for i in range(function.n_in())),
        tuple(function.numel_out(i) for i in range(function.n_out())),
    )


def instruction_list(function: Any) -> InstructionList:
    """Convert a CasADi ``Function`` over SX with dense inputs and outputs."""
    import casadi as ca

    names = {getattr(ca, key): value for key, value in (UNARY | BINARY).items()}
    input_sizes, output_sizes = block_sizes(function)
    in_offset = np.concatenate([[0], np.cumsum(input_sizes)]).astype(int)
    out_offset = np.concatenate([[0], np.cumsum(output_sizes)]).astype(int)

    build = _Builder()
    register: dict[int, int] = {}
    outputs = [-1] * int(out_offset[-1])
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        arguments = function.instruction_input(k)
        targets = function.instruction_output(k)
        if code == ca.OP_INPUT:
            register[targets[0]] = build.add("input", int(in_offset[arguments[0]] + arguments[1]))
        elif code == ca.OP_CONST:
            register[targets[0]] = build.constant(function.instruction_constant(k))
        elif code == ca.OP_OUTPUT:
            outputs[int(out_offset[targets[0]]) + targets[1]] = register[arguments[0]]
        else:
            register[targets[0]] = _operation(build, ca, code, names, register, arguments)
    operations, constants, live_outputs = _drop_dead(build, outputs)
    return InstructionList(
        function.name(), operations, constants, live_outputs, input_sizes, output_sizes
    )


def _operation(
    build: _Builder, ca: Any, code: int, names: dict[int, str], register: Any, arguments: Any
) -> int:
    a = register[arguments[0]]
    if code == ca.OP_SQ:
        return build.add("mul", a, a)
    if code == ca.OP_TWICE:
        return build.add("add", a, a)
    if code == ca.OP_INV:
        return build.add("div", build.constant(1.0), a)
    if code == ca.OP_ASSIGN:
        return int(a)
    if code not in names:
        raise NotImplementedError(f"CasADi operation {code} has no native counterpart")
    b = register[arguments[1]] if len(arguments) > 1 else -1
    return build.add(names[code], a, b)


def _drop_dead(
    build: _Builder, outputs: Sequence[int]
) -> tuple[tuple[Operation, ...], dict[int, float], tuple[int, ...]]:
    live = [False] * len(build.operations)
    for value in outputs:
        live[value] = True
    for index in range(len(live) - 1, -1, -1):
        if live[index]:
            name, a, b = build.operations[index]
            if name not in ("input", "const"):
                live[a] = True
                if b >= 0:
                    live[b] = True
    number = np.cumsum(live) - 1
    operations: list[Operation] = []
    constants: dict[int, float] = {}
    for index, (name, a, b) in enumerate(build.operations):
        if not live[index]:
            continue
        if name == "const":
            constants[len(operations)] = build.constants[index]
            operations.append((name, -1, -1))
        elif name == "input":
            operations.append((name, a, -1))
        else:
            operations.append((name, int(number[a]), int(number[b]) if b >= 0 else -1))
    return tuple(operations), constants, tuple(int(number[v]) for v in outputs)
