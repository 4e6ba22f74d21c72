"""The slow way to a position: continuation from several starts and along several ways."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from ..arrays import Array
from .continuation import Continuation, Solution


def search(path: Continuation, starts: Iterable[Solution], p: Array) -> tuple[Solution, int]:
    """The closed configuration at ``p``; where there is no way, the one that came nearest.

    Returns:
        The solution, and 0 or the status with which the way ended.
    """
    context = path.context()
    nearest: list[tuple[float, Solution, int]] = []
    for start in starts:
        for way in _ways(start.p, p):
            found, status = start, 0
            for corner in way:
                found, status = path.follow(context, found, corner)
                if status:
                    break
            if status == 0:
                return found, 0
            nearest.append((float(np.linalg.norm(found.p - p)), found, status))
    _, found, status = min(nearest, key=lambda each: each[0])
    return found, status


def _ways(start: Array, target: Array) -> list[list[Array]]:
    """The straight way; then along the axes, one after the other, for two or three of them."""
    ways = [[target]]
    n = len(start)
    if 2 <= n <= 3:
        for order in itertools.permutations(range(n)):
            corners, corner = [], start.copy()
            for axis in order:
                corner = corner.copy()
                corner[axis] = target[axis]
                corners.append(corner)
            ways.append(corners)
    return ways
