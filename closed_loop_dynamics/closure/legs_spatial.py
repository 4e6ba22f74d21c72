"""Spatial closed-form legs: rods on universal joints, cranks and sliders, spherical dyads."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..engine.symbolic import ca
from ..model.tree import PRISMATIC
from ..spatial import SX, rotation, sx
from .block import GEOMETRY_TOLERANCE, Step
from .leg import ChainLeg, ModeWords, Shape, register
from .leg_geometry import meeting_point, parallel, point_two_hinges, require
from .subproblems import across, cosine_equation, stroke, turn_to_projection


@register
class PointingLeg(ChainLeg):
    """R R P: a rod from a universal joint to a known point."""

    shapes = (Shape("RRP", "", 3, 0),)
    mode_words: ClassVar[ModeWords] = (("rod_out", "rod_in"), ("cross_up", "cross_down"))

    def check(self) -> None:
        meeting_point(self.side.steps[0], self.side.steps[1])

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        return self.reach(self.target(q), modes)

    def reach(self, target: SX, modes: tuple[float, ...]) -> list[SX]:
        """The three positions for a target in the frame of the first joint."""
        first, second, slider = self.side.steps
        along1, along2 = meeting_point(first, second)
        end = target - sx(first.axis * along1)
        # In the second body, with the meeting point as origin.
        start = sx((slider.placement @ self.side.tip)[:3, 3] - second.axis * along2)
        direction = sx(slider.placement[:3, :3] @ slider.axis)
        d = stroke(start, direction, ca.dot(end, end), modes[0])
        arm = start + d * direction
        angle1, angle2 = point_two_hinges(first, second, (along1, along2), arm, end, modes[1])
        return [angle1, angle2, d]


@register
class HingedLeg(PointingLeg):
    """R R P | R: the rod ends on a link that swings on the platform (2-SPRR+1U).

    The rod must pass through the universal joint; then the second hinge h of the swinging link,
    normal to the rod, gives one equation for its angle.
    """

    shapes = (Shape("RRP", "R", 3, 1),)
    mode_words = (*PointingLeg.mode_words, ("hinge_up", "hinge_down"))

    def check(self) -> None:
        first, second, slider = self.side.steps
        _, along2 = meeting_point(first, second)
        start = (slider.placement @ self.side.tip)[:3, 3] - second.axis * along2
        direction = slider.placement[:3, :3] @ slider.axis
        off = float(np.linalg.norm(start - direction * float(start @ direction)))
        require(
            off < GEOMETRY_TOLERANCE, f"the rod misses its universal joint by {1e3 * off:.3g} mm"
        )
        rod = (slider.placement @ self.side.tip)[:3, :3] @ self.cut.direction(self.is_successor)
        require(parallel(rod, direction), "the free axis of the cut is not along the rod")

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        first, second, _ = self.side.steps
        (hinge,) = self.other.steps
        along1, _ = meeting_point(first, second)
        universal = self.outside(self.side, q, sx(first.axis * along1))
        centre = self.inside(self.other, q, universal)
        h = sx(self.other.tip[:3, :3] @ self.cut.direction(not self.is_successor))
        c = sx(self.other.tip[:3, 3])
        # h(angle) . (centre - c(angle)) = 0, and h . c does not depend on the angle.
        angle = turn_to_projection(sx(hinge.axis), h, centre, ca.dot(h, c), modes[2])
        end = self.outside(self.other, q, rotation(hinge.axis, angle) @ c)
        return [*self.reach(self.inside(self.side, q, end), modes), angle]


@register
class CrankLeg(ChainLeg):
    """A crank or slider, then a rod on two hinges that meet: circle or line against sphere."""

    shapes = (
        Shape("RRR", "", 3, 0),
        Shape("PRR", "", 3, 0),
        Shape("R", "RR", 3, 0),
        Shape("P", "RR", 3, 0),
    )
    mode_words = (("crank_up", "crank_down"), ("rod_up", "rod_down"))

    def check(self) -> None:
        steps = (*self.side.steps, *self.other.steps)
        meeting_point(steps[-2], steps[-1])

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        return self._across(q, modes) if self.other.steps else self._one_side(q, modes)

    def _one_side(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        """Drive, hinge, hinge, cut: the rod ends at a known point."""
        drive, first, second = self.side.steps
        along1, along2 = meeting_point(first, second)
        target = self.target(q)
        pin = (first.placement @ np.append(first.axis * along1, 1.0))[:3]
        arm = self.side.tip[:3, 3] - second.axis * along2
        value = _reach_with(drive, sx(pin), target, float(arm @ arm), modes[0])
        end = sx(first.placement[:3, :3]).T @ (_moved(drive, -value, target) - sx(pin))
        angles = point_two_hinges(first, second, (along1, along2), sx(arm), end, modes[1])
        return [value, *angles]

    def _across(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        """Drive | hinge, hinge: the rod hangs on the other side and ends at the drive's tip."""
        (drive,), (first, second) = self.side.steps, self.other.steps
        along1, along2 = meeting_point(first, second)
        pin = sx(first.axis * along1)
        centre = self.inside(self.side, q, self.outside(self.other, q, pin))
        arm = self.other.tip[:3, 3] - second.axis * along2
        tip = sx(self.side.tip[:3, 3])
        value = _reach_with(drive, tip, centre, float(arm @ arm), modes[0])
        end = self.outside(self.side, q, _moved(drive, value, tip))
        end = self.inside(self.other, q, end) - pin
        angles = point_two_hinges(first, second, (along1, along2), sx(arm), end, modes[1])
        return [value, *angles]


def _reach_with(drive: Step, start: SX, centre: SX, rod_squared: float, mode: float) -> SX:
    """Position of a crank (or slider) that puts ``start`` at a distance from ``centre``."""
    if drive.kind == PRISMATIC:
        return stroke(start - centre, sx(drive.axis), rod_squared, mode)
    w = sx(drive.axis)
    a, b = across(w, start), across(w, centre)
    C = 0.5 * (ca.dot(start, start) + ca.dot(centre, centre) - rod_squared)
    C = C - ca.dot(w, start) * ca.dot(w, centre)
    return cosine_equation(ca.dot(a, b), ca.dot(b, ca.cross(w, a)), C, mode)


def _moved(drive: Step, value: SX, point: SX) -> SX:
    """A point of the body that a crank (or slider) moves, in the frame of the joint."""
    if drive.kind == PRISMATIC:
        return point + sx(drive.axis) * value
    return rotation(drive.axis, value) @ point


@register
class SphericalDyad(ChainLeg):
    """R R whose axes meet in the centre of a spherical mechanism: point a direction (3-RRR)."""

    shapes = (Shape("RR", "", 0, 2),)
    mode_words = (("elbow_up", "elbow_down"),)

    def check(self) -> None:
        first, second = self.side.steps
        w2 = second.placement[:3, :3] @ second.axis
        require(not parallel(first.axis, w2), "the two hinges of the leg are parallel")

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        first, second = self.side.steps
        arm, end = self.own_direction(), self.known_direction(q)
        return list(point_two_hinges(first, second, (0.0, 0.0), arm, end, modes[0]))


@register
class LockedHinge(ChainLeg):
    """R alone: a direction of the link must stay normal to a known one."""

    shapes = (Shape("R", "", 0, 1),)
    mode_words = (("hinge_up", "hinge_down"),)

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        (hinge,) = self.side.steps
        h, known = self.own_direction(), self.known_direction(q)
        return [turn_to_projection(sx(hinge.axis), h, known, 0.0, modes[0])]
