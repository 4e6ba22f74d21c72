"""Where Newton loops start: records of solutions, and the prediction from the best of them.

A start ("seed") is (p0, x0, dx/dp): the nearest node of a table of solutions computed at load, so
that the answer does not depend on earlier calls; the newest solution only where there is no such
node, and a node beside the missing one where that solution is far. A prediction that goes further
than ``reach`` is not used: near a singularity slopes are huge, and a leap may end on another
branch.

A smooth motion may start from the newest two solutions instead, by the cubic through them: next to
exact, where a node is a large part of a cell away. But the node has to vouch for that start, by a
prediction that is nearly the same: history saves steps, and never decides where they end.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .code import Function, Module
from .values import Block, Flag, Real

#: Nodes cover half a step around them, and a little for rounding.
ONE_CELL = 0.5 + 1e-9
#: A motion goes on from its newest solution over at most this part of a cell.
CLOSE = 0.25
#: Its start and the node's prediction differ by at most this part of the reach.
AGREEMENT = 0.2
#: The way ahead, in steps like the last one, for which the cubic is trusted.
AHEAD = 2.0


class RecordLayout:
    """Offsets (in doubles) inside the seed record of one solver.

    Attributes:
        has_table: 1.0 when the table may be used.
        table: address of the node array (as an integer); nodes are ``(x0, dx/dp row by row)``,
            node ``(i, j, ...)`` at ``sum(index * stride)`` and p = low + index * step.
        low, step, inverse_step, last_index, stride: (n_p,) each, of the table; stride in nodes.
        inverse_reach: (n_x,) 1 / longest prediction of each unknown.
        sign: (n_sign,) sign of every guard on the wanted branch.
        p1, x1, slope1: the solution before the newest one, in the same order (p1 NaN: none).
        p0: (n_p,) parameters of the newest solution (NaN: none).
        x0, slope: (n_x,) the newest solution and (n_x, n_p) its derivative, row by row.
        size: length of the record.
        node_size: length of one node of the table.
    """

    def __init__(self, n_p: int, n_sign: int, n_x: int) -> None:
        self.n_p, self.n_sign, self.n_x = n_p, n_sign, n_x
        self.has_table, self.table, self.low = 0, 1, 2
        self.step, self.inverse_step, self.last_index, self.stride, self.inverse_reach = (
            self.low + (1 + i) * n_p for i in range(5)
        )
        self.sign = self.inverse_reach + n_x
        self.p1 = self.sign + n_sign
        self.x1 = self.p1 + n_p
        self.slope1 = self.x1 + n_x
        self.p0 = self.slope1 + n_x * n_p
        self.x0 = self.p0 + n_p
        self.slope = self.x0 + n_x
        self.size = self.slope + n_x * n_p
        self.node_size = n_x * (1 + n_p)

    def read(self, record: Array) -> tuple[Array, Array, Array]:
        """Copies of (p, x, dx/dp) of the newest solution."""
        newest, n_p, end = record[self.p0 : self.size].copy(), self.n_p, self.n_p + self.n_x
        return newest[:n_p], newest[n_p:end], newest[end:].reshape(self.n_x, n_p)

    def write(self, record: Array, p: Array, x: Array, slope: Array | float) -> None:
        """Make (p, x, dx/dp) the newest solution, and the only one."""
        record[self.p1 : self.x1] = np.nan
        record[self.p0 : self.p0 + self.n_p] = p
        record[self.x0 : self.x0 + self.n_x] = x
        record[self.slope : self.size] = np.ravel(slope)


@dataclass(frozen=True, eq=False)
class Seeds:
    """Starting points of one solver, shared by all programs and threads (read only).

    Attributes:
        sign: (n_sign,) sign of the guards on the branch.
        low, step, count: (n_p,) the grid; ``count`` all zero means there is no table.
        nodes: (prod(count), n_x * (1 + n_p)) solutions and their slopes; NaN where unreachable,
            see :func:`point_beside`.
        reference: (p0, x0, slope) of the reference configuration.
        reach: (n_x,) longest prediction of each unknown; infinite when None.
    """

    sign: Array
    low: Array
    step: Array
    count: NDArray[np.int64]
    nodes: Array
    reference: tuple[Array, Array, Array]
    reach: Array | None = None

    def __post_init__(self) -> None:
        # Native code reads the nodes by address.
        object.__setattr__(self, "nodes", np.ascontiguousarray(self.nodes, dtype=np.float64))

    @staticmethod
    def without_table(
        sign: Array, reference: tuple[Array, Array, Array], reach: Array | None
    ) -> Seeds:
        """Only the reference to start from."""
        n_p = len(reference[0])
        no_grid = (np.zeros(n_p), np.ones(n_p), np.zeros(n_p, dtype=np.int64), np.zeros((0, 0)))
        return Seeds(sign, *no_grid, reference, reach)

    @property
    def has_table(self) -> bool:
        """The grid is not empty."""
        return bool(np.all(self.count > 0)) and self.nodes.size > 0

    def fill(self, record: Array, rec: RecordLayout) -> None:
        """Write the table's description, the signs and the reference solution into a record."""
        expected = (int(np.prod(self.count)), rec.node_size)
        if self.has_table and self.nodes.shape != expected:
            raise ValueError(f"seed table has shape {self.nodes.shape}, expected {expected}")
        record[rec.has_table] = float(self.has_table)
        record.view(np.int64)[rec.table] = self.nodes.ctypes.data if self.has_table else 0
        last, inner = np.maximum(self.count - 1, 0), np.append(self.count[1:], 1)[: rec.n_p]
        stride = np.cumprod(inner[::-1])[::-1]
        grid = (self.low, self.step, 1.0 / self.step, last, stride)
        record[rec.low : rec.inverse_reach] = np.concatenate(grid)
        record[rec.inverse_reach : rec.sign] = 0.0 if self.reach is None else 1.0 / self.reach
        record[rec.sign : rec.p1] = self.sign
        rec.write(record, *self.reference)


def point_beside(nodes: Array, count: NDArray[np.int64], n_x: int) -> None:
    """Let nodes that were not reached name one beside them that was: the range ends in between.

    How many steps away it is along each axis stands in the place of their first slope.
    """
    shape, n_p, missing = tuple(count), len(count), np.isnan(nodes[:, 0])
    holes = np.flatnonzero(missing)
    at = np.transpose(np.unravel_index(holes, shape))
    ways = itertools.product((-1, 0, 1), repeat=n_p)
    for way in sorted(ways, key=lambda way: -sum(map(abs, way))):  # the nearest last: they stay
        beside = at + way
        inside = np.flatnonzero(np.all((beside >= 0) & (beside < count), axis=1))
        known = inside[~missing[np.ravel_multi_index(tuple(beside[inside].T), shape)]]
        nodes[holes[known], n_x : n_x + n_p] = way


def emit_seed(module: Module, rec: RecordLayout, symbol: str, goes_on: bool = False) -> None:
    """Write ``symbol(record, p, x)``: predict x at p from the best seed, NaN when none reaches.

    With ``goes_on`` from the newest two solutions, where the table vouches for them.
    """
    f = module.function(symbol, {"record": Block, "p": Block, "x": Block})
    record, parameters, x = f.arguments
    p = [parameters[j] for j in range(rec.n_p)]
    p0 = [record[rec.p0 + j] for j in range(rec.n_p)]
    near, same, inside, nearest = [], [], [], []
    node = f.integer(0)
    for j in range(rec.n_p):
        inverse, low = record[rec.inverse_step + j], record[rec.low + j]
        near.append(abs(p[j] - p0[j]) * inverse < 0.5)  # never, without a newest solution: NaN
        same.append(p[j].equals(p0[j]))
        exact = (p[j] - low) * inverse
        position = exact.apply("fmin", record[rec.last_index + j]).apply("fmax", 0.0)
        index = (position + 0.5).truncated()
        nearest.append(index.as_real())
        inside.append(abs(exact - nearest[j]) <= ONE_CELL)
        node = node + index * record[rec.stride + j].truncated()
    no_table = record[rec.has_table].equals(0.0)
    # x0 and slope follow each other both in the record and in a node.
    own, table = record + rec.x0, record.of(Block)[rec.table]
    there = no_table.choose(own, table + node * rec.node_size)
    reached = there[0].is_number()
    covered = f.all(inside) & reached
    beside = ~reached & there[rec.n_x].is_number()
    p_node = []
    for j in range(rec.n_p):
        steps = beside.choose(there[rec.n_x + j], f.real(0.0))
        node = node + (steps * record[rec.stride + j]).truncated()
        p_node.append((nearest[j] + steps).apply("fma", record[rec.step + j], record[rec.low + j]))
    at_node = table + node * rec.node_size
    # At the very place of the newest solution: that is how a rescue hands its answer in.
    newest = (f.all(near) & ~covered) | f.all(same) | no_table
    source = newest.choose(own, at_node)
    dp = [p[j] - newest.choose(p0[j], p_node[j]) for j in range(rec.n_p)]
    within, predicted = [], []
    for i in range(rec.n_x):
        change = f.real(0.0)
        for j in range(rec.n_p):
            change = source[rec.n_x + i * rec.n_p + j].apply("fma", dp[j], change)
        within.append(abs(change) * record[rec.inverse_reach + i] <= 1.0)
        predicted.append(source[i] + change)
    good = f.all(within)
    if goes_on:
        ahead, close = _ahead(f, rec, record, p, p0)
        away = [(ahead[i] - predicted[i]) * record[rec.inverse_reach + i] for i in range(rec.n_x)]
        agreed = f.all(abs(each) <= AGREEMENT for each in away)
        going_on = close & covered & ~no_table & agreed
        predicted = [going_on.choose(*each) for each in zip(ahead, predicted, strict=True)]
    for i in range(rec.n_x):
        x[i] = good.choose(predicted[i], f.real(float("nan")))
    f.finish()


def _ahead(
    f: Function, rec: RecordLayout, record: Block[Real], p: list[Real], p0: list[Real]
) -> tuple[list[Real], Flag]:
    """Where the newest two solutions point to at ``p``, and whether that is close to the newest.

    With d the way from the one to the other, dp = a d + r the way ahead and G their slopes, it is
    the cubic of Hermite along d, and the change of G along d turns r too:

        x0 + (3 a^2 + 2 a^3) (x1 - x0) + G0 (dp + (2 a^2 + a^3) d + a r) + G1 ((a^2 + a^3) d - a r)

    Where a is too large, or there is but one solution, a = 0: straight on.
    """
    close, dp, d, along, squared = [], [], [], f.real(0.0), f.real(0.0)
    for j in range(rec.n_p):
        way, last = p[j] - p0[j], p0[j] - record[rec.p1 + j]
        last = last.is_number().choose(last, f.real(0.0))
        inverse = record[rec.inverse_step + j]
        close.append(abs(way) * inverse <= CLOSE)
        scaled = last * inverse
        along = along + way * inverse * scaled
        squared = squared + scaled * scaled
        dp.append(way)
        d.append(last)
    ratio = along / squared
    a = (abs(ratio) <= AHEAD).choose(ratio, f.real(0.0))
    square, cube = a * a, a * a * a
    ahead = []
    weights = []
    for way, last in zip(dp, d, strict=True):
        turned = a * (way - a * last)
        weights.append(
            (way + (2.0 * square + cube) * last + turned, (square + cube) * last - turned)
        )
    for i in range(rec.n_x):
        newest = record[rec.x0 + i]
        change = (3.0 * square + 2.0 * cube) * (record[rec.x1 + i] - newest)
        for j, (of_newest, of_older) in enumerate(weights):
            at = i * rec.n_p + j
            change = record[rec.slope + at].apply("fma", of_newest, change)
            change = record[rec.slope1 + at].apply("fma", of_older, change)
        ahead.append(newest + change)
    return ahead, f.all(close)
