"""Boxes of independent positions: which one a table covers, and which ones a loop reaches."""

from __future__ import annotations

import itertools

import numpy as np

from ..arrays import Array
from ..model.tree import REVOLUTE
from .continuation import Continuation, Solution
from .numerical import NumericalClosure
from .seed_table import COARSE_STEP, SeedTable

#: (low, high), each (n_p,).
Box = tuple[Array, Array]

#: Samples that must all be reached, and halvings of the box until they are.
SAMPLES, HALVINGS = 64, 12


def limit_box(closure: NumericalClosure, p_ref: Array) -> Box:
    """Joint limits; half a turn or the loop's size where there are none."""
    system = closure.system
    lower, upper = p_ref.copy(), p_ref.copy()
    for k, i in enumerate(system.independent):
        joint = system.tree.bodies[system.joints[i]].joint
        reach = closure.sizes[i] * (np.pi if joint.kind == REVOLUTE else 1.0)
        low = joint.lower if np.isfinite(joint.lower) else p_ref[k] - reach
        high = joint.upper if np.isfinite(joint.upper) else p_ref[k] + reach
        lower[k] = min(p_ref[k], max(low, p_ref[k] - 2 * reach))
        upper[k] = max(p_ref[k], min(high, p_ref[k] + 2 * reach))
    return lower, upper


def box_of_nodes(table: SeedTable, p_ref: Array) -> Box:
    """The largest box of solved nodes grown from the reference, side by side."""
    shape = tuple(int(c) for c in table.count)
    reached = table.reached.reshape(shape)
    low = high = table.nearest_node(p_ref)
    if not reached[tuple(low)]:
        return p_ref.copy(), p_ref.copy()
    growing = True
    while growing:
        growing = False
        for axis, direction in itertools.product(range(len(shape)), (-1, 1)):
            new_low, new_high = low.copy(), high.copy()
            side = new_low if direction < 0 else new_high
            side[axis] += direction
            if not 0 <= side[axis] < shape[axis]:
                continue
            part = tuple(slice(int(a), int(b) + 1) for a, b in zip(new_low, new_high, strict=True))
            if reached[part].all():
                low, high, growing = new_low, new_high, True
    box = table.low + low * table.step, table.low + high * table.step
    return np.minimum(box[0], p_ref), np.maximum(box[1], p_ref)


def sampled_box(path: Continuation, reference: Solution, limits: Box) -> Box:
    """Without a table: the limits, shrunk towards the reference until samples are reached."""
    rng = np.random.default_rng(3)
    low, high = limits[0] - reference.p, limits[1] - reference.p
    context = path.context()
    for factor in 0.5 ** np.arange(HALVINGS):
        targets = rng.uniform(low, high, (SAMPLES, len(low))) * factor + reference.p
        if not any(path.follow(context, reference, t, COARSE_STEP)[1] for t in targets):
            return reference.p + factor * low, reference.p + factor * high
    return reference.p.copy(), reference.p.copy()
