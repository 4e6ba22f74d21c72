"""From poses of links to independent positions, one sample or many; the search is next door."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..arrays import Array, Vec, as_finite_vectors
from ..errors import InvalidInput, TargetNotReached
from .pose_search import Search
from .search_starts import SearchSpace
from .targets import read_targets


def inverse_kinematics(
    space: SearchSpace, wanted: Mapping[str, Vec], y0: Vec | None, limits: bool
) -> Array:
    """See :meth:`Robot.inverse_kinematics`."""
    samples, single = read_targets(space.programs.mechanism.tree, wanted)
    n_y = space.programs.mechanism.n_y
    start = space.reference if y0 is None else as_finite_vectors(y0, "y0", n_y)
    if start.ndim == 2:
        samples, single = (samples * len(start) if single else samples), False
        if len(samples) != len(start):
            raise InvalidInput(
                f"inverse_kinematics: {len(samples)} targets, but {len(start)} rows of y0"
            )
    found: list[Array] = []
    for i, targets in enumerate(samples):
        here = start[i] if start.ndim == 2 else (found[-1] if found else start)
        try:
            found.append(Search(space, targets, limits).run(here))
        except TargetNotReached as error:
            error.sample = None if single else i
            raise
    return found[0] if single else np.array(found).reshape(-1, n_y)
