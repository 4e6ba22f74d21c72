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

from .blueprint import Blueprint, Joint, Solid
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

    def add_joint(self, joint: Joint) -> None:
        """As on a blueprint; a frame that is parallel to the world stays so."""
        way = float(np.linalg.det(self._turn))
        if joint.frame is not None and way < 0.0:
            raise ValueError(f"joint '{joint.name}': a frame has no mirror image")
        drive = joint.drive
        if drive is not None:
            # The axis of a hinge is an axial vector: a mirror turns it round.
            sign = way if joint.kind == "revolute" else 1.0
            drive = replace(drive, axis=sign * self._turn @ drive.axis)
        placed = replace(
            joint,
            name=self.joint_name(joint.name),
            parent=self.link_name(joint.parent),
            child=self.link_name(joint.child),
            at=self.point(joint.at),
            frame=None if joint.frame is None else self._turn @ joint.frame,
            drive=drive,
            mimic=joint.mimic and (self.joint_name(joint.mimic[0]), joint.mimic[1]),
        )
        self._board.add_joint(placed)

    def add_solid(self, link: str, solid: Solid) -> None:
        """As on a blueprint; a solid is its own mirror image, along any of its axes."""
        way = np.diag([np.linalg.det(self._turn), 1.0, 1.0])
        placed = replace(solid, at=self.point(solid.at), rotation=self._turn @ solid.rotation @ way)
        self._board.add_solid(self.link_name(link), placed)
