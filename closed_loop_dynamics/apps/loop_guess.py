"""Guesses the loops of a URDF that was cut open into a tree.

The signs that are read: a chain that ends in the air (a slider at its end, or a massless link that
marks its tip) beside another chain on the same link is a leg that was cut off. Where it belongs is
decided by counting: with the cuts closed, the mechanism must be left with as many degrees of
freedom as its legs have drives. Two links that coincide at q = 0 confirm a cut. What cannot be
decided like this (gears, legs between legs) is left to the user.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.clusters import loop_bodies
from ..model.poses import body_poses, link_pose
from ..model.submechanism import LoopConstraint
from ..model.tree import PRISMATIC, REVOLUTE, Array, Tree
from .loop_mobility import COINCIDENT, ROUNDED, Cut, Tip, constraints, mobility, rank

SPATIAL = 6  # joints of a platform that is free to move in space
#: Names of frames at the end of an arm or leg that are no rod ends.
_TOOLS = re.compile(
    r"tool|tcp|sole|hand|foot|camera|imu|sensor|grip|finger|jaw|(^|_)ee(_|$)", re.IGNORECASE
)

_ENDS = re.compile(r"(^|_)(tip|end|pin)(_|$|\d)", re.IGNORECASE)


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


class _Branches:
    """Children, leaves and tips of a tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.poses = body_poses(tree)
        self.children: dict[int, list[int]] = {b: [] for b in range(-1, len(tree.bodies))}
        for b, body in enumerate(tree.bodies):
            self.children[body.parent].append(b)
        self.fixed = {link: joint for joint, link in tree.fixed_joint_children.items()}

    def below(self, b: int) -> list[int]:
        """The body and all that it carries."""
        return [b, *(d for child in self.children[b] for d in self.below(child))]

    def leaves(self, b: int) -> list[int]:
        return [d for d in self.below(b) if not self.children[d]]

    def tip(self, b: int) -> Tip | None:
        """The end of a chain that stops at body ``b``, if it looks like the end of a leg."""
        body = self.tree.bodies[b]
        for link in body.links[1:]:
            mass = self.tree.link_inertias.get(link, (0.0,))[0]
            point = link_pose(self.tree, self.poses, link)[:3, 3]
            away = np.linalg.norm(point - self.poses[b][:3, 3])
            if mass == 0.0 and away > COINCIDENT and not _TOOLS.search(link):
                return Tip(self.fixed[link], link, b, point)
        if body.joint.kind == PRISMATIC and not _TOOLS.search(body.link):
            return Tip(body.joint.name, body.link, b, self.poses[b][:3, 3])
        return None

    def tips(self, b: int) -> list[Tip] | None:
        """Ends of a leg that starts with body ``b``; None if it is no leg."""
        found = [self.tip(leaf) for leaf in self.leaves(b)]
        tips = [tip for tip in found if tip is not None]
        return tips if len(tips) == len(found) and len(self.below(b)) > 1 else None

    def ends(self) -> Iterator[Tip]:
        """All ends in the air: of chains, and links on the way that are called so."""
        for b in range(len(self.tree.bodies)):
            tip = self.tip(b)
            if tip and (not self.children[b] or _ENDS.search(tip.link)):
                yield tip

    def link(self, b: int) -> str:
        return self.tree.bodies[b].link if b >= 0 else self.tree.root_link


def guess_loops(tree: Tree) -> tuple[list[Guess], list[Tip]]:
    """Submechanisms that the tree suggests, and ends in the air that remain unexplained."""
    view = _Branches(tree)
    guesses: list[Guess] = []
    inside: set[int] = set()  # bodies of legs: no fork of theirs is looked at
    for fork in range(-1, len(tree.bodies)):
        children = [] if fork in inside else view.children[fork]
        legs = {b: tips for b in children if (tips := view.tips(b))}
        others = [b for b in children if b not in legs]
        if not others and len(legs) > 1:  # the heaviest one is what the others move
            heavy = max(legs, key=lambda b: sum(tree.bodies[d].mass for d in view.below(b)))
            others, legs = [heavy], {b: tips for b, tips in legs.items() if b != heavy}
        if legs and others:
            found = _explain(view, legs, others)
            guesses += found
            inside.update(d for b in legs for d in view.below(b) if found)
    used = {cut.tip.link for guess in guesses for cut in guess.cuts}
    left = [tip for tip in view.ends() if tip.link not in used and not _alone(view, tip)]
    unsure = {b for tip in left for b in (tip.body, tree.bodies[tip.body].parent)}
    sure = [guess for guess in guesses if not unsure.intersection(guess.joints)]
    dropped = {cut.tip for guess in guesses if guess not in sure for cut in guess.cuts}
    return sure, [*left, *sorted(dropped, key=lambda tip: tip.body)]


def _alone(view: _Branches, tip: Tip) -> bool:
    """A slider with nothing beside it on the whole way is an axis of its own, not a leg."""
    marked = tip.link != view.tree.bodies[tip.body].link
    way = view.tree.path_to_root(tip.body)
    forks = [view.tree.bodies[b].parent for b in way]
    return not marked and all(len(view.children[fork]) == 1 for fork in forks)


def _explain(view: _Branches, legs: dict[int, list[Tip]], others: Sequence[int]) -> list[Guess]:
    """All legs of a fork as one mechanism, or each as its own; nothing if one does not fit."""
    together = _best(view, legs, others, set())
    if together is not None:
        return [together]
    found: list[Guess] = []
    taken: set[int] = set()
    for leg, tips in legs.items():
        alone = _best(view, {leg: tips}, others, taken)
        if alone is None:
            return []
        found.append(alone)
        taken.update(alone.joints)
    return found


def _best(
    view: _Branches, legs: dict[int, list[Tip]], others: Sequence[int], taken: set[int]
) -> Guess | None:
    """Of all that fit: with hinges for the tips if there are any, then the nearest."""
    fits = [fit for main in others for fit in _fits(view, legs, main)]
    fits = [fit for fit in fits if not taken.intersection(fit.joints)]

    def order(fit: Guess) -> tuple[bool, float]:
        return all(cut.swing is None for cut in fit.cuts), max(
            _distance(view, cut) for cut in fit.cuts
        )

    return min(fits, key=order, default=None)


def _distance(view: _Branches, cut: Cut) -> float:
    """How far a tip is from the link that it would join: from its joints and its centre [m]."""
    b = view.tree.frames[cut.successor][0]
    body, pose = view.tree.bodies[b], view.poses[b]
    placements = [view.tree.bodies[d].joint.placement for d in view.children[b]]
    points = [pose[:3, 3], *((pose @ placement)[:3, 3] for placement in placements)]
    if body.mass > 0.0:
        points.append(pose[:3, :3] @ (body.first_moment / body.mass) + pose[:3, 3])
    return min(float(np.linalg.norm(cut.tip.point - point)) for point in points)


def _within_reach(view: _Branches, cut: Cut) -> bool:
    """The link to join is not further away than the leg is long."""
    fork = loop_bodies(view.tree, LoopConstraint(cut.tip.link, cut.successor, ()))
    leg = [b for b in view.tree.path_to_root(cut.tip.body) if b in fork]
    points = [cut.tip.point, *(view.poses[b][:3, 3] for b in leg)]
    length = sum(float(np.linalg.norm(a - b)) for a, b in itertools.pairwise(points))
    return _distance(view, cut) < length + COINCIDENT


def _fits(view: _Branches, legs: dict[int, list[Tip]], main: int) -> Iterator[Guess]:
    """Targets on the chain ``main`` with which drives and freedoms agree in number."""
    tips = [tip for ends in legs.values() for tip in ends]
    active = _drives(view.tree, [view.below(leg) for leg in legs])
    for cuts in _candidates(view, tips, main):
        joints = _joints(view, cuts)
        hinges = {cut.swing for cut in cuts}
        chain = [b for b in joints if main in view.tree.path_to_root(b) and b not in hinges]
        if len(chain) not in (len(active), SPATIAL):
            continue  # else the legs would have to hold joints between fork and target
        if not all(_within_reach(view, cut) for cut in cuts):
            continue
        if mobility(view.tree, view.poses, cuts, joints) != len(active):
            continue
        independent = _independent(view, cuts, joints, chain, len(active))
        if independent is not None:
            name = view.tree.bodies[independent[-1]].joint.name
            normal = _normal(view, joints) if not hinges - {None} else None
            yield Guess(name, cuts, tuple(joints), tuple(independent), tuple(active), normal)


def _candidates(view: _Branches, tips: list[Tip], main: int) -> Iterator[tuple[Cut, ...]]:
    """Links that the tips may have been cut off from: all that ``main`` carries, but legs."""
    swings = [
        b
        for b in view.children[main]
        if not view.children[b]
        and view.tree.bodies[b].joint.kind == REVOLUTE
        and view.tip(b) is None
    ]
    if len(swings) >= len(tips) > 1:
        yield _paired(view, tips, swings)
    yield tuple(Cut(tip, view.link(main), None, _coincides(view, tip, main)) for tip in tips)
    for b in view.children[main]:
        if view.tips(b) is None:
            yield from _candidates(view, tips, b)


def _paired(view: _Branches, tips: list[Tip], swings: list[int]) -> tuple[Cut, ...]:
    """Each tip with the nearest hinge that is left."""
    free, cuts = list(swings), []
    for tip in tips:
        near = min(free, key=lambda b: float(np.linalg.norm(view.poses[b][:3, 3] - tip.point)))
        free.remove(near)
        cuts.append(Cut(tip, view.link(near), near, _coincides(view, tip, near)))
    return tuple(cuts)


def _coincides(view: _Branches, tip: Tip, body: int) -> str:
    for link in view.tree.bodies[body].links if body >= 0 else ():
        if np.linalg.norm(link_pose(view.tree, view.poses, link)[:3, 3] - tip.point) < COINCIDENT:
            return link
    return ""


def _joints(view: _Branches, cuts: Sequence[Cut]) -> list[int]:
    """Bodies on the loops."""
    bodies: set[int] = set()
    for cut in cuts:
        bodies.update(loop_bodies(view.tree, LoopConstraint(cut.tip.link, cut.successor, ())))
    return sorted(bodies)


def _drives(tree: Tree, legs: list[list[int]]) -> list[int]:
    """One joint per leg: that with an effort limit where others have none, a slider, the first."""
    drives = []
    for bodies in legs:
        strong = [b for b in bodies if 0.0 < tree.bodies[b].joint.effort < np.inf]
        sliders = [b for b in bodies if tree.bodies[b].joint.kind == PRISMATIC]
        if 0 < len(strong) < len(bodies):
            drives.append(next((b for b in sliders if b in strong), strong[0]))
        else:
            drives.append(sliders[0] if sliders else bodies[0])
    return drives


def _independent(
    view: _Branches, cuts: Sequence[Cut], joints: list[int], chain: list[int], count: int
) -> list[int] | None:
    """``count`` joints, of the chain if possible and hinges first, that determine the others."""
    K = constraints(view.tree, view.poses, cuts, joints)
    full = rank(K)
    wanted = sorted(chain, key=lambda b: view.tree.bodies[b].joint.kind == PRISMATIC)
    order = [*wanted, *(b for b in joints if b not in chain)]
    chosen: list[int] = []
    for b in order:
        if len(chosen) == count:
            break
        rest = [k for k, j in enumerate(joints) if j not in (*chosen, b)]
        if rank(K[:, rest]) == full:
            chosen.append(b)
    return sorted(chosen) if len(chosen) == count else None


def _normal(view: _Branches, joints: Sequence[int]) -> Array | None:
    """The common direction of all hinges when the sliders are normal to it."""
    axes = {b: view.poses[b][:3, :3] @ view.tree.bodies[b].joint.axis for b in joints}
    hinges = [axes[b] for b in joints if view.tree.bodies[b].joint.kind == REVOLUTE]
    sliders = [axes[b] for b in joints if view.tree.bodies[b].joint.kind == PRISMATIC]
    if not hinges:
        return None
    n = hinges[0]
    parallel = all(np.linalg.norm(np.cross(n, a)) < 10 * ROUNDED for a in hinges)
    return n if parallel and all(abs(n @ a) < 10 * ROUNDED for a in sliders) else None


# -- with the user's help -------------------------------------------------------------------------


def pair_guesses(tree: Tree, pairs: Sequence[tuple[str, str]]) -> list[Guess]:
    """Submechanisms of the loops that the user names as (end link, other link)."""
    view = _Branches(tree)
    groups: list[tuple[list[Cut], set[int]]] = []
    for first, second in pairs:
        body = tree.frames[first][0]
        joint = view.fixed.get(first) or tree.bodies[body].joint.name
        tip = Tip(joint, first, body, link_pose(tree, view.poses, first)[:3, 3])
        cuts = [Cut(tip, second, None, _coincides(view, tip, tree.frames[second][0]))]
        joints = set(_joints(view, cuts))
        for group in [g for g in groups if g[1] & joints]:  # loops that share a joint are one
            groups.remove(group)
            cuts, joints = [*group[0], *cuts], joints | group[1]
        groups.append((cuts, joints))
    return [_from_cuts(view, tuple(cuts)) for cuts, _ in groups]


def _from_cuts(view: _Branches, cuts: tuple[Cut, ...]) -> Guess:
    tree, joints = view.tree, _joints(view, cuts)
    freedom = mobility(tree, view.poses, cuts, joints)
    weight = {b: _importance(view, cuts, b) for b in joints}
    most = max(weight.values())[:2]
    chain = [
        b for b in sorted(joints, key=weight.__getitem__, reverse=True) if weight[b][:2] == most
    ]
    independent = _independent(view, cuts, joints, chain, freedom) or []
    rest = [b for b in joints if b not in independent]
    active = _strongest(tree, rest, freedom)
    name = tree.bodies[independent[-1]].joint.name if independent else cuts[0].tip.link
    normal = _normal(view, joints)
    return Guess(name, cuts, tuple(joints), tuple(independent), tuple(active), normal)


def _importance(view: _Branches, cuts: Sequence[Cut], b: int) -> tuple[int, bool, int]:
    """What many loops share, or one loop's other side, is commanded rather than a leg's joint."""
    loops = [LoopConstraint(cut.tip.link, cut.successor, ()) for cut in cuts]
    count = sum(b in loop_bodies(view.tree, loop) for loop in loops)
    ends = [view.tree.frames[cut.successor][0] for cut in cuts]
    other_side = any(b in view.tree.path_to_root(end) for end in ends if end >= 0)
    return count, other_side and len(cuts) == 1, len(view.below(b))


def _strongest(tree: Tree, bodies: list[int], count: int) -> list[int]:
    """Sliders, then joints with a limited effort, then any."""

    def order(b: int) -> tuple[bool, bool]:
        joint = tree.bodies[b].joint
        return joint.kind != PRISMATIC, not 0.0 < joint.effort < np.inf

    return sorted(sorted(bodies, key=order)[:count])
