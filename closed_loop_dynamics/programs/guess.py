"""Evaluating a program on the assembly mode of a configuration that the caller gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..arrays import Array, Vec, as_finite_vectors, as_rows
from ..closure.branch import Branch
from ..engine import Program
from ..errors import ClosureNotFound
from ..mechanism import Mechanism


def run_from_guess(
    mech: Mechanism,
    branches: Mapping[int, Branch],
    program: Program,
    guess: Vec,
    values: Sequence[Any],
) -> Array:
    """Outputs of ``program`` with every loop on the assembly mode that ``guess`` (n_q,) shows."""
    q = as_finite_vectors(guess, "guess", mech.n_q)
    arrays = [
        as_finite_vectors(v, name, size)
        for v, name, size in zip(
            values, program.source.input_names, program.source.input_sizes, strict=True
        )
    ]
    rows = as_rows(program.source.name, [q, *arrays])
    if rows is not None:
        samples = zip(*rows, strict=True)
        found = [run_from_guess(mech, branches, program, g, one) for g, *one in samples]
        return np.array(found).reshape(len(rows[0]), program.source.output_size)
    seeds = []
    for c in mech.numerical:
        bodies = mech.components[c].independent
        p = arrays[0][[mech.y.at[b] for b in bodies]]
        local = np.array([q[mech.q.at[b]] for b in mech.components[c].joints])
        seeds.append(branches[c].on_mode_of(local, p)[0])

    def refuse(k: int, p: Array, first: Array) -> NoReturn:
        name = branches[mech.numerical[k]].name
        raise ClosureNotFound(
            f"submechanism '{name}' does not close from the guess", submechanism=name
        )

    return program.evaluate_in(program.new_context(seeds), *arrays, rescue=refuse)
