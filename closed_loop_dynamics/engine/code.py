"""Functions that are written over :mod:`.values`, whatever the language.

A language is a :class:`Module` and a :class:`Function` that spell what is abstract here; LLVM IR is
one (:mod:`.llvm_ir`).
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from operator import and_
from typing import Any, Generic

from .values import Block, Flag, Int, Real, Speller, V, Value


class Variable(Generic[V]):
    """A value that a loop carries from one round to the next."""

    def __init__(self, value: V) -> None:
        self.value = value


class Module(abc.ABC):
    """Functions that are compiled together; names of private ones are known here only."""

    @abc.abstractmethod
    def function(
        self,
        symbol: str,
        arguments: Mapping[str, type[Value]],
        *,
        lanes: int = 1,
        returns: type[Value] | None = None,
        private: bool = False,
        constant: Collection[str] = (),
    ) -> Function:
        """Begin a function; :meth:`Function.finish` ends it.

        Args:
            lanes: of the elements of its blocks and of its constants.
            private: called from this module only, with blocks that do not overlap.
            constant: private blocks that nothing writes to during the call.
        """

    @abc.abstractmethod
    def external(
        self, symbol: str, arguments: Collection[type[Value]], returns: type[Value]
    ) -> None:
        """Name a function of another module that may be called."""

    @abc.abstractmethod
    def text(self) -> str:
        """All functions, with what they need."""


class Function(Speller):
    """One function being written."""

    #: Blocks hold one ``Real`` of all lanes per element, integers have one lane.
    arguments: tuple[Any, ...]

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        #: Products and sums may become one operation with one rounding.
        self.fusing = True
        self._conditions: list[Flag | None] = []

    # -- constants ------------------------------------------------------------------------------

    def real(self, number: float) -> Real:
        """A number, in every lane."""
        return Real(self, self.constant(Real, self.lanes, number), self.lanes)

    def integer(self, number: int) -> Int:
        """An integer, in every lane."""
        return Int(self, self.constant(Int, self.lanes, number), self.lanes)

    def flag(self, truth: bool) -> Flag:
        """A flag, in every lane."""
        return Flag(self, self.constant(Flag, self.lanes, truth), self.lanes)

    def nowhere(self) -> Block[Any]:
        """A block of no elements."""
        return Block(self, self.constant(Block, 1, 0))

    # -- control --------------------------------------------------------------------------------

    @contextmanager
    def loop(self, count: Int | int, *variables: Variable[Any]) -> Iterator[Int]:
        """``for i in range(count)``, count > 0; ``variables`` are those that change in it.

        Of what a round computes nothing but the variables is known after the loop.
        """
        index = self._open_loop(variables)
        self._conditions.append(None)
        yield index
        self._close_loop(index + 1, count, variables, self._conditions.pop())

    def repeat_while(self, flag: Flag) -> None:
        """Let the round that is being written be the last one unless ``flag`` (one lane)."""
        self._conditions[-1] = flag

    @contextmanager
    def as_written(self) -> Iterator[None]:
        """Every product and every sum is rounded by itself."""
        before, self.fusing = self.fusing, False
        try:
            yield
        finally:
            self.fusing = before

    def all(self, flags: Iterable[Flag]) -> Flag:
        """True where all are; true when there are none."""
        found = list(flags)
        return reduce(and_, found) if found else self.flag(True)

    # -- what a language spells -----------------------------------------------------------------

    @abc.abstractmethod
    def return_if(self, flag: Flag, value: Int | int | Callable[[], Int]) -> None:
        """Leave the function with ``value`` when ``flag`` (one lane).

        A function writes what is done only then, and gives the value.
        """

    @abc.abstractmethod
    def call(self, function: str | Block[Any], *arguments: Value) -> None:
        """Call a function, by name or by address, that returns nothing."""

    @abc.abstractmethod
    def called(self, function: str | Block[Any], kind: type[V], *arguments: Value) -> V:
        """What a function returns."""

    @abc.abstractmethod
    def finish(self, value: Value | int | None = None) -> None:
        """Return ``value`` and end the function."""

    @abc.abstractmethod
    def _open_loop(self, variables: Collection[Variable[Any]]) -> Int:
        """Begin a round; the variables get the values they have in it."""

    @abc.abstractmethod
    def _close_loop(
        self,
        following: Int,
        count: Int | int,
        variables: Collection[Variable[Any]],
        condition: Flag | None,
    ) -> None:
        """Another round while ``following < count`` and ``condition``, with the new values."""
