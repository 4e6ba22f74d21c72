"""Building an instruction list: equal operations are merged, and a few shapes are simplified."""

from __future__ import annotations

import math
from typing import Any

#: An operation: (name, operand, operand); operands are value numbers, -1 when unused. For
#: ``("input", slot, -1)`` the operand is the position in the concatenated inputs.
Operation = tuple[str, int, int]
_COMMUTATIVE = frozenset({"add", "mul", "fmin", "fmax", "eq", "ne", "and", "or"})


class Builder:
    """Appends operations, merging equal ones and folding the few shapes CasADi leaves.

    Attributes:
        operations: operation ``i`` defines value ``i``.
        constants: value number -> number.
    """

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.constants: dict[int, float] = {}
        self._seen: dict[Any, int] = {}

    def add(self, name: str, a: int = -1, b: int = -1) -> int:
        """The number of the value ``name(a, b)``."""
        if name in _COMMUTATIVE and b < a:
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
        if name == "div" and self.constants.get(a) != 1.0:
            # Divisors come again, the same pivot for many columns; a division costs ten products.
            return self.add("mul", a, self.add("div", self.constant(1.0), b))
        if name == "div" and self.constants.get(b):
            return self.constant(1.0 / self.constants[b])
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
        """The number of a constant."""
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
