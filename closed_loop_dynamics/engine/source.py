"""What programs are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ..arrays import Array


@dataclass(frozen=True)
class SolverUse:
    """Solver number ``solver`` of the unit, its parameters at these places of the user inputs."""

    solver: int
    parameters: tuple[int, ...]


@dataclass(frozen=True)
class ProgramSource:
    """What a program is made of.

    Attributes:
        name: for messages and the cache.
        input_names, input_sizes: the user's vectors.
        output_size: length of the user's output block.
        build: traces the body (only called when nothing usable is cached).
        on_failure: called with the index of a failed check (or -1 - k for the k-th solver, when
            even the rescue's solution was refused) and the inputs; gives the outputs by other
            means, or the exception to raise.
        solvers: the Newton loops that run before the body.
    """

    name: str
    input_names: tuple[str, ...]
    input_sizes: tuple[int, ...]
    output_size: int
    build: Callable[[], Any]
    on_failure: Callable[[int, tuple[Array, ...]], Exception | Array]
    solvers: tuple[SolverUse, ...] = ()


class Rescue(Protocol):
    """Finds the unknowns of the program's ``k``-th solver when the short way failed, or raises.

    ``p`` are its parameters, ``first`` is the program's first input vector.
    """

    def __call__(self, k: int, p: Array, first: Array, /) -> Array: ...
