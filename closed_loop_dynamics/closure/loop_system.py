"""The constraints of one loop cluster over its local joint vector: phi(q) = 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engine.symbolic import ca
from ..model.clusters import Component
from ..model.submechanism import Coupling
from ..model.tree import PRISMATIC, Tree
from ..spatial import SX
from .cut_joint import CutJoint, residual, resolve


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
        flags = []
        for cut in self.cuts:
            flags += [True] * len(cut.translations) + [False] * len(cut.rotations)
        for c in self.couplings:
            body = self.tree.bodies[self.tree.joint_index(c.joint)]
            flags.append(body.joint.kind == PRISMATIC)
        return np.array(flags, dtype=bool)

    @property
    def column_is_length(self) -> NDArray[np.bool_]:
        """True for prismatic joints."""
        return np.array([self.tree.bodies[b].joint.kind == PRISMATIC for b in self.joints])

    def names(self, positions: Sequence[int]) -> list[str]:
        """Joint names at local positions."""
        return [self.tree.bodies[self.joints[i]].joint.name for i in positions]

    def phi(self, q: SX) -> SX:
        """All rows at the local joint vector."""
        at = {body: q[i] for i, body in enumerate(self.joints)}
        rows = [residual(self.tree, cut, at) for cut in self.cuts]
        for c in self.couplings:
            terms = [r * at[self.tree.joint_index(name)] for name, r in c.terms.items()]
            rows.append(at[self.tree.joint_index(c.joint)] - sum(terms, ca.SX(c.offset)))
        return ca.vertcat(*rows)


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
