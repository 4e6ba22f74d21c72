"""From a traced CasADi function to our own instruction list.

CasADi's virtual machine reuses registers; here every value gets a number of its own (static single
assignment), equal computations are merged (:mod:`.folding`), and what no output needs is dropped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .folding import Builder, Operation

#: CasADi calls them OP_NEG and so on.
UNARY = {"neg", "sqrt", "exp", "log", "fabs", "sign", "not", "floor", "ceil"}
UNARY |= {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"}
BINARY = {"add", "sub", "mul", "div", "fmin", "fmax", "pow", "atan2", "copysign", "hypot"}
BINARY |= {"lt", "le", "eq", "ne", "and", "or", "if_else_zero"}


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


def block_sizes(function: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Lengths of the inputs and of the outputs of a CasADi function; all must be dense."""
    inputs, outputs = range(function.n_in()), range(function.n_out())
    for i in inputs:
        if function.nnz_in(i) != function.numel_in(i):
            raise ValueError(f"{function.name()}: input {i} is sparse")
    for i in outputs:
        if function.nnz_out(i) != function.numel_out(i):
            raise ValueError(f"{function.name()}: output {i} is sparse; densify it before tracing")
    return tuple(map(function.numel_in, inputs)), tuple(map(function.numel_out, outputs))


def instruction_list(function: Any) -> InstructionList:
    """Convert a CasADi ``Function`` over SX with dense inputs and outputs."""
    import casadi as ca

    names = {getattr(ca, f"OP_{name.upper()}"): name for name in UNARY | BINARY}
    names[ca.OP_CONSTPOW] = "pow"
    input_sizes, output_sizes = block_sizes(function)
    in_offset, out_offset = (np.cumsum([0, *sizes]) for sizes in (input_sizes, output_sizes))

    build = Builder()
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
    build: Builder, ca: Any, code: int, names: dict[int, str], register: Any, arguments: Any
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
    build: Builder, outputs: Sequence[int]
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
