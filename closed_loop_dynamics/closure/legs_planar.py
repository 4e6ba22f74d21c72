"""Planar closed-form legs: a rod with a slider, two bars, a slider of known length."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array
from ..engine.symbolic import ca
from ..model.tree import PRISMATIC
from ..spatial import SX, rotation, sx
from .block import Block, Side, Step
from .leg import ChainLeg, Leg, Shape, register
from .leg_geometry import parallel, require, require_in_plane
from .subproblems import across, cosine_equation, stroke, turn


@register
class PlanarStroke(ChainLeg):
    """R P in a plane: the rod's length from the distance, then its direction."""

    shapes = (Shape("RP", "", 2, 0),)
    mode_words = (("rod_out", "rod_in"),)

    def check(self) -> None:
        hinge, slider = self.side.steps
        require_in_plane(hinge, slider.placement[:3, :3] @ slider.axis)

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        hinge, slider = self.side.steps
        w = sx(hinge.axis)
        t = across(w, self.target(q))
        direction = sx(slider.placement[:3, :3] @ slider.axis)
        start = across(w, sx((slider.placement @ self.side.tip)[:3, 3]))
        d = stroke(start, direction, ca.dot(t, t), modes[0])
        return [turn(w, start + d * direction, t), d]


@register
class PlanarDyad(ChainLeg):
    """R R in a plane, on one side of the cut: two circles."""

    shapes = (Shape("RR", "", 2, 0),)
    mode_words = (("elbow_up", "elbow_down"),)

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


@register
class PlanarDyadAcross(ChainLeg):
    """R | R in a plane, the cut between the two bars."""

    shapes = (Shape("R", "R", 2, 0),)
    mode_words = (("elbow_up", "elbow_down"),)

    def tip(self, q: dict[int, SX]) -> SX:
        """The cut point in the body of the leg's own hinge."""
        return sx(self.side.tip[:3, 3])

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        (hinge,), (far,) = self.side.steps, self.other.steps
        w = sx(hinge.axis)
        pin = self.outside(self.other, q, ca.SX.zeros(3))
        centre = across(w, self.inside(self.side, q, pin))
        tip = self.tip(q)
        a = across(w, tip)
        radius = self.other.tip[:3, 3]
        radius = radius - far.axis * float(far.axis @ radius)
        C = 0.5 * (ca.dot(a, a) + ca.dot(centre, centre) - float(radius @ radius))
        angle = cosine_equation(ca.dot(centre, a), ca.dot(centre, ca.cross(w, a)), C, modes[0])
        point = self.outside(self.side, q, rotation(hinge.axis, angle) @ tip)
        seen = self.inside(self.other, q, point)
        return [angle, turn(sx(far.axis), sx(self.other.tip[:3, 3]), seen)]


@register
@dataclass(frozen=True, eq=False)
class PlanarTriangle(PlanarDyadAcross):
    """R p | R in a plane: two hinges from the known length of the slider between them.

    Attributes:
        slider: local joint; direction: (3,) of it in the body of the leg's own hinge.
    """

    slider: int
    direction: Array

    #: Before the kinds that have no place for a joint that moves inside the leg.
    priority = 1

    @classmethod
    def match(cls, block: Block) -> Leg | None:
        """A chain that ends in an unknown hinge and a known slider, the other in a hinge."""
        system, cut = block.system, block.cut
        if cut is None or (block.translations, block.rotations) != (2, 0):
            return None
        local, joint = system.local, system.joint
        p, s = (cut.chain_p, cut.frame_p), (cut.chain_s, cut.frame_s)
        for (chain, frame), (far_chain, far_frame), is_successor in ((p, s, False), (s, p, True)):
            own, far = [local[b] for b in chain], [local[b] for b in far_chain]
            if len(own) < 2 or not far or {own[-2], far[-1]} != set(block.unknown):
                continue
            hinge, slider, other = joint(own[-2]), joint(own[-1]), joint(far[-1])
            if [j.kind == PRISMATIC for j in (hinge, slider, other)] != [False, True, False]:
                continue
            here = Step(own[-2], hinge.kind, hinge.placement, hinge.axis)
            there = Step(far[-1], other.kind, other.placement, other.axis)
            leg = cls(
                system,
                (own[-2], far[-1]),
                cut,
                Side(chain[:-2], (here,), slider.placement @ frame),
                Side(far_chain[:-1], (there,), far_frame),
                is_successor,
                own[-1],
                slider.placement[:3, :3] @ slider.axis,
            )
            leg.check()
            return leg
        return None

    def check(self) -> None:
        require_in_plane(self.side.steps[0], self.direction)

    def tip(self, q: dict[int, SX]) -> SX:
        """The cut point moves with the slider."""
        return sx(self.side.tip[:3, 3]) + q[self.slider] * sx(self.direction)
