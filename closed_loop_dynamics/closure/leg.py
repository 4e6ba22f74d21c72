"""What all closed-form legs share: the sides of a cut, the geometry of successive joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca
from ..model.tree import PRISMATIC
from ..se3 import axis_rotation, pose
from ..spatial import SX, rotation, sx
from .cut_joint import CutJoint, joint_pose, universal_axes
from .numerical import LoopSystem
from .subproblems import cosine_equation, turn

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
    system: LoopSystem,
    cut: CutJoint,
    unknown: list[int],
    fixed: dict[int, float],
    point_only: bool = False,
) -> tuple[Side, Side]:
    """(predecessor side, successor side); ``fixed`` are local joints that never move.

    With ``point_only`` the rows hold nothing but the cut point, so that hinges through that point
    (of a ball joint, say) do not matter: they stand at zero.
    """
    return (
        _side(system, cut.chain_p, cut.frame_p, unknown, fixed, point_only),
        _side(system, cut.chain_s, cut.frame_s, unknown, fixed, point_only),
    )


def _side(
    system: LoopSystem,
    chain: tuple[int, ...],
    frame: Array,
    unknown: list[int],
    fixed: dict[int, float],
    point_only: bool,
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
        elif point_only and _turns_about_the_cut(system, chain, b, frame):
            carried = here
        else:
            raise NotClosedForm(f"joint '{joint.name}' inside the leg moves on its own")
    return Side(chain[:first], tuple(steps), carried @ frame)


def _turns_about_the_cut(
    system: LoopSystem, chain: tuple[int, ...], body: int, frame: Array
) -> bool:
    """A hinge of a chain, and all after it, has the cut point on its axis."""
    after = chain[chain.index(body) :]
    point = frame[:3, 3]
    for b in reversed(after):
        joint = system.tree.bodies[b].joint
        off = point - joint.axis * float(joint.axis @ point)
        if joint.kind == PRISMATIC or float(np.linalg.norm(off)) > GEOMETRY_TOLERANCE:
            return False
        point = (joint.placement @ np.append(point, 1.0))[:3]
    return True


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
    #: Angles come with their full turns; those of other legs are within one.
    counts_turns: ClassVar[bool] = False

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


def require(condition: bool, reason: str) -> None:
    if not condition:
        raise NotClosedForm(reason)


def parallel(a: Array, b: Array) -> bool:
    return float(np.linalg.norm(np.cross(a, b))) < GEOMETRY_TOLERANCE


def meeting_point(step: Step, following: Step) -> tuple[float, float]:
    """Where two successive axes meet: distances along the first and along the second.

    The second joint's placement is in the first's body, so its frame turns about the first axis.
    """
    w1, w2 = step.axis, following.placement[:3, :3] @ following.axis
    p2 = following.placement[:3, 3]
    A = np.column_stack([w1, -w2])
    (along1, along2), *_ = np.linalg.lstsq(A, p2, rcond=None)
    gap = float(np.linalg.norm(A @ np.array([along1, along2]) - p2))
    require(not parallel(w1, w2), "two axes of the leg are parallel")
    require(gap < GEOMETRY_TOLERANCE, f"two axes of the leg miss each other by {1e3 * gap:.3g} mm")
    return float(along1), float(along2)


def point_two_hinges(
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


def cut_direction(leg: Leg, side: Side, successor: bool) -> Array:
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
