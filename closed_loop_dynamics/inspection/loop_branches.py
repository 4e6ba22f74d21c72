"""A tree seen as chains and legs, and what a set of cuts makes of it: for guessing loops."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from ..model.clusters import loop_bodies
from ..model.locked_axes import axes_of
from ..model.poses import body_poses, link_pose
from ..model.submechanism import LoopConstraint
from ..model.tree import PRISMATIC, REVOLUTE, Tree

#: A column of K is zero; a point is where a link's origin is [m].
COINCIDENT = 1e-5
#: Two points are one: dimensions of a drawing are rounded, several of them add up [m].
MEETS = 5e-4
#: Published dimensions are rounded: a planar loop is planar only to about this, relatively.
ROUNDED = 1e-4
#: A link with less than this part of the robot's mass weighs nothing.
LIGHT = 1e-4
#: A link whose centre of mass is so far away from its hinge reaches further than that [m]; what is
#: shorter is part of a ball or universal joint.
HANGS = 5e-3
#: Names of frames at the end of an arm or leg that are no rod ends.
_TOOLS = re.compile(
    r"tool|tcp|sole|hand|foot|camera|imu|sensor|grip|finger|jaw|(^|_)ee(_|$)", re.IGNORECASE
)

_ENDS = re.compile(r"(^|_)(tip|end|pin)(_|$|\d)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Tip:
    """The end of a leg.

    Attributes:
        joint: the joint (moving or fixed) whose child link is at the end.
        link: that link.
        body: the body it belongs to.
        point: (3,) where it is at q = 0 in the root frame [m].
    """

    joint: str
    link: str
    body: int
    point: Array


@dataclass(frozen=True, eq=False)
class Cut:
    """A leg's end and the link it was cut off from.

    Attributes:
        successor: name of that link.
        swing: a hinge of the successor that is part of the leg's end (cut: universal), or None.
        coincides: a link of the successor's body that lies at the same point, "" if there is none.
        normal: (3,) of the plane in which this loop moves, if the mechanism is not planar but the
            loop is; else None.
        kind: of the joint that was cut, a word of ``model/locked_axes.py``; axis: its axis (3,) in
            the root frame at q = 0.
    """

    tip: Tip
    successor: str
    swing: int | None = None
    coincides: str = ""
    normal: Array | None = None
    kind: str = "spherical"
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))


@dataclass(frozen=True, eq=False)
class Guess:
    """One submechanism.

    Attributes:
        name: for ``contextual_name``.
        joints, independent, active: bodies whose joints these are.
        normal: (3,) of the plane of a planar mechanism in the root frame, or None.
    """

    name: str
    cuts: tuple[Cut, ...]
    joints: tuple[int, ...]
    independent: tuple[int, ...]
    active: tuple[int, ...]
    normal: Array | None


@dataclass(frozen=True, eq=False)
class Hints:
    """What is known besides the geometry.

    Attributes:
        driven: bodies whose joints are driven; empty: nobody says so.
        points: link -> (3,) where it was cut off, in the root frame at q = 0 [m].
        kind: of all joints that were cut; empty: to be guessed.
    """

    driven: frozenset[int] = frozenset()
    points: Mapping[str, Array] = field(default_factory=dict)
    kind: str = ""


def near(a: Array, b: Array) -> bool:
    """Two points are one."""
    return bool(np.linalg.norm(a - b) < MEETS)


class Branches:
    """Children, leaves and tips of a tree."""

    def __init__(self, tree: Tree, hints: Hints | None = None) -> None:
        self.tree, self.hints = tree, hints or Hints()
        self.poses = body_poses(tree)
        self.children: dict[int, list[int]] = {b: [] for b in range(-1, len(tree.bodies))}
        for b, body in enumerate(tree.bodies):
            self.children[body.parent].append(b)
        self.mass = sum(body.mass for body in tree.bodies)
        self.fixed = {link: joint for joint, link in tree.fixed_joint_children.items()}

    def below(self, b: int) -> list[int]:
        """The body and all that it carries."""
        return [b, *(d for child in self.children[b] for d in self.below(child))]

    def tip(self, b: int) -> Tip | None:
        """The end of a chain that stops at body ``b``, if it looks like the end of a leg."""
        body = self.tree.bodies[b]
        joints = [self.poses[d][:3, 3] for d in (b, *self.children[b])]
        for link in body.links[1:]:
            mass = self.tree.link_inertias.get(link, (0.0,))[0]
            point = self.point(link)
            away = not any(near(point, joint) for joint in joints)
            if mass == 0.0 and away and not _TOOLS.search(link):
                return Tip(self.fixed[link], link, b, point)
        if body.joint.kind == PRISMATIC and not _TOOLS.search(body.link):
            return Tip(body.joint.name, body.link, b, self.poses[b][:3, 3])
        return None

    def tips(self, b: int) -> list[Tip] | None:
        """Ends of a leg that starts with body ``b``; None if it is no leg."""
        found = [self.tip(d) for d in self.below(b) if not self.children[d]]
        tips = [tip for tip in found if tip is not None]
        return tips if len(tips) == len(found) and len(self.below(b)) > 1 else None

    def ends(self) -> Iterator[Tip]:
        """All ends in the air: of chains, and on the way where link or joint is called so."""
        for b in range(len(self.tree.bodies)):
            tip = self.tip(b)
            called = tip and (_ENDS.search(tip.link) or _ENDS.search(tip.joint))
            if tip and (not self.children[b] or called):
                yield tip
            elif not self.children[b] and (pin := self.pin_at_the_end_of(b)):
                yield pin

    def pin_at_the_end_of(self, b: int) -> Tip | None:
        """A pin or mark of another link where a bar ends that has no mark of its own."""
        body = self.tree.bodies[b]
        if body.joint.kind != REVOLUTE or len(body.links) > 1 or not self.hangs(b):
            return None
        for link in self.marks_at(self.even_end(b), b):
            other = self.tree.frames[link][0]
            if other >= 0:
                joint = self.fixed.get(link) or self.tree.bodies[other].joint.name
                return Tip(joint, link, other, self.point(link))
        return None

    def hangs(self, b: int) -> bool:
        """A body reaches away from its joint."""
        body = self.tree.bodies[b]
        return float(np.linalg.norm(body.first_moment)) > HANGS * body.mass

    def even_end(self, b: int) -> Array:
        """(3,) where a body with mass ends at q = 0, as an even bar that begins at its joint."""
        body, pose = self.tree.bodies[b], self.poses[b]
        return pose[:3, 3] + 2.0 * pose[:3, :3] @ (body.first_moment / body.mass)

    def marks_at(self, point: Array, b: int) -> list[str]:
        """Links with their origin at a point, of bodies that a loop could join to body ``b``."""
        chain = {*self.below(b), *self.tree.path_to_root(b)}
        frames = ((link, body) for link, (body, _) in self.tree.frames.items())
        return [
            link for link, body in frames if body not in chain and near(self.point(link), point)
        ]

    def bodies_at(self, tip: Tip) -> set[int]:
        """Those with a pin or mark where a leg ends: it belongs to one of them."""
        marked = [self.tree.frames[link] for link in self.marks_at(tip.point, tip.body)]
        pinned = {b for b, _ in marked if b >= 0 and near(self.poses[b][:3, 3], tip.point)}
        return {b for b, _ in marked} | {self.tree.bodies[b].parent for b in pinned}

    def right_place(self, cut: Cut) -> bool:
        """No pin or mark of other links says that the leg ends at one of them."""
        at = self.bodies_at(cut.tip)
        return not at or cut.swing in at or self.tree.frames[cut.successor][0] in at

    def bare_hinge(self, b: int) -> bool:
        """A hinge that carries nothing and is no leg: a crank, or part of a universal joint."""
        hinge = self.tree.bodies[b].joint.kind == REVOLUTE
        return hinge and not self.children[b] and self.tip(b) is None

    def inner(self, b: int) -> bool:
        """A link without weight that carries others: the inside of a ball or universal joint."""
        return self.tree.bodies[b].mass <= LIGHT * self.mass and bool(self.children[b])

    def point(self, link: str) -> Array:
        """(3,) origin of a link at q = 0 in the root frame [m]."""
        origin: Array = link_pose(self.tree, self.poses, link)[:3, 3]
        return origin

    def link(self, b: int) -> str:
        return self.tree.bodies[b].link if b >= 0 else self.tree.root_link

    def distance(self, cut: Cut) -> float:
        """How far a tip is from the link that it would join: from its joints and its centre [m]."""
        b = self.tree.frames[cut.successor][0]
        body, pose = self.tree.bodies[b], self.poses[b]
        placements = [self.tree.bodies[d].joint.placement for d in self.children[b]]
        points = [pose[:3, 3], *((pose @ placement)[:3, 3] for placement in placements)]
        if body.mass > 0.0:
            points.append(pose[:3, :3] @ (body.first_moment / body.mass) + pose[:3, 3])
        return min(float(np.linalg.norm(cut.tip.point - point)) for point in points)

    def leg(self, cut: Cut) -> list[int]:
        """Bodies of the loop from the tip to its base."""
        loop = self.loop(cut)
        return [b for b in self.tree.path_to_root(cut.tip.body) if b in loop]

    def within_reach(self, cut: Cut, distance: float) -> bool:
        """The link to join is not further away than the leg is long."""
        points = [cut.tip.point, *(self.poses[b][:3, 3] for b in self.leg(cut))]
        length = sum(float(np.linalg.norm(a - b)) for a, b in itertools.pairwise(points))
        return distance < length + COINCIDENT

    def cut(self, tip: Tip, body: int, link: str = "", swing: int | None = None) -> Cut:
        """Between a tip and a link of a body, by default the one that its joint moves."""
        links = self.tree.bodies[body].links if body >= 0 else ()
        coincides = next((one for one in links if near(self.point(one), tip.point)), "")
        return Cut(tip, link or self.link(body), swing, coincides)

    def loop(self, cut: Cut) -> list[int]:
        """Bodies that move relative to each other on the loop of a cut."""
        return loop_bodies(self.tree, LoopConstraint(cut.tip.link, cut.successor, ()))

    def loop_joints(self, cuts: Sequence[Cut]) -> list[int]:
        """Bodies on the loops."""
        return sorted({b for cut in cuts for b in self.loop(cut)})

    def drives(self, legs: list[list[int]]) -> list[int]:
        """Those that are known to be driven, or one joint per leg.

        The one with an effort limit if others have none, a slider, or any.
        """
        if self.hints.driven:
            return sorted(b for bodies in legs for b in bodies if b in self.hints.driven)
        found = []
        for bodies in legs:
            strong = [b for b in bodies if 0.0 < self.tree.bodies[b].joint.effort < np.inf]
            sliders = [b for b in bodies if self.tree.bodies[b].joint.kind == PRISMATIC]
            if 0 < len(strong) < len(bodies):
                found.append(next((b for b in sliders if b in strong), strong[0]))
            else:
                found.append(sliders[0] if sliders else bodies[0])
        return found

    # -- with the cuts closed -------------------------------------------------------------------

    def mobility(self, cuts: Sequence[Cut], joints: Sequence[int]) -> int:
        """Degrees of freedom: joints that a cut moves minus rank of K at q = 0."""
        K = self.constraints(cuts, joints)
        return int(np.count_nonzero(np.linalg.norm(K, axis=0) > COINCIDENT)) - _rank(K)

    def constraints(self, cuts: Sequence[Cut], joints: Sequence[int]) -> Array:
        """K (rows, joints) at q = 0: what the cuts hold, one rotation more with a swing."""
        rows = [np.zeros((0, len(joints)))]
        for cut in cuts:
            J = np.zeros((6, len(joints)))
            ends = ((cut.tip.body, 1.0), (self.tree.frames[cut.successor][0], -1.0))
            for body, sign in ends:
                for b in self.tree.path_to_root(body):
                    if b in joints:
                        J[:, joints.index(b)] += sign * self._motion(b, cut.tip.point)
            rows.append(np.array([a.axis for a in axes_of(cut.kind, cut.axis)]) @ J)
            if cut.swing is not None:
                rows.append(self.locked_axis(cut)[None] @ J[:3])
        return np.vstack(rows)

    def axis(self, b: int) -> Array:
        """(3,) of a body's joint at q = 0 in the root frame."""
        return np.asarray(self.poses[b][:3, :3] @ self.tree.bodies[b].joint.axis)

    def locked_axis(self, cut: Cut) -> Array:
        """(3,) in the root frame: the swing's axis, made normal to the rod."""
        assert cut.swing is not None
        rod, hinge = self.axis(cut.tip.body), self.axis(cut.swing)
        across = hinge - (hinge @ rod) * rod
        return np.asarray(across / np.linalg.norm(across))

    def _motion(self, b: int, point: Array) -> Array:
        """(6,) [angular; linear] velocity at ``point`` per unit of joint ``b``."""
        if self.tree.bodies[b].joint.kind == PRISMATIC:
            return np.concatenate([np.zeros(3), self.axis(b)])
        return np.concatenate([self.axis(b), np.cross(self.axis(b), point - self.poses[b][:3, 3])])

    def independent_joints(
        self, cuts: Sequence[Cut], joints: list[int], chain: list[int], count: int
    ) -> list[int] | None:
        """``count`` joints that determine the others: of the chain if possible, hinges first."""
        K = self.constraints(cuts, joints)
        full = _rank(K)
        wanted = sorted(chain, key=lambda b: self.tree.bodies[b].joint.kind == PRISMATIC)
        order = [*wanted, *(b for b in joints if b not in chain)]
        chosen: list[int] = []
        for b in order:
            if len(chosen) == count:
                break
            rest = [k for k, j in enumerate(joints) if j not in (*chosen, b)]
            if _rank(K[:, rest]) == full:
                chosen.append(b)
        return sorted(chosen) if len(chosen) == count else None

    def fit(
        self, cuts: Sequence[Cut], joints: list[int], chain: list[int], active: Sequence[int]
    ) -> Guess | None:
        """The mechanism of cuts within reach, if drives and freedoms agree in number."""
        if not all(self.within_reach(cut, self.distance(cut)) for cut in cuts):
            return None
        if self.mobility(cuts, joints) != len(active):
            return None
        independent = self.independent_joints(cuts, joints, chain, len(active))
        if independent is None:
            return None
        name = self.tree.bodies[independent[-1]].joint.name
        swings = any(cut.swing is not None for cut in cuts)
        normal = None if swings else self.plane_normal(joints)
        return Guess(name, tuple(cuts), tuple(joints), tuple(independent), tuple(active), normal)

    def plane_normal(self, joints: Sequence[int]) -> Array | None:
        """The common direction of all hinges when the sliders are normal to it."""
        hinges = [self.axis(b) for b in joints if self.tree.bodies[b].joint.kind == REVOLUTE]
        sliders = [self.axis(b) for b in joints if self.tree.bodies[b].joint.kind == PRISMATIC]
        if not hinges:
            return None
        n = hinges[0]
        parallel = all(np.linalg.norm(np.cross(n, a)) < 10 * ROUNDED for a in hinges)
        return n if parallel and all(abs(n @ a) < 10 * ROUNDED for a in sliders) else None


def _rank(K: Array) -> int:
    """Rank up to the rounding of published dimensions."""
    if not K.size:
        return 0
    return int(np.linalg.matrix_rank(K, tol=ROUNDED * float(np.linalg.norm(K, 2))))
