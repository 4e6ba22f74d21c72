"""A part of a larger robot, drawn in coordinates and names of its own.

The drawing functions of the mechanisms take a :class:`Placed` in place of a blueprint: what they
draw on ``base_link`` then lands on a link of the larger robot, shifted and turned or mirrored. A
left arm drawn once is thus also the right one; a hinge of a mirrored part turns the other way
round, so that the same positions give a mirrored posture.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from closed_loop_dynamics.arrays import Array

from .blueprint import Blueprint, Limits, rotation, rpy_of
from .loop_file import POINT, Cut, Entry

#: As drawn, mirrored in the plane x-z, turned by half a turn about x.
UPRIGHT, MIRRORED, UPSIDE_DOWN = (
    np.diag(signs) for signs in ((1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (1.0, -1.0, -1.0))
)


class Placed(Blueprint):
    """Draws on another blueprint.

    Args:
        board: the larger robot, or a part of it.
        prefix: for the names of joints and links.
        parent: the link of ``board`` that ``base_link`` stands for.
        at: the place of the part's origin on ``board``.
        turn: (3, 3) rotation, or rotation and mirror, from the part to ``board``.
    """

    def __init__(
        self,
        board: Blueprint,
        prefix: str,
        parent: str = "base_link",
        at: ArrayLike = (0.0, 0.0, 0.0),
        turn: ArrayLike = UPRIGHT,
    ) -> None:
        super().__init__(board.name)
        self._board, self._prefix, self._parent = board, prefix, parent
        self._at, self._turn = np.asarray(at, dtype=float), np.asarray(turn, dtype=float)

    def joint_name(self, local: str) -> str:
        """The joint's name on the larger robot's drawing."""
        return f"{self._prefix}{local}"

    def link_name(self, local: str) -> str:
        """The link's name on the larger robot's drawing."""
        return self._parent if local == "base_link" else f"{self._prefix}{local}"

    def point(self, local: ArrayLike) -> Array:
        """A point of the part on the larger robot's drawing."""
        return np.asarray(self._at + self._turn @ np.asarray(local, dtype=float))

    def entry(self, entry: Entry, contextual: str = "") -> Entry:
        """A submechanism of the part in the larger robot's names."""
        cuts = [
            replace(
                cut,
                joint=self.joint_name(cut.joint),
                predecessor=self.link_name(cut.predecessor),
                successor=self.link_name(cut.successor),
                rows=self._rows(cut),
                axis=None if cut.axis is None else self._turn @ np.asarray(cut.axis),
                rotations=[self._turn @ np.asarray(axis) for axis in cut.rotations],
            )
            for cut in entry.cuts
        ]
        own = entry.contextual or contextual
        return entry.renamed(self.joint_name(own) if own else "", self.joint_name, cuts)

    def _rows(self, cut: Cut) -> tuple[str, ...] | str:
        """Rows by name are along the axes of the drawing: all three, or axes that stay axes."""
        along_axes = np.array_equal(np.abs(self._turn), np.eye(3))
        if isinstance(cut.rows, str) or cut.rows in ((), POINT) or along_axes:
            return cut.rows
        raise ValueError(f"cut '{cut.joint}': rows {cut.rows} of a part that is turned askew")

    # -- what a blueprint draws with ------------------------------------------------------------

    def frame(
        self, name: str, parent: str, at: ArrayLike, rotation: ArrayLike | None = None
    ) -> str:
        """As on a blueprint; the frame stays parallel to the world."""
        if rotation is not None:
            raise ValueError(f"frame '{name}': a placed part has no turned frames")
        self._board.frame(self.joint_name(name), self.link_name(parent), self.point(at))
        return f"{name}_tip"

    def _move(
        self,
        name: str,
        kind: str,
        parent: str,
        at: ArrayLike,
        axis: ArrayLike,
        limits: Limits,
        drive: tuple[float, float],
        link: str,
        mimic: tuple[str, float] | None,
    ) -> str:
        # The axis of a hinge is an axial vector: a mirror turns it round.
        way = float(np.linalg.det(self._turn)) if kind == "revolute" else 1.0
        child = link or f"{name}_link"
        self._board._move(
            self.joint_name(name),
            kind,
            self.link_name(parent),
            self.point(at),
            way * self._turn @ np.asarray(axis, dtype=float),
            limits,
            drive,
            self.link_name(child),
            None if mimic is None else (self.joint_name(mimic[0]), mimic[1]),
        )
        return child

    def _solid(
        self,
        link: str,
        shape: str,
        mass: float,
        at: Array,
        rpy: tuple[float, float, float],
        moments: Array,
        color: str,
    ) -> None:
        # The solids are their own mirror images, so a mirror may be taken out along any axis.
        way = np.diag([1.0, 1.0, np.linalg.det(self._turn)])
        turned = rpy_of(self._turn @ rotation(rpy) @ way)
        self._board._solid(
            self.link_name(link), shape, mass, self.point(at), turned, moments, color
        )
