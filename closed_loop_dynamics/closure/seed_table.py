"""Closed configurations on a grid over a box: where Newton and continuation start from.

Every node is reached from a solved neighbour in certified steps, so the whole table lies on the
branch of the reference configuration.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..engine import cache
from ..engine.seeds import point_beside
from ..model.tree import REVOLUTE
from .continuation import Continuation, Solution
from .numerical import NumericalClosure

#: Table nodes per dimension, by number of independent joints of the closure.
NODES = {1: 65, 2: 25, 3: 9, 4: 5, 5: 3, 6: 3}
#: Points of the finer grid per step of the table; two where there are more joints.
FINER = {2: 4, 3: 3}
#: Nodes that need finer steps than this are left to the slow path [rad, or loop lengths].
COARSE_STEP = 1e-3

#: How far tables and closed forms go beyond the joint limits, on which robots rest: a share of the
#: range, and at least so much [rad or m]; tables at most by the range itself.
MARGIN, LEAST_MARGIN = 0.2, 0.12
#: Of a table that was widened.
MOST_NODES = 4096

#: Without a table: samples that must all be reached, and halvings of the box until they are.
SAMPLES, HALVINGS = 64, 12

Index = tuple[int, ...]
#: (low, high), each (n_p,).
Box = tuple[Array, Array]


class SeedTable:
    """The table of one closure; empty for very many independent joints.

    Attributes:
        low, step, count: (n_p,) the grid.
        nodes: (prod(count), n_x * (1 + n_p)) solutions and their slopes; where unreachable NaN, and
            which node is beside.
        many_valued: the way to a position decides on which solution it ends (a cuspidal mechanism):
            no table can name the one that is meant, so there is none.
    """

    def __init__(self, path: Continuation, reference: Solution, box: Box, key: str) -> None:
        """Fetch the table from the cache by ``key``, or solve it."""
        self._path = path
        self._reference = reference
        self.low, high = box
        n_p, width = len(self.low), high - self.low
        count = np.full(n_p, NODES.get(n_p, 0), dtype=np.int64)
        count[width <= 0.0] = 1
        self.count = count
        self.step: Array = np.where(count > 1, width / np.maximum(count - 1, 1), 1.0)
        self.fill(key, dict)

    def widened(self, margin: Box, key: str) -> SeedTable:
        """These nodes and others around them, about as far as ``margin`` goes on both sides."""
        pads = [np.clip(np.ceil(m / self.step - 1e-9), 0, self.count - 1) for m in margin]
        while np.prod(self.count + sum(pads)) > MOST_NODES and np.any(pads):
            pads = [np.maximum(pad - 1, 0) for pad in pads]
        if not self.filled or not np.any(pads):
            return self
        before, after = (pad.astype(np.int64) for pad in pads)
        wide = copy(self)
        wide.low, wide.count = self.low - before * self.step, self.count + before + after
        wide.fill(
            key, lambda: {tuple(np.add(index, before)): s for index, s in self.solved.items()}
        )
        return wide if wide.filled else self

    def fill(self, key: str, known: Callable[[], dict[Index, Solution]]) -> None:
        """Fetch or solve the nodes; the ``known`` ones are solved."""
        self.many_valued = False
        self.nodes: Array = np.zeros((0, 0))
        if len(self.count) and np.all(self.count):
            metadata, data = cache.get_or_make(key, lambda: self._solve(known()))
            self.many_valued = metadata["many_valued"]
            if not self.many_valued:
                self.nodes = np.frombuffer(data).reshape(self._shape).copy()
        if not self.filled:
            self.count = np.zeros_like(self.count)
        self.__dict__.pop("solved", None)  # of the table that this one is a copy of

    @property
    def filled(self) -> bool:
        """There are nodes."""
        return self.nodes.size > 0

    @property
    def reached(self) -> NDArray[np.bool_]:
        """(prod(count),) which nodes were."""
        return np.isfinite(self.nodes[:, 0]) if self.filled else np.zeros(0, dtype=bool)

    def nearest_node(self, p: Array) -> Array:
        """Grid index (n_p,)."""
        return np.clip(np.round((p - self.low) / self.step), 0, self.count - 1).astype(int)

    def grid(self) -> tuple[Array, NDArray[np.bool_]]:
        """All nodes (N, n_p), and which of them were reached."""
        index = np.indices(tuple(self.count)).reshape(len(self.count), -1).T
        return self.low + index * self.step, self.reached

    def finer_grid(self) -> tuple[Array, NDArray[np.bool_]]:
        """Points between the nodes too, and which lie beside a node that was reached."""
        shape = tuple(int(c) for c in self.count)
        fine = FINER.get(len(shape), 2)
        reached = self.reached.reshape(shape)
        ticks = [np.arange(fine * (c - 1) + 1) for c in shape]
        near = np.zeros([len(t) for t in ticks], dtype=bool)
        for ends in itertools.product((0, fine - 1), repeat=len(shape)):
            corner = [(t + end) // fine for t, end in zip(ticks, ends, strict=True)]
            near |= reached[np.ix_(*corner)]
        index = np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, len(shape))
        return self.low + index * self.step / fine, near.ravel()

    def box(self, p_ref: Array) -> Box:
        """The largest box of solved nodes grown from the reference, side by side."""
        shape = tuple(int(c) for c in self.count)
        reached = self.reached.reshape(shape)
        low = high = self.nearest_node(p_ref)
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
                if reached[tuple(map(slice, new_low, new_high + 1))].all():
                    low, high, growing = new_low, new_high, True
        box = self.low + low * self.step, self.low + high * self.step
        return np.minimum(box[0], p_ref), np.maximum(box[1], p_ref)

    # -- solving ----------------------------------------------------------------------------------

    @property
    def _shape(self) -> tuple[int, int]:
        return int(np.prod(self.count)), len(self._reference.x) * (1 + len(self.count))

    def _solve(self, known: dict[Index, Solution]) -> tuple[dict[str, Any], bytes]:
        """What the cache keeps."""
        solved = self._spread(known or self._first())
        if solved is None:
            return {"many_valued": True}, b""
        nodes = np.full(self._shape, np.nan)
        for index, s in solved.items():
            nodes[np.ravel_multi_index(index, tuple(self.count))] = np.append(s.x, s.slope)
        point_beside(nodes, self.count, len(self._reference.x))
        return {"many_valued": False}, nodes.tobytes()

    def _first(self) -> dict[Index, Solution]:
        """The node nearest to the reference, if it can be reached."""
        first = self.nearest_node(self._reference.p)
        path = self._path
        target = self.low + first * self.step
        start, status = path.follow(path.context(), self._reference, target, COARSE_STEP)
        return {} if status else {tuple(int(i) for i in first): start}

    def _spread(self, known: dict[Index, Solution]) -> dict[Index, Solution] | None:
        """Solutions by node, from neighbour to neighbour; None when two ways end differently."""
        path, context = self._path, self._path.context()
        solved, queue = dict(known), list(known)
        gone: set[tuple[Index, Index]] = set()  # ways that need not be gone back
        while queue:
            index = queue.pop(0)
            for axis, direction in itertools.product(range(len(index)), (-1, 1)):
                neighbour = (*index[:axis], index[axis] + direction, *index[axis + 1 :])
                if not 0 <= neighbour[axis] < self.count[axis]:
                    continue
                if (index in known and neighbour in known) or (neighbour, index) in gone:
                    continue
                target = self.low + np.array(neighbour) * self.step
                found, status = path.follow(context, solved[index], target, COARSE_STEP)
                if status:
                    continue
                gone.add((index, neighbour))
                if neighbour not in solved:
                    solved[neighbour] = found
                    queue.append(neighbour)
                elif path.differ(found, solved[neighbour]):
                    return None
        return solved

    @cached_property
    def solved(self) -> dict[Index, Solution]:
        """Grid index -> solution, of the nodes that were reached."""
        flat, (points, _) = np.flatnonzero(self.reached), self.grid()
        index = np.transpose(np.unravel_index(flat, tuple(self.count))).tolist()
        return {
            tuple(i): self._node(points[k], k) for i, k in zip(index, flat.tolist(), strict=True)
        }

    def nearest(self, p: Array, most: int) -> Iterator[Solution]:
        """The nodes around ``p`` that were reached, the nearest first."""
        shape, at = tuple(self.count), self.nearest_node(p)
        first = int(np.ravel_multi_index(tuple(at), shape))
        here = bool(np.isfinite(self.nodes[first, 0]))
        if here:  # as nearly always, and nobody asks for more
            yield self._node(self.low + at * self.step, first)
        numbers, flat = np.arange(len(self.nodes)).reshape(shape), np.zeros(0, dtype=np.intp)
        for reach in (1, max(shape)):  # next to it; else anywhere
            flat = numbers[tuple(slice(max(i - reach, 0), i + reach + 1) for i in at)].ravel()
            flat = flat[np.isfinite(self.nodes[flat, 0]) & (flat != first)]
            if len(flat) >= most:
                break
        points = self.low + np.transpose(np.unravel_index(flat, shape)) * self.step
        away = np.abs((points - p) / self.step).max(axis=1)
        for k in away.argsort()[: most - here]:
            yield self._node(points[k], int(flat[k]))

    def _node(self, point: Array, flat: int) -> Solution:
        node, n_x = self.nodes[flat], len(self._reference.x)
        return Solution(point, node[:n_x], node[n_x:].reshape(n_x, -1))


def limit_box(closure: NumericalClosure, p_ref: Array) -> Box:
    """Joint limits; half a turn or the loop's size where there are none."""
    system = closure.system
    lower, upper = p_ref.copy(), p_ref.copy()
    for k, i in enumerate(system.independent):
        joint = system.joint(i)
        reach = closure.sizes[i] * (np.pi if joint.kind == REVOLUTE else 1.0)
        low = joint.lower if np.isfinite(joint.lower) else p_ref[k] - reach
        high = joint.upper if np.isfinite(joint.upper) else p_ref[k] + reach
        lower[k] = min(p_ref[k], max(low, p_ref[k] - 2 * reach))
        upper[k] = max(p_ref[k], min(high, p_ref[k] + 2 * reach))
    return lower, upper


def margins(closure: NumericalClosure, box: Box) -> Box:
    """How far to go beyond a box, below and above; nowhere on sides that are no joint limits."""
    low, high = box
    margin = np.where(high > low, np.maximum(MARGIN * (high - low), LEAST_MARGIN), 0.0)
    joints = [closure.system.joint(i) for i in closure.system.independent]
    limits = np.array([(joint.lower, joint.upper) for joint in joints]).reshape(-1, 2).T
    below, above = (np.where(a == b, margin, 0.0) for a, b in zip(box, limits, strict=True))
    return below, above


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
