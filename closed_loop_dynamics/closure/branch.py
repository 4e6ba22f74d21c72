"""Staying on the branch of a numerical closure.

The native Newton loop refuses a start that is not certified to lead to the wanted branch. Then a
path is followed in small certified steps (:mod:`.continuation`): from the nearest known solution
(:mod:`.seed_table`), or from the reference, to the requested positions. Where no such path exists
the answer is ClosureNotFound, never another assembly mode.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..engine import Program, Seeds, cache
from ..engine.layout import CHECK, SOLVER
from ..errors import ClosureNotFound, InvalidInput
from ..model.tree import REVOLUTE
from .continuation import Continuation, Solution
from .numerical import NumericalClosure
from .rank import determinants
from .seed_table import COARSE_STEP, MARGIN, Box, SeedTable, limit_box, margins, sampled_box

#: Closed configurations that differ by less [rad, or loop lengths] are one, by more are two; in
#: between, near a singularity, rounding is magnified and two solutions meet: their signs decide.
SAME, NEAR = 1e-8, 1e-3
#: So far behind a singularity that was found [rad or m] nobody has to look for a way again.
BEHIND = 1e-6
#: Random positions that are tried for one that closes.
DRAWS = 100


class Branch:
    """One numerical closure together with what is known about its branch.

    Attributes:
        closure: the closure; name: of its submechanism; names: its independent joints.
        lower, upper: the box the table covers (joint limits, the reference included).
        margin: how far beyond its sides the branch is known natively (see :meth:`go_beyond`).
        reference: the closed configuration that the branch goes through.
        table: solutions on a grid over the box.
        seeds: table and reference for the native loop.
    """

    def __init__(
        self, closure: NumericalClosure, program: Program, key: str, box: Box | None = None
    ) -> None:
        """Build or fetch the table; ``key`` names the closure in the cache."""
        self.closure = closure
        self.program = program
        system = closure.system
        self.name = system.name
        self.names = system.names(system.independent)
        q_ref = np.array(closure.plan.q_ref)
        p_ref, x_ref = q_ref[list(system.independent)], q_ref[list(closure.unknown)]
        self.lower, self.upper = box or limit_box(closure, p_ref)
        share = MARGIN * (self.upper - self.lower)
        self.margin = margins(closure, (self.lower, self.upper)) if box is None else (share, share)
        start = (p_ref, x_ref, np.zeros((len(x_ref), len(p_ref))))
        bare = replace(closure.blank_seeds(), reference=start)
        self._path = Continuation(closure, program, bare)
        self.reference = self._closed_reference(p_ref)
        self._key = cache.key_of("table", key, self.lower, self.upper)
        self.table = SeedTable(self._path, self.reference, (self.lower, self.upper), self._key)
        self._boxes: dict[bool, Box] = {}
        self._ends: list[tuple[Solution, float, int]] = []
        self._start_from(self.table)

    def _start_from(self, table: SeedTable) -> None:
        """Let Newton and continuation start from the nodes of a table."""
        reference = self.reference
        self.seeds = replace(
            self._path.seeds,
            low=table.low,
            step=table.step,
            count=table.count,
            nodes=table.nodes,
            reference=(reference.p, reference.x, reference.slope),
        )
        self._widest = table
        self._local = threading.local()
        self.program.use_seeds([self.seeds], lambda k, p, first: self.rescue(p))

    def go_beyond(self) -> None:
        """Start from nodes beyond the limits, too: robots rest on their stops."""
        wide = self.table.widened(self.margin, cache.key_of("wide", self._key, self.margin))
        if wide is not self.table:
            self._start_from(wide)

    def beyond(self, below: Array, above: Array) -> list[Solution] | None:
        """Where the outermost nodes lead, pushed out by so much (n_p,); None: not all of them."""
        context, last = self._path.context(), self.table.count - 1
        pushed: list[Solution] = []
        for index, s in self.table.solved.items():
            at = np.array(index)
            target = s.p - np.where(at == 0, below, 0.0) + np.where(at == last, above, 0.0)
            if np.any(target != s.p):
                found, status = self._path.follow(context, s, target, COARSE_STEP)
                if status:
                    return None
                pushed.append(found)
        return pushed

    def _closed_reference(self, p_ref: Array) -> Solution:
        context = self._path.context()
        if self.program.run_in(context, p_ref):
            raise ClosureNotFound(
                f"submechanism '{self.name}': the reference configuration does not close natively",
                submechanism=self.name,
            )
        return self._path.newest(context)

    # -- closed configurations ------------------------------------------------------------------

    def known(self) -> list[Solution]:
        """The reference and all table nodes."""
        return [self.reference, *self.table.solved.values()]

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

    def on_mode_of(self, local_q: Array, target: Array) -> tuple[Seeds, Solution]:
        """Follow the assembly mode of a (nearly) closed configuration to ``target``.

        Returns seeds that are valid on that mode, and the solution there.
        """
        start = local_q[list(self.closure.system.independent)]
        x = local_q[list(self.closure.unknown)]
        slope = np.zeros((len(x), len(start)))
        sign = self.assembly_signs(local_q)
        seeds = replace(self._path.seeds, sign=sign, reference=(start, x, slope))
        context = self.program.new_context([seeds])
        if self.program.run_in(context, start):
            raise ClosureNotFound(
                f"submechanism '{self.name}': the guess is not near a closed configuration",
                submechanism=self.name,
                reason="branch",
            )
        found, status = self._path.follow(context, self._path.newest(context), target)
        if status:
            raise self._not_found(target, found, status)
        return replace(seeds, reference=(found.p, found.x, found.slope)), found

    def holds(self, local_q: Array) -> bool:
        """A closed configuration is the one that the branch has at its independent positions."""
        try:
            s = self.solution(local_q[list(self.closure.system.independent)])
        except ClosureNotFound:
            return False
        away = np.abs(local_q[list(self.closure.unknown)] - s.x) / self._path.x_scale
        distance = float(np.max(away, initial=0.0))
        if SAME < distance < NEAR:
            return bool(np.all(self.assembly_signs(local_q) == self._path.seeds.sign))
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

    # -- assembly modes and singularities -------------------------------------------------------

    def assembly_signs(self, local_q: Array) -> Array:
        """Signs of the block determinants at local positions: the name of an assembly mode."""
        K_d = self.closure.numeric_K_d(local_q)
        return np.sign(determinants(K_d, self.closure.plan.blocks))

    def smallest_singular_value_at(self, p: Array) -> float:
        """Of the scaled K_d at independent positions ``p``."""
        K_d = self.closure.outputs.views(self.program(p))["K_d"]
        return float(np.linalg.svd(K_d, compute_uv=False)[-1])

    def smallest_singular_value(self, local_q: Array) -> Any:
        """Of the scaled K_d at local positions (..., n), on whatever mode they are."""
        closure = self.closure
        K_d = closure.numeric_K_d(local_q) / closure.row_sizes[:, None] * closure.x_sizes
        return np.linalg.svd(K_d, compute_uv=False)[..., -1]

    def turns_freely(self) -> bool:
        """One independent joint without limits, all the way round, back to the same posture."""
        system = self.closure.system
        if len(system.independent) != 1 or not self.table.filled:
            return False
        joint = system.joint(system.independent[0])
        limited = np.isfinite(joint.lower) or np.isfinite(joint.upper)
        if limited or joint.kind != REVOLUTE or not np.all(self.table.reached):
            return False
        ends = [self.table.solved[(index,)] for index in (0, int(self.table.count[0]) - 1)]
        return not self._path.differ(*ends)

    # -- the reachable set ----------------------------------------------------------------------

    def reachable_box(self, exact: bool = False) -> Box:
        """The largest box of solved nodes grown from the reference, side by side.

        ``exact``: with one independent joint, go on to the singularities themselves.
        """
        if exact not in self._boxes:
            self._boxes[exact] = self._exact_box() if exact else self._box()
        low, high = self._boxes[exact]
        return low.copy(), high.copy()

    def _box(self) -> Box:
        if self.table.filled:
            return self.table.box(self.reference.p)
        return sampled_box(self._path, self.reference, (self.lower, self.upper))

    @property
    def reach_is_exact(self) -> bool:
        """Whether ``reachable_box(exact=True)`` ends at limits and singularities."""
        return len(self.names) == 1 and bool(self.table.filled)

    def _exact_box(self) -> Box:
        low, high = self.reachable_box()
        if not self.reach_is_exact:
            return low, high
        context = self._path.context()
        ends = ((low, self.lower), (high, self.upper))
        low, high = (self._path.follow(context, self.solution(p), to)[0].p for p, to in ends)
        return low, high

    def random(self, rng: np.random.Generator) -> Array:
        """(n_p,) independent positions that the loop reaches within its limits, boxes or not."""
        for _ in range(DRAWS):
            p = rng.uniform(self.lower, self.upper)
            with suppress(ClosureNotFound):
                self.solution(p)
                return p
        return rng.uniform(*self.reachable_box())  # hardly anything is reached: the box is it

    # -- the slow way ---------------------------------------------------------------------------

    def rescue(self, p: Array) -> Array:
        """Unknowns at ``p`` by continuation; raises ClosureNotFound with the last good one."""
        if not np.all(np.isfinite(p)):
            raise InvalidInput(f"submechanism '{self.name}': positions {p} are not finite")
        for end, way, status in self._ends:
            if way * (p[0] - end.p[0]) > BEHIND:
                raise self._not_found(p, end, status)
        found, status = self._path.search(self._starts(p), p)
        if not status:
            return found.x
        if len(p) == 1 and status != SOLVER:  # a single joint has one way, and this is its end
            self._ends.append((found, float(np.sign(p[0] - found.p[0])), status))
        raise self._not_found(p, found, status)

    def _starts(self, p: Array) -> Iterator[Solution]:
        """Known solutions to start from: the nearest nodes, then the reference."""
        if self.table.filled:
            yield from self._widest.nearest(p, 2)
        yield self.reference

    def _not_found(self, p: Array, last: Solution, status: int) -> ClosureNotFound:
        """The exception for ``p``, with how far the way there went."""
        singular = SOLVER <= status < CHECK
        where = ", ".join(f"{n}={v:.6g}" for n, v in zip(self.names, p, strict=True))
        stop = ", ".join(f"{n}={v:.6g}" for n, v in zip(self.names, last.p, strict=True))
        low, high = self.reachable_box(exact=True)
        box = ", ".join(
            f"{n} in [{a:.4g}, {b:.4g}]" for n, a, b in zip(self.names, low, high, strict=True)
        )
        least = "" if self.reach_is_exact else " at least"
        return ClosureNotFound(
            f"submechanism '{self.name}' cannot reach {where} on its assembly mode: the way there "
            f"meets a singularity after {stop}; reachable{least}: {box}",
            submechanism=self.name,
            residual=self.closure.residual_at(self.local_q(replace(last, p=p))),
            last_good=last,
            reason="singular" if singular else "unreachable",
        )
