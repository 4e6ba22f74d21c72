"""Numbers, integers, flags and memory in a function that is being written.

A value stands for what the written function will compute; an operator on values writes the
operation and gives the value of its result. Whatever is written over values (:mod:`.newton`,
:mod:`.program_ir`, :mod:`.rk4`, ...) knows no language: a :class:`Speller` spells the
operations, in LLVM IR (:mod:`.llvm_ir`) or in another.

A value has one or several *lanes*: samples that the same operations compute side by side.
"""

from __future__ import annotations

import abc
from typing import Generic, NoReturn, TypeVar


class Speller(abc.ABC):
    """Spells what values do, in the function they belong to. Results have names."""

    lanes: int

    @abc.abstractmethod
    def constant(self, kind: type[Value], lanes: int, number: float) -> str:
        """The number, in every lane."""

    @abc.abstractmethod
    def operation(self, name: str, kind: type[Value], lanes: int, *operands: Value) -> str:
        """The result, of a kind and so many lanes, of the operation ``name``."""

    @abc.abstractmethod
    def load(self, block: Block[V], index: Int | int) -> str:
        """Element ``index`` of a block."""

    @abc.abstractmethod
    def store(self, value: Value, block: Block[V], index: Int | int) -> None:
        """Write element ``index`` of a block."""

    @abc.abstractmethod
    def moved(self, block: Block[V], index: Int | int) -> str:
        """Address of element ``index`` of a block."""


V = TypeVar("V", bound="Value")
E = TypeVar("E", bound="Value")
N = TypeVar("N", bound="Number")


class Value:
    """The result ``name`` in the function that ``speller`` writes."""

    __slots__ = ("lanes", "name", "speller")

    def __init__(self, speller: Speller, name: str, lanes: int = 1) -> None:
        self.speller, self.name, self.lanes = speller, name, lanes

    def compute(self, operation: str, kind: type[V], *others: Value) -> V:
        """The result, of as many lanes, of an operation on this and other values."""
        name = self.speller.operation(operation, kind, self.lanes, self, *others)
        return kind(self.speller, name, self.lanes)

    def renamed(self: V, name: str) -> V:
        """Another result of the same kind."""
        return type(self)(self.speller, name, self.lanes)

    def __bool__(self) -> NoReturn:
        raise TypeError("a value is known when the written function runs, not while it is written")


class Flag(Value):
    """True or false."""

    __slots__ = ()

    def __and__(self, other: Flag) -> Flag:
        return self.compute("and", Flag, other)

    def __or__(self, other: Flag) -> Flag:
        return self.compute("or", Flag, other)

    def __invert__(self) -> Flag:
        return self.compute("not", Flag)

    def choose(self, where_true: V, where_false: V) -> V:
        """One of two values, lane by lane."""
        operands = (self, where_true, where_false)
        name = self.speller.operation("choose", type(where_true), where_true.lanes, *operands)
        return where_true.renamed(name)

    def as_int(self) -> Int:
        """1 or 0."""
        return self.compute("count", Int)

    def as_real(self) -> Real:
        """1.0 or 0.0."""
        one, zero = (self.speller.constant(Real, self.lanes, number) for number in (1.0, 0.0))
        return self.choose(*(Real(self.speller, name, self.lanes) for name in (one, zero)))

    def any(self) -> Flag:
        """True in some lane; one lane."""
        if self.lanes == 1:
            return self
        return Flag(self.speller, self.speller.operation("any", Flag, 1, self))


class Number(Value):
    """What can be computed with and compared; the other operand may be a number of Python."""

    __slots__ = ()

    def like(self: N, number: N | float) -> N:
        """``number`` as a value in as many lanes."""
        if isinstance(number, Value):
            return number
        kind, lanes = type(self), self.lanes
        return kind(self.speller, self.speller.constant(kind, lanes, number), lanes)

    def apply(self: N, function: str, *others: N | float) -> N:
        """A function of the C library (``sqrt``, ``fmin``, ``fma``, ``atan2``, ...) or operator."""
        return self.compute(function, type(self), *[self.like(other) for other in others])

    def compare(self: N, relation: str, other: N | float) -> Flag:
        """``lt``, ``eq``, ``ne``; of reals also ``le``, ``gt``, ``apart``, ``ordered`` (no NaN)."""
        return self.compute(relation, Flag, self.like(other))

    def __add__(self: N, other: N | float) -> N:
        return self.apply("add", other)

    def __sub__(self: N, other: N | float) -> N:
        return self.apply("sub", other)

    def __mul__(self: N, other: N | float) -> N:
        return self.apply("mul", other)

    def __lt__(self: N, other: N | float) -> Flag:
        return self.compare("lt", other)

    def equals(self: N, other: N | float) -> Flag:
        """Equal."""
        return self.compare("eq", other)

    def differs(self: N, other: N | float) -> Flag:
        """Not equal, or NaN."""
        return self.compare("ne", other)


class Int(Number):
    """A 64-bit integer: a count, a place, a status. Compared and divided, it is not negative."""

    __slots__ = ()

    def __floordiv__(self, other: Int | int) -> Int:
        return self.apply("div", other)

    def __and__(self, other: Int | int) -> Int:
        return self.apply("and", other)

    def __xor__(self, other: Int | int) -> Int:
        return self.apply("xor", other)

    def __lshift__(self, other: Int | int) -> Int:
        return self.apply("shift", other)

    def as_real(self) -> Real:
        """The same number."""
        return self.compute("number", Real)

    def from_bits(self) -> Real:
        """The number that has these bits."""
        return self.compute("from_bits", Real)

    def as_address(self) -> Block[Real]:
        """The memory at this address."""
        return self.compute("address", Block)


class Real(Number):
    """A 64-bit floating-point number. Comparisons with NaN are false, except ``differs``."""

    __slots__ = ()

    def __rmul__(self, other: float) -> Real:
        return self.like(other) * self

    def __truediv__(self, other: Real | float) -> Real:
        return self.apply("div", other)

    def __neg__(self) -> Real:
        return self.apply("neg")

    def __abs__(self) -> Real:
        return self.apply("fabs")

    def __le__(self, other: Real | float) -> Flag:
        return self.compare("le", other)

    def __gt__(self, other: Real | float) -> Flag:
        return self.compare("gt", other)

    def is_number(self) -> Flag:
        """Not NaN."""
        return self.compare("ordered", self)

    def truncated(self) -> Int:
        """The next integer towards zero."""
        return self.compute("truncate", Int)

    def bits(self) -> Int:
        """The bits of the number."""
        return self.compute("bits", Int)

    def everywhere(self) -> Real:
        """This number, of one lane, in all lanes of the function."""
        lanes = self.speller.lanes
        return Real(self.speller, self.speller.operation("everywhere", Real, lanes, self), lanes)


class Block(Value, Generic[V]):
    """Memory, as a row of elements of one kind; ``block + i`` begins at element ``i``.

    Attributes:
        element, width: kind and lanes of an element.
        align: alignment of the elements [bytes]; 0 for that of their kind.
    """

    __slots__ = ("align", "element", "width")

    element: type[V]
    __iter__ = None  # it has no end

    def __init__(self, speller: Speller, name: str, lanes: int = 1) -> None:
        super().__init__(speller, name, lanes)
        self.element, self.width, self.align = Real, 1, 0  # type: ignore[assignment]

    def of(self, element: type[E], width: int = 1, align: int = 0) -> Block[E]:
        """The same memory as elements of another kind."""
        block: Block[E] = Block(self.speller, self.name)
        block.element, block.width, block.align = element, width, align
        return block

    def renamed(self, name: str) -> Block[V]:
        return Block(self.speller, name).of(self.element, self.width, self.align)

    def __add__(self, index: Int | int) -> Block[V]:
        return self.renamed(self.speller.moved(self, index))

    def __getitem__(self, index: Int | int) -> V:
        return self.element(self.speller, self.speller.load(self, index), self.width)

    def __setitem__(self, index: Int | int, value: V) -> None:
        self.speller.store(value, self, index)
