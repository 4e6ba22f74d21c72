"""The memory a program runs in, one per thread."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .layout import GRAIN, ProgramShape
from .seeds import Seeds


@dataclass(eq=False)
class Context:
    """The memory of one thread.

    Attributes:
        memory: everything, as :class:`~.layout.Layout` divides it; the arrays below are views.
        inputs: the user's vectors; output: what the user gets.
        records: seeds of every solver, the newest solution among them; fresh: as they began.
        statuses: (result code, iterations) of every solver; counts: the iterations alone.
        seeds: kept here because the records hold addresses of their tables.
        handle: what the back-end's function takes.
        call: :meth:`.program.Program.__call__`, shorter for the thread that made this memory.
        lanes: memory of the SIMD version, made when first needed.
    """

    memory: Array
    inputs: tuple[Array, ...]
    output: Array
    records: list[Array]
    fresh: list[Array]
    statuses: list[NDArray[np.int64]]
    counts: NDArray[np.int64]
    seeds: tuple[Seeds, ...]
    handle: Any = None
    call: Callable[..., Array] = field(init=False)
    lanes: Array | None = None

    @staticmethod
    def of(shape: ProgramShape, seeds: Sequence[Seeds]) -> Context:
        """Memory of a program, its records filled from ``seeds``."""
        layout = shape.layout
        memory = aligned_zeros(layout.size)
        ends = layout.user_in + np.cumsum([0, *shape.input_sizes])
        inputs = tuple(memory[a:b] for a, b in itertools.pairwise(ends))
        output = memory[layout.body_out : layout.body_out + shape.n_user_out]
        records = []
        for bound, at, seed in zip(shape.solvers, layout.records, seeds, strict=True):
            rec = bound.solver.record
            record = memory[at : at + rec.size]
            seed.fill(record, rec)
            records.append(record)
        statuses = [memory[at : at + 2].view(np.int64) for at in layout.status]
        # The regions follow each other at equal distances: one strided view shows all counts.
        first, end = (layout.status[0], layout.scratch) if layout.status else (0, 0)
        counts = memory.view(np.int64)[first + 1 : end : GRAIN]
        fresh = [record.copy() for record in records]
        return Context(memory, inputs, output, records, fresh, statuses, counts, tuple(seeds))

    def forget(self) -> None:
        """Start from the seeds again: what earlier calls found is gone."""
        for record, fresh in zip(self.records, self.fresh, strict=True):
            record[:] = fresh


def aligned_zeros(length: int) -> Array:
    """A zeroed block on a 64-byte boundary."""
    raw = np.zeros(length + 8)
    start = (-(raw.ctypes.data // 8)) % 8
    return raw[start : start + length]
