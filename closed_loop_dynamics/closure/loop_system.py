"""The constraints of one loop cluster over its local joint vector: phi(q) = 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..engine.symbolic import ca
from ..model.clusters import Component
from ..model.submechanism import Coupling
from ..model.tree import PRISMATIC, Joint, Tree
from ..spatial import SX
from .cut_joint import CutJoint, resolve
from .cut_kinematics import CutMotion, Moved, stacked


@dataclass(frozen=True, eq=False)
class LoopSystem:
    """The constraints of one cluster over its local joint vector.

    Attributes:
        name: of the submechanism.
        joints: bodies, local order; ``independent`` are positions in it.
        couplings: linear rows q_j - sum(r q) - offset = 0.
    """

    name: str
    tree: Tree
    joints: tuple[int, ...]
    independent: tuple[int, ...]
    cuts: tuple[CutJoint, ...]
    couplings: tuple[Coupling, ...]

    @property
    def dependent(self) -> tuple[int, ...]:
        """Local positions of the other joints."""
        return tuple(i for i in range(len(self.joints)) if i not in self.independent)

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each row of phi."""
        loops = [label for cut in self.cuts for label in cut.labels]
        return (*loops, *(f"coupling of {c.joint}" for c in self.couplings))

    @property
    def row_is_length(self) -> NDArray[np.bool_]:
        """True for rows measured in metres."""
        flags = [k < len(cut.translations) for cut in self.cuts for k in range(len(cut.labels))]
        coupled = [self.local[self.tree.joint_index(c.joint)] for c in self.couplings]
        return np.array([*flags, *self.column_is_length[coupled]], dtype=bool)

    @property
    def column_is_length(self) -> NDArray[np.bool_]:
        """True for prismatic joints."""
        return np.array([self.tree.bodies[b].joint.kind == PRISMATIC for b in self.joints])

    def joint(self, i: int) -> Joint:
        """The joint at a local position."""
        return self.tree.bodies[self.joints[i]].joint

    @cached_property
    def local(self) -> dict[int, int]:
        """Body -> its local position."""
        return {body: i for i, body in enumerate(self.joints)}

    def names(self, positions: Sequence[int]) -> list[str]:
        """Joint names at local positions."""
        return [self.joint(i).name for i in positions]

    # -- natural sizes --------------------------------------------------------------------------
    #
    # They make K dimensionless. A hinge of a loop moves by radians and a slider by the loop's
    # length. A rotor behind a gear of ratio 100 moves by a hundred radians while the loop moves by
    # one: measured in radians it would look like a joint that hardly takes part, and its row like
    # one that says little of the others.

    def column_sizes(self, length: float) -> Array:
        """(n,) size of each joint [rad or m]; ``length`` is that of the loop."""
        sizes = np.where(self.column_is_length, length, 1.0)
        known = {self.local[b] for cut in self.cuts for b in cut.bodies if b in self.local}
        rows = self.coupling_rows()
        for _ in rows:  # as often as the longest chain of couplings needs
            for row in rows:
                unknown = [i for i in row if i not in known]
                if len(unknown) == 1 and len(row) > 1:
                    (new,) = unknown
                    largest = max(abs(row[i]) * sizes[i] for i in row if i != new)
                    sizes[new] = largest / abs(row[new]) if largest > 0.0 else sizes[new]
                    known.add(new)
        return sizes

    def row_sizes(self, length: float) -> Array:
        """(rows,) size of each row of phi [rad or m]."""
        sizes = np.where(self.row_is_length, length, 1.0)
        columns = self.column_sizes(length)
        first = len(sizes) - len(self.couplings)
        for k, row in enumerate(self.coupling_rows(), first):
            sizes[k] = max(abs(r) * columns[i] for i, r in row.items())
        return sizes

    def coupling_rows(self) -> list[dict[int, float]]:
        """Per coupling: local joint -> its factor; what has no influence is left out."""
        rows = []
        for coupling in self.couplings:
            factors = {coupling.joint: 1.0, **{name: -r for name, r in coupling.terms.items() if r}}
            rows.append({self.local[self.tree.joint_index(n)]: r for n, r in factors.items()})
        return rows

    def motion(
        self,
        q: SX,
        qd: SX | None = None,
        qdd: SX | None = None,
        along: tuple[SX, SX] | None = None,
    ) -> Moved:
        """All rows at the local joint vector, K and, for velocities ``qd``, K̇ q̇.

        With accelerations ``qdd`` the bias is the whole second derivative, K̇ q̇ + K q̈. ``along``:
        directions (n, d) of q and of qd, in which it changes too.
        """
        if along is None and qdd is None:
            return Moved(*(self._at_rest(q) if qd is None else self._at_speed(q, qd)))
        qd, qdd = (ca.SX.zeros(len(self.joints)) if x is None else x for x in (qd, qdd))
        return self._traced(q, qd, qdd, *(along or 2 * (ca.SX(len(self.joints), 0),)))

    # Traced once: what is called for again repeats it without Python.

    @cached_property
    def _at_rest(self) -> Any:
        """Function q -> the rows."""
        n = len(self.joints)
        q, none = ca.SX.sym("q", n), ca.SX(n, 0)
        rest = ca.SX.zeros(n)
        return ca.Function("rows", [q], self._traced(q, rest, rest, none, none, moving=False))

    @cached_property
    def _at_speed(self) -> Any:
        """Function (q, qd) -> the rows."""
        n = len(self.joints)
        q, qd, none = ca.SX.sym("q", n), ca.SX.sym("qd", n), ca.SX(n, 0)
        return ca.Function("rows", [q, qd], self._traced(q, qd, ca.SX.zeros(n), none, none))

    def _traced(self, q: SX, qd: SX, qdd: SX, dq: SX, dqd: SX, moving: bool = True) -> Moved:
        cuts = CutMotion(self.tree, self.local, q, qd, qdd, dq, dqd, moving)
        rows = [cuts.rows(cut) for cut in self.cuts]
        for coupling, factors in zip(self.couplings, self.coupling_rows(), strict=True):
            K = ca.SX.zeros(1, len(self.joints))
            for i, factor in factors.items():
                K[i] = factor
            changes = K @ dq, K @ dqd, ca.SX.zeros(1, dq.shape[1])
            rows.append(Moved(K @ q - coupling.offset, K, K @ qd, K @ qdd, *changes))
        return stacked(rows)

    def phi(self, q: SX) -> SX:
        """All rows at the local joint vector."""
        return self.motion(q).value


def loop_system(tree: Tree, component: Component) -> LoopSystem:
    """The loops and couplings of a component; raises SubmechanismError for foreign joints."""
    return LoopSystem(
        component.entry.name,
        tree,
        component.joints,
        tuple(component.joints.index(b) for b in component.independent),
        tuple(resolve(tree, component.entry, loop) for loop in component.loops),
        component.couplings,
    )
