"""Planar closed-form legs: a rod with a slider, and two bars."""

from __future__ import annotations

from typing import ClassVar

from ..engine.symbolic import ca
from ..spatial import SX, rotation, sx
from .leg import GEOMETRY_TOLERANCE, Leg, Step, parallel, require
from .subproblems import across, cosine_equation, stroke, turn


class PlanarStroke(Leg):
    """R P in a plane: the rod's length from the distance, then its direction."""

    mode_words: ClassVar[tuple[tuple[str, str], ...]] = (("rod_out", "rod_in"),)

    def check(self) -> None:
        hinge, slider = self.side.steps
        direction = slider.placement[:3, :3] @ slider.axis
        require(
            abs(float(hinge.axis @ direction)) < GEOMETRY_TOLERANCE,
            "the slider does not move in the plane of the loop",
        )

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        hinge, slider = self.side.steps
        w = sx(hinge.axis)
        t = across(w, self.target(q))
        direction = sx(slider.placement[:3, :3] @ slider.axis)
        start = across(w, sx((slider.placement @ self.side.tip)[:3, 3]))
        d = stroke(start, direction, ca.dot(t, t), modes[0])
        return [turn(w, start + d * direction, t), d]


class PlanarDyad(Leg):
    """R R in a plane, on one side of the cut: two circles."""

    mode_words: ClassVar[tuple[tuple[str, str], ...]] = (("elbow_up", "elbow_down"),)

    def check(self) -> None:
        first, second = self.side.steps
        require(
            parallel(first.axis, second.placement[:3, :3] @ second.axis),
            "the two hinges of the leg are not parallel",
        )

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        first, second = self.side.steps
        w = sx(first.axis)
        t = across(w, self.target(q))
        R2 = second.placement[:3, :3]
        w2 = sx(R2 @ second.axis)
        p2 = across(w, sx(second.placement[:3, 3]))
        c = across(w, sx(R2 @ self.side.tip[:3, 3]))
        C = 0.5 * (ca.dot(t, t) - ca.dot(p2, p2) - ca.dot(c, c))
        angle2 = cosine_equation(ca.dot(p2, c), ca.dot(p2, ca.cross(w2, c)), C, modes[0])
        elbow = p2 + ca.cos(angle2) * c + ca.sin(angle2) * ca.cross(w2, c)
        return [turn(w, elbow, t), angle2]


class PlanarDyadAcross(Leg):
    """R | R in a plane, the cut between the two bars."""

    mode_words: ClassVar[tuple[tuple[str, str], ...]] = (("elbow_up", "elbow_down"),)

    def check(self) -> None:
        self._other_hinge()

    def _other_hinge(self) -> Step:
        (hinge,) = self.other.steps
        return hinge

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        (hinge,), far = self.side.steps, self._other_hinge()
        w = sx(hinge.axis)
        R_o, x_o = self.base(self.other, q)
        centre = across(w, self.local(q, x_o + R_o @ sx(far.placement[:3, 3])))
        a = across(w, sx(self.side.tip[:3, 3]))
        radius = self.other.tip[:3, 3]
        radius = radius - far.axis * float(far.axis @ radius)
        C = 0.5 * (ca.dot(a, a) + ca.dot(centre, centre) - float(radius @ radius))
        angle = cosine_equation(ca.dot(centre, a), ca.dot(centre, ca.cross(w, a)), C, modes[0])
        tip = sx(self.side.tip[:3, 3])
        R, x = self.base(self.side, q)
        R1, p1 = sx(hinge.placement[:3, :3]), sx(hinge.placement[:3, 3])
        point = x + R @ (p1 + R1 @ (rotation(hinge.axis, angle) @ tip))
        R_f, p_f = sx(far.placement[:3, :3]), sx(far.placement[:3, 3])
        seen = R_f.T @ (R_o.T @ (point - x_o) - p_f)
        return [angle, turn(sx(far.axis), sx(self.other.tip[:3, 3]), seen)]
