"""Natural sizes of the joints and rows of a loop system: what makes K dimensionless.

A hinge of a loop moves by radians and a slider by the loop's length. A rotor behind a gear of ratio
100 moves by a hundred radians while the loop moves by one: measured in radians it would look like a
joint that hardly takes part, and its row like one that says little of the others.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .loop_system import LoopSystem


def column_sizes(system: LoopSystem, length: float) -> Array:
    """(n,) size of each joint [rad or m]; ``length`` is that of the loop."""
    sizes = np.where(system.column_is_length, length, 1.0)
    place = {body: i for i, body in enumerate(system.joints)}
    known = {place[b] for cut in system.cuts for b in cut.bodies if b in place}
    rows = [_row(system, k, place) for k in range(len(system.couplings))]
    for _ in rows:  # as often as the longest chain of couplings needs
        for row in rows:
            unknown = [i for i in row if i not in known]
            if len(unknown) == 1 and len(row) > 1:
                (new,) = unknown
                largest = max(abs(row[i]) * sizes[i] for i in row if i != new)
                sizes[new] = largest / abs(row[new]) if largest > 0.0 else sizes[new]
                known.add(new)
    return sizes


def row_sizes(system: LoopSystem, length: float) -> Array:
    """(rows,) size of each row of phi [rad or m]."""
    sizes = np.where(system.row_is_length, length, 1.0)
    columns = column_sizes(system, length)
    place = {body: i for i, body in enumerate(system.joints)}
    first = len(sizes) - len(system.couplings)
    for k in range(len(system.couplings)):
        row = _row(system, k, place)
        sizes[first + k] = max(abs(r) * columns[i] for i, r in row.items())
    return sizes


def _row(system: LoopSystem, k: int, place: dict[int, int]) -> dict[int, float]:
    """Local joint -> its factor in coupling ``k``; what has no influence is left out."""
    coupling = system.couplings[k]
    factors = {coupling.joint: 1.0, **{name: -r for name, r in coupling.terms.items() if r}}
    return {place[system.tree.joint_index(name)]: r for name, r in factors.items()}
