"""A closed-form leg: what every kind offers, and the list in which each kind enters itself.

A new kind is one class, decorated with :func:`register`, in a file ``legs_*.py`` beside this one.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np

from ..spatial import SX, sx
from .block import Block, Side
from .cut_joint import CutJoint, joint_pose
from .loop_system import LoopSystem

#: Words for + and - of every two-way choice.
ModeWords = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Leg(abc.ABC):
    """The unknown joints of one block as expressions in what is known before.

    Attributes:
        columns: local positions of the unknowns, in the order :meth:`solve` returns them.
    """

    system: LoopSystem
    columns: tuple[int, ...]

    #: The signs of the choices name the assembly mode.
    mode_words: ClassVar[ModeWords] = ()
    #: Angles come with their full turns; those of other legs are within one.
    counts_turns: ClassVar[bool] = False
    #: Kinds of higher priority are asked first.
    priority: ClassVar[int] = 0

    @property
    def name(self) -> str:
        """The kind of leg, in words."""
        words = "".join(f" {ch.lower()}" if ch.isupper() else ch for ch in type(self).__name__)
        return words.strip()

    @classmethod
    @abc.abstractmethod
    def match(cls, block: Block) -> Leg | None:
        """The block as a leg of this kind; None when it has another shape.

        Raises:
            NotClosedForm: the shape is right, but the dimensions do not fit.
        """

    @abc.abstractmethod
    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        """Unknown positions in the order of ``columns``.

        Args:
            q: positions of the joints that are known so far, by local joint.
            modes: +1 or -1 for each two-way choice.
        """


K = TypeVar("K", bound=type[Leg])

#: All kinds, in the order in which they are asked.
KINDS: list[type[Leg]] = []


def register(kind: K) -> K:
    """Class decorator: blocks are tried as this kind of leg, too."""
    KINDS.append(kind)
    KINDS.sort(key=lambda each: -each.priority)
    return kind


class Shape(NamedTuple):
    """Unknown joints such as "RRP" on the leg's own side of the cut, on the other, and rows."""

    own: str
    other: str
    translations: int
    rotations: int


@dataclass(frozen=True, eq=False)
class ChainLeg(Leg):
    """A leg whose unknown joints lie on the chains to one cut; known by its shape.

    Attributes:
        side: the side that holds the leg's own joints.
        is_successor: of ``side``.
    """

    cut: CutJoint
    side: Side
    other: Side
    is_successor: bool

    shapes: ClassVar[tuple[Shape, ...]] = ()

    @classmethod
    def match(cls, block: Block) -> Leg | None:
        if block.cut is None:
            return None
        a, b = block.sides
        for side, other, is_successor in ((a, b, False), (b, a, True)):
            shape = Shape(side.kinds, other.kinds, block.translations, block.rotations)
            if shape in cls.shapes:
                columns = tuple(s.position for s in (*side.steps, *other.steps))
                leg = cls(block.system, columns, block.cut, side, other, is_successor)
                leg.check()
                return leg
        return None

    def check(self) -> None:
        """Raise NotClosedForm when the dimensions do not fit this kind of leg."""

    def base(self, side: Side, q: dict[int, SX]) -> tuple[SX, SX]:
        """(R, x) of the last known body of a side, in the loop's base frame."""
        R, x = sx(np.eye(3)), sx(np.zeros(3))
        for b in side.known:
            R_b, p_b = joint_pose(self.system.tree, b, q[self.system.local[b]])
            R, x = R @ R_b, x + R @ p_b
        return R, x

    def target(self, q: dict[int, SX]) -> SX:
        """The cut point of the other side (fully known), seen from the first joint of the leg."""
        R_o, x_o = self.base(self.other, q)
        return self.inside(self.side, q, x_o + R_o @ sx(self.other.tip[:3, 3]))

    def own_direction(self) -> SX:
        """The direction that the rotation rows hold, in the last body of the leg's own side."""
        return sx(self.side.tip[:3, :3] @ self.cut.direction(self.is_successor))

    def known_direction(self, q: dict[int, SX]) -> SX:
        """That of the other side (fully known), in the frame of the leg's first joint."""
        (R, _), (R_o, _) = self.base(self.side, q), self.base(self.other, q)
        known = R_o @ sx(self.other.tip[:3, :3] @ self.cut.direction(not self.is_successor))
        return sx(self.side.steps[0].placement[:3, :3]).T @ (R.T @ known)

    def inside(self, side: Side, q: dict[int, SX], point: SX) -> SX:
        """A point of the base frame in the frame of the first unknown joint of a side."""
        R, x = self.base(side, q)
        first = side.steps[0].placement
        return sx(first[:3, :3]).T @ (R.T @ (point - x) - sx(first[:3, 3]))

    def outside(self, side: Side, q: dict[int, SX], point: SX) -> SX:
        """A point in the frame of the first unknown joint of a side in the base frame."""
        R, x = self.base(side, q)
        first = side.steps[0].placement
        return x + R @ (sx(first[:3, 3]) + sx(first[:3, :3]) @ point)
