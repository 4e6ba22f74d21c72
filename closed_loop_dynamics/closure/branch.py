"""Staying on the branch: seed tables, rescue, and the reachable set of a numerical closure.

The native Newton loop refuses a start that is not certified to lead to the wanted branch. Then a
path is followed in small certified steps (:mod:`.continuation`): from the nearest known solution,
or from the reference, to the requested positions. Where no such path exists the answer is
ClosureNotFound, never another assembly mode.
"""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..engine import Program, Seeds, cache
from ..engine.layout import CHECK, SOLVER
from ..errors import ClosureNotFound, InvalidInput
from ..model.tree import REVOLUTE
from .continuation import Continuation, Solution
from .numerical import NumericalClosure

#: Table nodes per dimension, by number of independent joints of the closure.
NODES = {1: 65, 2: 25, 3: 9, 4: 5, 5: 3, 6: 3}
#: Closed configurations that differ by less [rad, or loop lengths] are one, by more are two; in
#: between, near a singularity, rounding is magnified and two solutions meet: their signs decide.
SAME, NEAR = 1e-8, 1e-3
#: Points of the finer grid per step of the table; two where there are more joints.
FINER = {2: 4, 3: 3}


class Branch:
    """One numerical closure together with what is known about its branch.

    Attributes:
        closure: the closure; names: its independent joints.
        seeds: table and reference for the native loop.
        lower, upper: the box the table covers (joint limits, the reference included).
    """

    def __init__(
        self,
        closure: NumericalClosure,
        program: Program,
        key: str,
        box: tuple[Array, Array] | None = None,
    ) -> None:
        """Build or fetch the table; ``key`` names the closure in the cache."""
        self.closure = closure
        self.program = program
        system = closure.system
        self.name = system.name
        self.names = system.names(system.independent)
        q_ref = np.array(closure.plan.q_ref)
        p_ref, x_ref = q_ref[list(system.independent)], q_ref[list(closure.unknown)]
        self.lower, self.upper = self._box(p_ref) if box is None else box
        self._path = Continuation(closure, program)
        n_p, n_x = len(p_ref), len(x_ref)
        start = (p_ref, x_ref, np.zeros((n_x, n_p)))
        bare = replace(closure.blank_seeds(), low=p_ref, reference=start)
        self.bare_seeds = bare
        self.reference = self._reference(bare)
        self._solved: dict[tuple[int, ...], Solution] = {}
        #: The way to a position decides on which solution it ends; answers then follow the path.
        self.many_valued = False
        self._local = threading.local()
        self._positions: Array | None = None
        self._exact_box: tuple[Array, Array] | None = None
        self.seeds = self._table(cache.key_of("table", key, self.lower, self.upper))
        program.use_seeds([self.seeds], lambda k, p, first: self.rescue(p))

    def _box(self, p_ref: Array) -> tuple[Array, Array]:
        """Joint limits; half a turn or the loop's size where there are none."""
        system = self.closure.system
        lower, upper = p_ref.copy(), p_ref.copy()
        for k, i in enumerate(system.independent):
            joint = system.tree.bodies[system.joints[i]].joint
            reach = self.closure.sizes[i] * (np.pi if joint.kind == REVOLUTE else 1.0)
            low = joint.lower if np.isfinite(joint.lower) else p_ref[k] - reach
            high = joint.upper if np.isfinite(joint.upper) else p_ref[k] + reach
            lower[k] = min(p_ref[k], max(low, p_ref[k] - 2 * reach))
            upper[k] = max(p_ref[k], min(high, p_ref[k] + 2 * reach))
        return lower, upper

    def _context(self, seeds: Seeds) -> Any:
        return self.program.new_context([replace(seeds, count=np.zeros_like(seeds.count))])

    def _reference(self, seeds: Seeds) -> Solution:
        context = self._context(seeds)
        status = self.program.run_in(context, seeds.reference[0])
        if status:
            raise ClosureNotFound(
                f"submechanism '{self.name}': the reference configuration does not close natively",
                submechanism=self.name,
            )
        return self._path.newest(context)

    def assembly_signs(self, local_q: Array) -> Array:
        """Signs of the block determinants at local positions: the name of an assembly mode."""
        K_d = self.closure.numeric_K_d(local_q)
        dets = [np.linalg.det(K_d[np.ix_(r, c)]) for r, c in self.closure.plan.blocks]
        return np.sign(np.array(dets))

    # -- the table ------------------------------------------------------------------------------

    def _table(self, key: str) -> Seeds:
        """Solve every node of a grid over the box from an already solved neighbour."""
        n_p = len(self.lower)
        count = np.full(n_p, NODES.get(n_p, 0), dtype=np.int64)
        width = self.upper - self.lower
        count[width <= 0.0] = 1
        step = np.where(count > 1, width / np.maximum(count - 1, 1), 1.0)
        seeds = replace(
            self.bare_seeds,
            low=self.lower,
            step=step,
            reference=(self.reference.p, self.reference.x, self.reference.slope),
        )
        if not n_p or not np.all(count):
            return seeds
        nodes = self._cached_nodes(key, count, step)
        return replace(seeds, count=count if nodes.size else 0 * count, nodes=nodes)

    def _cached_nodes(self, key: str, count: NDArray[np.int64], step: Array) -> Array:
        """The nodes from the cache, or solved now."""
        shape = (int(np.prod(count)), self.closure.n_x * (1 + len(count)))
        found = cache.load(key)
        if found is None:
            nodes = self._solve_nodes(count, step)
            cache.store(key, {"many_valued": self.many_valued}, nodes.tobytes())
            return nodes
        self.many_valued = found[0]["many_valued"]
        if self.many_valued:
            return np.zeros((0, 0))
        nodes = np.frombuffer(found[1]).reshape(shape).copy()
        for flat in np.flatnonzero(np.isfinite(nodes[:, 0])):
            index = tuple(int(i) for i in np.unravel_index(flat, tuple(count)))
            x, slope = np.split(nodes[flat], [self.closure.n_x])
            p = self.lower + np.array(index) * step
            self._solved[index] = Solution(p, x, slope.reshape(len(x), len(p)))
        return nodes

    def _solve_nodes(self, count: NDArray[np.int64], step: Array) -> Array:
        n_p, n_x = len(count), self.closure.n_x
        nodes = np.full((int(np.prod(count)), n_x * (1 + n_p)), np.nan)
        first = np.clip(np.round((self.reference.p - self.lower) / step), 0, count - 1).astype(int)
        context = self._context(self.bare_seeds)
        # Coarse steps only: a node that needs finer ones is left to the slow path.
        start, status = self._path.follow(context, self.reference, self.lower + first * step, 1e-3)
        if status:
            return nodes
        queue = [tuple(int(i) for i in first)]
        self._solved[queue[0]] = start
        while queue:
            index = queue.pop(0)
            for axis, direction in itertools.product(range(n_p), (-1, 1)):
                neighbour = (*index[:axis], index[axis] + direction, *index[axis + 1 :])
                if not 0 <= neighbour[axis] < count[axis]:
                    continue
                target = self.lower + np.array(neighbour) * step
                found, status = self._path.follow(context, self._solved[index], target, 1e-3)
                if status:
                    continue
                if neighbour not in self._solved:
                    self._solved[neighbour] = found
                    queue.append(neighbour)
                elif self._path.differ(found, self._solved[neighbour]):
                    # Two ways to the same place end on different solutions (a cuspidal mechanism):
                    # no table can name the one that is meant.
                    self.many_valued = True
                    self._solved.clear()
                    return np.zeros((0, 0))
        for index, s in self._solved.items():
            flat = int(np.ravel_multi_index(index, tuple(count)))
            nodes[flat] = np.concatenate([s.x, s.slope.ravel()])
        return nodes

    def grid(self) -> tuple[Array, NDArray[np.bool_]]:
        """All table nodes (N, n_p), and which of them were reached."""
        seeds = self.seeds
        index = np.indices(tuple(seeds.count)).reshape(len(seeds.count), -1).T
        return seeds.low + index * seeds.step, np.isfinite(seeds.nodes[:, 0])

    def finer_grid(self) -> tuple[Array, NDArray[np.bool_]]:
        """Points between the table nodes too, and which lie beside a node that was reached."""
        seeds, shape = self.seeds, tuple(int(c) for c in self.seeds.count)
        fine = FINER.get(len(shape), 2)
        reached = np.isfinite(seeds.nodes[:, 0]).reshape(shape)
        ticks = [np.arange(fine * (c - 1) + 1) for c in shape]
        near = np.zeros([len(t) for t in ticks], dtype=bool)
        for ends in itertools.product((0, fine - 1), repeat=len(shape)):
            corner = [(t + end) // fine for t, end in zip(ticks, ends, strict=True)]
            near |= reached[np.ix_(*corner)]
        index = np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, len(shape))
        return seeds.low + index * seeds.step / fine, near.ravel()

    def reachable_box(self, exact: bool = False) -> tuple[Array, Array]:
        """The largest box of solved nodes grown from the reference, side by side.

        ``exact``: with one independent joint, go on to the singularities themselves.
        """
        if exact and self._exact_box is not None:
            return self._exact_box
        low, high = self._box_of_nodes()
        if exact and len(low) == 1 and self._has_table():
            context = self._context(self.bare_seeds)
            for end, limit in ((low, self.lower), (high, self.upper)):
                start = self.solution(end)
                end[:] = self._path.follow(context, start, limit)[0].p
        if exact:
            self._exact_box = low, high
        return low, high

    def _box_of_nodes(self) -> tuple[Array, Array]:
        seeds = self.seeds
        if not self._has_table():
            return self._sampled_box()
        shape = tuple(int(c) for c in seeds.count)
        valid = np.isfinite(seeds.nodes[:, 0]).reshape(shape) if seeds.nodes.size else None
        first = np.clip(
            np.round((self.reference.p - seeds.low) / seeds.step), 0, seeds.count - 1
        ).astype(int)
        if valid is None or not valid[tuple(first)]:
            return self.reference.p.copy(), self.reference.p.copy()
        low, high = first.copy(), first.copy()
        growing = True
        while growing:
            growing = False
            for axis, direction in itertools.product(range(len(shape)), (-1, 1)):
                new_low, new_high = low.copy(), high.copy()
                side = new_low if direction < 0 else new_high
                side[axis] += direction
                if not 0 <= side[axis] < shape[axis]:
                    continue
                part = tuple(
                    slice(int(a), int(b) + 1) for a, b in zip(new_low, new_high, strict=True)
                )
                if valid[part].all():
                    low, high, growing = new_low, new_high, True
        box = seeds.low + low * seeds.step, seeds.low + high * seeds.step
        return np.minimum(box[0], self.reference.p), np.maximum(box[1], self.reference.p)

    def _sampled_box(self) -> tuple[Array, Array]:
        """Without a table: the limits, shrunk towards the reference until samples are reached."""
        rng = np.random.default_rng(3)
        low, high = self.lower - self.reference.p, self.upper - self.reference.p
        context = self._context(self.bare_seeds)
        for factor in 0.5 ** np.arange(12):
            targets = rng.uniform(low, high, (64, len(low))) * factor + self.reference.p
            if not any(self._path.follow(context, self.reference, t, 1e-3)[1] for t in targets):
                return self.reference.p + factor * low, self.reference.p + factor * high
        return self.reference.p.copy(), self.reference.p.copy()

    def _has_table(self) -> bool:
        return bool(np.all(self.seeds.count > 0)) and self.seeds.nodes.size > 0

    def smallest_singular_value_at(self, p: Array) -> float:
        """Of the scaled K_d at independent positions ``p``."""
        n_x = self.closure.n_x
        K_d = self.program(p)[n_x + 1 :].reshape(n_x, n_x)
        return float(np.linalg.svd(K_d, compute_uv=False)[-1])

    def smallest_singular_value(self, q: Array, mech: Any, component: int) -> Any:
        """Of the scaled K_d at spanning positions ``q`` (..., n), on whatever mode they are."""
        local = q[..., [mech.q_at[b] for b in mech.components[component].joints]]
        closure = self.closure
        K_d = closure.numeric_K_d(local) / closure.row_sizes[:, None] * closure.x_sizes
        return np.linalg.svd(K_d, compute_uv=False)[..., -1]

    def turns_freely(self) -> bool:
        """One independent joint without limits, all the way round, back to the same posture."""
        system = self.closure.system
        if len(system.independent) != 1 or not self._has_table():
            return False
        joint = system.tree.bodies[system.joints[system.independent[0]]].joint
        limited = np.isfinite(joint.lower) or np.isfinite(joint.upper)
        if limited or joint.kind != REVOLUTE or not np.all(np.isfinite(self.seeds.nodes)):
            return False
        ends = [self._solved[(index,)] for index in (0, int(self.seeds.count[0]) - 1)]
        return not self._path.differ(*ends)

    def known(self) -> list[Solution]:
        """The reference and all table nodes."""
        return [self.reference, *self._solved.values()]

    def _known_positions(self) -> Array:
        """(known, n_p) their independent positions."""
        if self._positions is None:
            self._positions = np.array([s.p for s in self.known()])
        return self._positions

    def on_mode_of(self, local_q: Array, target: Array) -> tuple[Seeds, Solution]:
        """Follow the assembly mode of a (nearly) closed configuration to ``target``.

        Returns seeds that are valid on that mode, and the solution there.
        """
        start = local_q[list(self.closure.system.independent)]
        x = local_q[list(self.closure.unknown)]
        slope = np.zeros((len(x), len(start)))
        sign = self.assembly_signs(local_q)
        seeds = replace(self.bare_seeds, sign=sign, reference=(start, x, slope))
        context = self.program.new_context([seeds])
        if self.program.run_in(context, start):
            raise ClosureNotFound(
                f"submechanism '{self.name}': the guess is not near a closed configuration",
                submechanism=self.name,
                reason="branch",
            )
        found, status = self._path.follow(context, self._path.newest(context), target)
        if status:
            raise self.not_found(target, found, status)
        return replace(seeds, reference=(found.p, found.x, found.slope)), found

    def solution(self, p: Array) -> Solution:
        """The closed configuration at independent positions ``p``; raises ClosureNotFound."""
        if not hasattr(self._local, "context"):
            self._local.context = self.program.new_context([self.seeds])
        context = self._local.context
        if self.program.run_in(context, p):
            x = self.rescue(p)
            self._path.set(context, Solution(p, x, np.zeros((len(x), len(p)))))
            if self.program.run_in(context, p):
                raise ClosureNotFound(
                    f"submechanism '{self.name}' does not close at {p}", submechanism=self.name
                )
        return self._path.newest(context)

    def holds(self, local_q: Array) -> bool:
        """A closed configuration is the one that the branch has at its independent positions."""
        try:
            s = self.solution(local_q[list(self.closure.system.independent)])
        except ClosureNotFound:
            return False
        away = np.abs(local_q[list(self.closure.unknown)] - s.x) / self._path.x_scale
        distance = float(np.max(away, initial=0.0))
        if SAME < distance < NEAR:
            return bool(np.all(self.assembly_signs(local_q) == self.bare_seeds.sign))
        return distance <= SAME

    def local_q(self, s: Solution) -> Array:
        """All joints of the closure, in its local order."""
        q = np.array(self.closure.plan.q_ref)
        q[list(self.closure.system.independent)] = s.p
        q[list(self.closure.unknown)] = s.x
        return q

    def loop_jacobian(self, s: Solution) -> Array:
        """G at a solution, rows in local order."""
        G = np.zeros((len(self.closure.system.joints), len(s.p)))
        G[list(self.closure.system.independent)] = np.eye(len(s.p))
        G[list(self.closure.unknown)] = s.slope
        return G

    # -- rescue ---------------------------------------------------------------------------------

    def rescue(self, p: Array) -> Array:
        """Unknowns at ``p`` by continuation; raises ClosureNotFound with the last good one."""
        if not np.all(np.isfinite(p)):
            raise InvalidInput(f"submechanism '{self.name}': positions {p} are not finite")
        context = self._context(self.bare_seeds)
        best: tuple[float, Solution, int] | None = None
        for start in self._starts(p):
            for way in self._ways(start.p, p):
                found, status = start, 0
                for corner in way:
                    found, status = self._path.follow(context, found, corner)
                    if status:
                        break
                if status == 0:
                    return found.x
                left = float(np.linalg.norm(found.p - p))
                if best is None or left < best[0]:
                    best = (left, found, status)
        assert best is not None
        raise self.not_found(p, best[1], best[2])

    def _starts(self, p: Array) -> list[Solution]:
        """Known solutions to start from: the nearest nodes, then the reference."""
        starts: list[Solution] = []
        if self._has_table():
            known = self.known()
            away = np.abs(self._known_positions() - p) / self.seeds.step
            starts += [known[int(i)] for i in np.argsort(np.max(away, axis=1))[:2]]
        return [*starts, self.reference]

    @staticmethod
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

    def not_found(self, p: Array, last: Solution, status: int) -> ClosureNotFound:
        """The exception for ``p``, with how far the way there went."""
        singular = SOLVER <= status < CHECK
        where = ", ".join(f"{n}={v:.6g}" for n, v in zip(self.names, p, strict=True))
        stop = ", ".join(f"{n}={v:.6g}" for n, v in zip(self.names, last.p, strict=True))
        low, high = self.reachable_box(exact=True)
        box = ", ".join(
            f"{n} in [{a:.4g}, {b:.4g}]" for n, a, b in zip(self.names, low, high, strict=True)
        )
        error = ClosureNotFound(
            f"submechanism '{self.name}' cannot reach {where} on its assembly mode: the way there "
            f"meets a singularity after {stop}; reachable: {box}",
            submechanism=self.name,
            residual=self.closure.residual_at(self.local_q(replace(last, p=p))),
            reason="singular" if singular else "unreachable",
        )
        error.last_good = last  # type: ignore[attr-defined]
        return error
