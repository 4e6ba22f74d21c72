"""Closed-form legs: the unknown joints of one irreducible block, solved by geometry.

A block of a loop system is a leg: two to four unknown joints between things that are already known.
Each class below knows one kind of leg, reads its dimensions from the tree, and gives the unknowns
as traced expressions. It raises :class:`NotClosedForm` with the reason when the geometry does not
fit.

| class          | unknown joints (| marks the cut)              | mechanisms                     |
|----------------|-----------------------------------------------|--------------------------------|
| PlanarStroke   | R P                                           | 1-RRPR, lambda                 |
| PlanarDyad     | R R, or R | R                                 | 1-RRRR, parallelogram          |
| PointingLeg    | R R P (axes meet)                             | 2-SPU+1U, 6-UPS                |
| HingedLeg      | R R P | R with one rotation locked            | 2-SPRR+1U                      |
| CrankLeg       | R R R, P R R, R | R R, P | R R (two axes meet) | 6-RUS, 2-PUS+1U, 2-SU[RRPR]+1U |
| SphericalDyad  | R R (axes meet), rotations only               | 3-RRR                          |
| LockedHinge    | R, one rotation locked                        | hinges that follow a rod       |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..engine.symbolic import ca
from ..model.poses import axis_rotation, pose
from ..model.tree import PRISMATIC, Array
from ..spatial import SX, rotation, sx
from .cut_joint import CutJoint, joint_pose, universal_axes
from .numerical import LoopSystem
from .subproblems import across, cosine_equation, stroke, turn

#: Axes that miss each other or a plane by more than this are not this kind of leg [m, rad].
GEOMETRY_TOLERANCE = 1e-5


class NotClosedForm(Exception):
    """The block is not a leg of the kind tried; the message says what does not fit."""


@dataclass(frozen=True, eq=False)
class Step:
    """An unknown joint of a leg: where it sits in the body before it, and its axis there."""

    position: int  # local joint
    kind: str
    placement: Array  # (4, 4) in the previous unknown joint's body (or in the known base)
    axis: Array  # (3,) in the joint frame


@dataclass(frozen=True, eq=False)
class Side:
    """One side of the cut: known joints first, then unknown ones, then the cut frame."""

    known: tuple[int, ...]  # bodies
    steps: tuple[Step, ...]
    tip: Array  # (4, 4) cut frame in the last unknown body (in the last known one without steps)

    @property
    def kinds(self) -> str:
        """Such as "RRP"."""
        return "".join("P" if s.kind == PRISMATIC else "R" for s in self.steps)


def sides_of(
    system: LoopSystem, cut: CutJoint, unknown: list[int], fixed: dict[int, float]
) -> tuple[Side, Side]:
    """(predecessor side, successor side); ``fixed`` are local joints that never move."""
    return (
        _side(system, cut.chain_p, cut.frame_p, unknown, fixed),
        _side(system, cut.chain_s, cut.frame_s, unknown, fixed),
    )


def _side(
    system: LoopSystem,
    chain: tuple[int, ...],
    frame: Array,
    unknown: list[int],
    fixed: dict[int, float],
) -> Side:
    local = {body: i for i, body in enumerate(system.joints)}
    first = next((k for k, b in enumerate(chain) if local[b] in unknown), len(chain))
    steps, carried = [], np.eye(4)
    for b in chain[first:]:
        joint, i = system.tree.bodies[b].joint, local[b]
        here = carried @ joint.placement
        if i in unknown:
            steps.append(Step(i, joint.kind, here, joint.axis))
            carried = np.eye(4)
        elif i in fixed:
            moved = (
                pose(np.eye(3), joint.axis * fixed[i])
                if joint.kind == PRISMATIC
                else pose(axis_rotation(joint.axis, fixed[i]), np.zeros(3))
            )
            carried = here @ moved
        else:
            raise NotClosedForm(f"joint '{joint.name}' inside the leg moves on its own")
    return Side(chain[:first], tuple(steps), carried @ frame)


@dataclass(frozen=True, eq=False)
class Leg:
    """Base of all legs.

    Attributes:
        columns: local positions of the unknowns, in the order :meth:`solve` returns them.
        modes: number of two-way choices; their signs name the assembly mode.
    """

    system: LoopSystem
    cut: CutJoint
    side: Side  # the side that holds the leg's own joints
    other: Side
    is_successor: bool  # of ``side``
    columns: tuple[int, ...]
    modes: int

    #: Words for + and - of every two-way choice.
    mode_words: ClassVar[tuple[tuple[str, str], ...]] = ()

    @property
    def name(self) -> str:
        """The kind of leg, in words."""
        words = "".join(f" {ch.lower()}" if ch.isupper() else ch for ch in type(self).__name__)
        return words.strip()

    def check(self) -> None:
        """Raise NotClosedForm when the dimensions do not fit this kind of leg."""

    def base(self, side: Side, q: dict[int, SX]) -> tuple[SX, SX]:
        """(R, x) of the last known body of a side, in the loop's base frame."""
        R, x = sx(np.eye(3)), sx(np.zeros(3))
        local = {body: i for i, body in enumerate(self.system.joints)}
        for b in side.known:
            R_b, p_b = joint_pose(self.system.tree, b, q[local[b]])
            R, x = R @ R_b, x + R @ p_b
        return R, x

    def target(self, q: dict[int, SX]) -> SX:
        """The cut point of the other side (fully known), seen from the first joint of the leg."""
        R_o, x_o = self.base(self.other, q)
        return self.local(q, x_o + R_o @ sx(self.other.tip[:3, 3]))

    def local(self, q: dict[int, SX], point: SX) -> SX:
        """A point of the base frame in the frame of the leg's first joint."""
        R, x = self.base(self.side, q)
        first = self.side.steps[0].placement
        return sx(first[:3, :3]).T @ (R.T @ (point - x) - sx(first[:3, 3]))

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        """Unknown positions in the order of ``columns``."""
        raise NotImplementedError


def _require(condition: bool, reason: str) -> None:
    if not condition:
        raise NotClosedForm(reason)


def _parallel(a: Array, b: Array) -> bool:
    return float(np.linalg.norm(np.cross(a, b))) < GEOMETRY_TOLERANCE


def _meeting(step: Step, following: Step) -> tuple[float, float]:
    """Where two successive axes meet: distances along the first and along the second.

    The second joint's placement is in the first's body, so its frame turns about the first axis.
    """
    w1, w2 = step.axis, following.placement[:3, :3] @ following.axis
    p2 = following.placement[:3, 3]
    A = np.column_stack([w1, -w2])
    (along1, along2), *_ = np.linalg.lstsq(A, p2, rcond=None)
    gap = float(np.linalg.norm(A @ np.array([along1, along2]) - p2))
    _require(not _parallel(w1, w2), "two axes of the leg are parallel")
    _require(gap < GEOMETRY_TOLERANCE, f"two axes of the leg miss each other by {1e3 * gap:.3g} mm")
    return float(along1), float(along2)


class PlanarStroke(Leg):
    """R P in a plane: the rod's length from the distance, then its direction."""

    mode_words: ClassVar[tuple[tuple[str, str], ...]] = (("rod_out", "rod_in"),)

    def check(self) -> None:
        hinge, slider = self.side.steps
        direction = slider.placement[:3, :3] @ slider.axis
        _require(
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
        _require(
            _parallel(first.axis, second.placement[:3, :3] @ second.axis),
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


def _point_two_hinges(
    first: Step, second: Step, meeting: tuple[float, float], arm: SX, end: SX, mode: float
) -> tuple[SX, SX]:
    """Angles of two hinges whose axes meet so that ``arm`` points to ``end``.

    ``arm`` is seen from the meeting point in the second body at angle zero, ``end`` from the
    meeting point in the first joint's frame.
    """
    R2 = sx(second.placement[:3, :3])
    w1, w2 = sx(first.axis), sx(second.axis)
    seen = R2.T @ w1
    along = w2 * ca.dot(w2, arm)
    A = ca.dot(seen, arm - along)
    B = ca.dot(seen, ca.cross(w2, arm))
    C = ca.dot(w1, end) - ca.dot(seen, along)
    angle2 = cosine_equation(A, B, C, mode)
    turned = R2 @ (rotation(second.axis, angle2) @ arm)
    return turn(w1, turned, end), angle2


class PointingLeg(Leg):
    """R R P: a rod from a universal joint to a known point."""

    mode_words: ClassVar[tuple[tuple[str, str], ...]] = (
        ("rod_out", "rod_in"),
        ("cross_up", "cross_down"),
    )

    def check(self) -> None:
        _meeting(self.side.steps[0], self.side.steps[1])

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        return self.reach(self.target(q), modes)

    def reach(self, target: SX, modes: tuple[float, ...]) -> list[SX]:
        """The three positions for a target in the frame of the first joint."""
        first, second, slider = self.side.steps
        along1, along2 = _meeting(first, second)
        end = target - sx(first.axis * along1)
        # In the second body, with the meeting point as origin.
        start = sx((slider.placement @ self.side.tip)[:3, 3] - second.axis * along2)
        direction = sx(slider.placement[:3, :3] @ slider.axis)
        d = stroke(start, direction, ca.dot(end, end), modes[0])
        arm = start + d * direction
        angle1, angle2 = _point_two_hinges(first, second, (along1, along2), arm, end, modes[1])
        return [angle1, angle2, d]


class HingedLeg(PointingLeg):
    """R R P | R: the rod ends on a link that swings on the platform (2-SPRR+1U).

    The rod must pass through the universal joint; then the second hinge h of the swinging link,
    normal to the rod, gives one equation for its angle.
    """

    mode_words: ClassVar[tuple[tuple[str, str], ...]] = (
        ("rod_out", "rod_in"),
        ("cross_up", "cross_down"),
        ("hinge_up", "hinge_down"),
    )

    def check(self) -> None:
        first, second, slider = self.side.steps
        _, along2 = _meeting(first, second)
        start = (slider.placement @ self.side.tip)[:3, 3] - second.axis * along2
        direction = slider.placement[:3, :3] @ slider.axis
        off = float(np.linalg.norm(start - direction * float(start @ direction)))
        _require(
            off < GEOMETRY_TOLERANCE,
            f"the rod misses its universal joint by {1e3 * off:.3g} mm",
        )
        b, c = universal_axes(self.cut.rotations[0])
        rod = (slider.placement @ self.side.tip)[:3, :3] @ (c if self.is_successor else b)
        _require(_parallel(rod, direction), "the free axis of the cut is not along the rod")

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        first, second, _ = self.side.steps
        (hinge,) = self.other.steps
        along1, _ = _meeting(first, second)
        R, x = self.base(self.side, q)
        universal = x + R @ sx((first.placement @ np.append(first.axis * along1, 1.0))[:3])
        R_o, x_o = self.base(self.other, q)
        R_h, p_h = sx(hinge.placement[:3, :3]), sx(hinge.placement[:3, 3])
        centre = R_h.T @ (R_o.T @ (universal - x_o) - p_h)
        b_axis, c_axis = universal_axes(self.cut.rotations[0])
        h = sx(self.other.tip[:3, :3] @ (b_axis if self.is_successor else c_axis))
        c = sx(self.other.tip[:3, 3])
        w = sx(hinge.axis)
        # h(angle) . (centre - c(angle)) = 0, and h . c does not depend on the angle.
        along = w * ca.dot(w, h)
        A = ca.dot(centre, h - along)
        B = ca.dot(centre, ca.cross(w, h))
        C = ca.dot(h, c) - ca.dot(centre, along)
        angle = cosine_equation(A, B, C, modes[2])
        end = x_o + R_o @ (p_h + R_h @ (rotation(hinge.axis, angle) @ c))
        return [*self.reach(self.local(q, end), modes), angle]


class CrankLeg(Leg):
    """A crank or slider, then a rod on two hinges that meet: circle or line against sphere."""

    mode_words: ClassVar[tuple[tuple[str, str], ...]] = (
        ("crank_up", "crank_down"),
        ("rod_up", "rod_down"),
    )

    def check(self) -> None:
        steps = (*self.side.steps, *self.other.steps)
        _meeting(steps[-2], steps[-1])

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        return self._across(q, modes) if self.other.steps else self._one_side(q, modes)

    def _drive(self, drive: Step, start: SX, centre: SX, rod_squared: SX, mode: float) -> SX:
        """Position of the crank (or slider) that puts ``start`` at a distance from ``centre``."""
        if drive.kind == PRISMATIC:
            return stroke(start - centre, sx(drive.axis), rod_squared, mode)
        w = sx(drive.axis)
        a, b = across(w, start), across(w, centre)
        C = 0.5 * (ca.dot(start, start) + ca.dot(centre, centre) - rod_squared)
        C = C - ca.dot(w, start) * ca.dot(w, centre)
        return cosine_equation(ca.dot(a, b), ca.dot(b, ca.cross(w, a)), C, mode)

    @staticmethod
    def _moved(drive: Step, value: SX, point: SX) -> SX:
        if drive.kind == PRISMATIC:
            return point + sx(drive.axis) * value
        return rotation(drive.axis, value) @ point

    def _one_side(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        """Drive, hinge, hinge, cut: the rod ends at a known point."""
        drive, first, second = self.side.steps
        along1, along2 = _meeting(first, second)
        target = self.target(q)
        pin = (first.placement @ np.append(first.axis * along1, 1.0))[:3]
        arm = self.side.tip[:3, 3] - second.axis * along2
        value = self._drive(drive, sx(pin), target, float(arm @ arm), modes[0])
        back = (
            target - sx(drive.axis) * value
            if drive.kind == PRISMATIC
            else rotation(drive.axis, value).T @ target
        )
        end = sx(first.placement[:3, :3]).T @ (back - sx(pin))
        angles = _point_two_hinges(first, second, (along1, along2), sx(arm), end, modes[1])
        return [value, *angles]

    def _across(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        """Drive | hinge, hinge: the rod hangs on the other side and ends at the drive's tip."""
        (drive,), (first, second) = self.side.steps, self.other.steps
        along1, along2 = _meeting(first, second)
        R_o, x_o = self.base(self.other, q)
        pin = (first.placement @ np.append(first.axis * along1, 1.0))[:3]
        centre = self.local(q, x_o + R_o @ sx(pin))
        arm = self.other.tip[:3, 3] - second.axis * along2
        tip = sx(self.side.tip[:3, 3])
        value = self._drive(drive, tip, centre, float(arm @ arm), modes[0])
        R, x = self.base(self.side, q)
        place = drive.placement
        end = x + R @ (sx(place[:3, 3]) + sx(place[:3, :3]) @ self._moved(drive, value, tip))
        end = sx(first.placement[:3, :3]).T @ (R_o.T @ (end - x_o) - sx(pin))
        angles = _point_two_hinges(first, second, (along1, along2), sx(arm), end, modes[1])
        return [value, *angles]


def _direction(leg: Leg, side: Side, successor: bool) -> Array:
    """The direction of a cut with rotation rows, in the last body of a side.

    Two rows keep the free axis of both frames together; one row keeps b of P normal to c of S.
    """
    axes = leg.cut.rotations
    if len(axes) == 2:
        free = np.cross(axes[0], axes[1])
        vector = free / np.linalg.norm(free)
    else:
        b, c = universal_axes(axes[0])
        vector = c if successor else b
    return np.asarray(side.tip[:3, :3] @ vector)


class SphericalDyad(Leg):
    """R R whose axes meet in the centre of a spherical mechanism: point a direction (3-RRR)."""

    mode_words: ClassVar[tuple[tuple[str, str], ...]] = (("elbow_up", "elbow_down"),)

    def check(self) -> None:
        first, second = self.side.steps
        w2 = second.placement[:3, :3] @ second.axis
        _require(not _parallel(first.axis, w2), "the two hinges of the leg are parallel")

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        first, second = self.side.steps
        R, _ = self.base(self.side, q)
        R_o, _ = self.base(self.other, q)
        arm = sx(_direction(self, self.side, self.is_successor))
        end = R_o @ sx(_direction(self, self.other, not self.is_successor))
        end = sx(first.placement[:3, :3]).T @ (R.T @ end)
        return list(_point_two_hinges(first, second, (0.0, 0.0), arm, end, modes[0]))


class LockedHinge(Leg):
    """R alone: a direction of the link must stay normal to a known one."""

    mode_words: ClassVar[tuple[tuple[str, str], ...]] = (("hinge_up", "hinge_down"),)

    def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
        (hinge,) = self.side.steps
        R, _ = self.base(self.side, q)
        R_o, _ = self.base(self.other, q)
        h = sx(_direction(self, self.side, self.is_successor))
        known = R_o @ sx(_direction(self, self.other, not self.is_successor))
        known = sx(hinge.placement[:3, :3]).T @ (R.T @ known)
        w = sx(hinge.axis)
        along = w * ca.dot(w, h)
        A, B = ca.dot(known, h - along), ca.dot(known, ca.cross(w, h))
        return [cosine_equation(A, B, -ca.dot(known, along), modes[0])]


#: (joints on the leg's side, on the other side, translation rows, rotation rows) -> class, modes.
KINDS: dict[tuple[str, str, int, int], tuple[type[Leg], int]] = {
    ("RP", "", 2, 0): (PlanarStroke, 1),
    ("RR", "", 2, 0): (PlanarDyad, 1),
    ("R", "R", 2, 0): (PlanarDyadAcross, 1),
    ("RRP", "", 3, 0): (PointingLeg, 2),
    ("RRP", "R", 3, 1): (HingedLeg, 3),
    ("RRR", "", 3, 0): (CrankLeg, 2),
    ("PRR", "", 3, 0): (CrankLeg, 2),
    ("R", "RR", 3, 0): (CrankLeg, 2),
    ("P", "RR", 3, 0): (CrankLeg, 2),
    ("RR", "", 0, 2): (SphericalDyad, 1),
    ("R", "", 0, 1): (LockedHinge, 1),
}


def recognise(
    system: LoopSystem,
    cut: CutJoint,
    unknown: list[int],
    rows: tuple[int, int],
    fixed: dict[int, float],
) -> Leg:
    """The leg that the unknown joints of one cut form; NotClosedForm says why there is none.

    ``rows`` are the numbers of translation and rotation rows that determine them.
    """
    a, b = sides_of(system, cut, unknown, fixed)
    for side, other, is_successor in ((a, b, False), (b, a, True)):
        found = KINDS.get((side.kinds, other.kinds, *rows))
        if found is None:
            continue
        kind, modes = found
        columns = tuple(s.position for s in (*side.steps, *other.steps))
        leg = kind(system, cut, side, other, is_successor, columns, modes)
        leg.check()
        return leg
    shape = f"{a.kinds or '-'} | {b.kinds or '-'}"
    raise NotClosedForm(
        f"no closed form for unknown joints {shape} with {rows[0]} translation and {rows[1]} "
        "rotation constraints"
    )
