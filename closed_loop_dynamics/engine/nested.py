"""Newton loops inside a Newton loop, natively (Mueller 2022, Algorithms 1 and 2).

The outer loop owns all unknowns x. Before each of its steps every inner loop solves its own
equations for some of the x, with others of them as parameters. The outer block leaves a log behind
the outputs of its step: err of every outer round, then for every round and inner loop the block of
that inner loop (outputs, err of every inner round, result code and count).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array
from .code import Function, Module
from .instructions import block_sizes, instruction_list
from .newton import OK, NewtonSolver, emit_newton
from .values import Flag, Int


@dataclass(frozen=True)
class InnerStep:
    """A traced step (p, sign, x) -> (dx, err, guard) of an inner loop.

    Attributes:
        parameters, unknowns: places of its p and its x among the unknowns of the outer loop.
        signs: places of its signs among the outer signs.
    """

    step: Any
    parameters: tuple[int, ...]
    unknowns: tuple[int, ...]
    signs: tuple[int, ...]


@dataclass(frozen=True)
class NestedStep:
    """A traced step with the loops inside it, and the numbers that govern all of them.

    Attributes:
        step: the outer step; without ``inner`` a plain Newton loop that keeps a log.
        settings: fields of :class:`.newton.NewtonSolver`.
    """

    step: Any
    inner: tuple[InnerStep, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    def sizes(self) -> tuple[int, int, int]:
        """(n_p, n_sign, n_x) of the outer loop."""
        n_p, n_sign, n_x = block_sizes(self.step)[0]
        return n_p, n_sign, n_x

    def log(self) -> NestedLog:
        """Where the outer block keeps what."""
        _, n_sign, n_x = self.sizes()
        inner = []
        for each in self.inner:
            sizes_in, sizes_out = block_sizes(each.step)
            inner.append((sum(sizes_out), sum(sizes_in)))
        rounds = self.settings.get("max_iterations", NewtonSolver.max_iterations)
        return NestedLog(n_x + 1 + n_sign, rounds, tuple(inner))

    def solver(self) -> NewtonSolver:
        """Sizes and settings of the outer loop, without its code."""
        return NewtonSolver(*self.sizes(), n_log=self.log().size, **self.settings)


@dataclass(frozen=True)
class NestedLog:
    """Offsets in the output block of an outer loop.

    Attributes:
        start: length of the outer step's outputs.
        rounds: most rounds of any loop.
        inner: (length of the outputs, length of the inputs) of each inner step.
    """

    start: int
    rounds: int
    inner: tuple[tuple[int, int], ...]

    def status(self, k: int) -> int:
        """Where result code and count are in the block of inner loop ``k``."""
        return self.inner[k][0] + self.rounds

    def inputs(self, k: int) -> int:
        """Where its inputs are."""
        return self.status(k) + 2

    def block(self, k: int) -> int:
        """Length of its block."""
        return self.inputs(k) + self.inner[k][1]

    @property
    def per_round(self) -> int:
        """Length of the inner blocks of one outer round."""
        return sum(map(self.block, range(len(self.inner))))

    @property
    def size(self) -> int:
        """Length of the log."""
        return self.rounds * (1 + self.per_round)

    def inner_at(self, k: int) -> int:
        """Where the block of inner loop ``k`` of round 0 is."""
        return self.start + self.rounds + sum(map(self.block, range(k)))

    def errors(self, out: Array, count: int) -> Array:
        """err of every outer round."""
        return out[self.start : self.start + count].copy()

    def inner_errors(self, out: Array, k: int, outer_round: int) -> Array:
        """err of every round of inner loop ``k`` within one outer round."""
        block = out[self.inner_at(k) + outer_round * self.per_round :]
        count = int(block[self.status(k) : self.inputs(k)].view(np.int64)[1])
        return block[self.inner[k][0] : self.inner[k][0] + count].copy()


def emit_nested(module: Module, nested: NestedStep, symbol: str, lanes: int = 1) -> int:
    """Write the outer loop and those inside it; same interface as :func:`emit_newton`."""
    log, settings = nested.log(), nested.settings
    workspace = 0
    for k, inner in enumerate(nested.inner):
        solver = NewtonSolver.of(instruction_list(inner.step), n_log=log.rounds, **settings)
        workspace = max(workspace, emit_newton(module, solver, f"{symbol}_inner_{k}", lanes))
    n_p, n_sign, _ = nested.sizes()
    x_at = n_p + n_sign

    def solve_inner(f: Function, round_: Int) -> Flag:
        block, out, room, _ = f.arguments
        solved = []
        for k, inner in enumerate(nested.inner):
            own_out = out + log.inner_at(k) + round_ * log.per_round
            status, own = own_out + log.status(k), own_out + log.inputs(k)
            places = [x_at + i for i in inner.parameters]
            places += [n_p + i for i in inner.signs] + [x_at + i for i in inner.unknowns]
            for j, place in enumerate(places):
                own[j] = block[place]
            f.call(f"{symbol}_inner_{k}", own, own_out, room, status)
            own_x = own + (len(inner.parameters) + len(inner.signs))
            for j, place in enumerate(inner.unknowns):
                block[x_at + place] = own_x[j]
            solved.append(status.of(Int, lanes)[0].equals(OK))
        return f.all(solved)

    outer = NewtonSolver.of(instruction_list(nested.step), n_log=log.size, **settings)
    before = solve_inner if nested.inner else None
    return max(workspace, emit_newton(module, outer, symbol, lanes, before))
