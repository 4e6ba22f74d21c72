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
from .emitter import Emitter, Lanes
from .instructions import block_sizes, instruction_list
from .newton import OK, NewtonSolver, all_true, emit_newton


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


def emit_nested(nested: NestedStep, symbol: str, lanes: Lanes) -> tuple[str, int]:
    """IR of the outer loop and of those inside it; same interface as :func:`emit_newton`."""
    log, settings, t = nested.log(), nested.settings, lanes.real
    texts, workspace = [], 0
    for k, inner in enumerate(nested.inner):
        solver = NewtonSolver.of(instruction_list(inner.step), n_log=log.rounds, **settings)
        text, needed = emit_newton(solver, f"{symbol}_inner_{k}", lanes)
        texts.append(text)
        workspace = max(workspace, needed)
    n_p, n_sign, _ = nested.sizes()
    x_at = n_p + n_sign

    def run_inner(e: Emitter) -> str:
        well = all_true(lanes)
        away = e.value(f"mul i64 %round, {log.per_round}")
        for k, inner in enumerate(nested.inner):
            first = e.value(f"getelementptr {t}, ptr %out, i64 {log.inner_at(k)}")
            out = e.value(f"getelementptr {t}, ptr {first}, i64 {away}")
            status = e.value(f"getelementptr {t}, ptr {out}, i64 {log.status(k)}")
            block = e.value(f"getelementptr {t}, ptr {out}, i64 {log.inputs(k)}")
            places = [x_at + i for i in inner.parameters]
            places += [n_p + i for i in inner.signs] + [x_at + i for i in inner.unknowns]
            for j, place in enumerate(places):
                e.store(e.load("%in", place), block, j)
            name = f"{symbol}_inner_{k}"
            e.line(f"call void @{name}(ptr {block}, ptr {out}, ptr %ws, ptr {status})")
            own = len(inner.parameters) + len(inner.signs)
            for j, place in enumerate(inner.unknowns):
                e.store(e.load(block, own + j), "%in", x_at + place)
            code = e.value(f"load {lanes.integer}, ptr {status}, align {lanes.align}")
            solved = e.value(f"icmp eq {lanes.integer} {code}, {lanes.const_int(OK)}")
            well = e.value(f"and {lanes.flag} {well}, {solved}")
        return well

    outer = NewtonSolver.of(instruction_list(nested.step), n_log=log.size, **settings)
    text, needed = emit_newton(outer, symbol, lanes, run_inner if nested.inner else None)
    return "\n\n".join([*texts, text]), max(workspace, needed)
