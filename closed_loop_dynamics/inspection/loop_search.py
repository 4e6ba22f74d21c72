"""Loops of linkages by search: to which links were the ends in the air joined, and by what joints?

Each end may belong to the few links that are nearest to it: that have a frame or joint there, are
drawn there, or end there as even bars whose centre of mass is half way. Of all combinations the
nearest one is taken that leaves as many degrees of freedom as there are drives; if point contacts
leave more, the cuts of loops that are not planar are hinges, about an axis of their legs (Delta
robots with hinged parallelograms).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..model.poses import link_pose
from ..model.tree import REVOLUTE
from ..model.visual import BOX, CYLINDER, SPHERE, Visual
from ..se3 import inverse
from .loop_branches import Branches, Cut, Guess, Tip, near

#: Links that are tried for one end, and ends of one mechanism for which all of them are.
NEAREST, MOST = 3, 6
#: An end that is further away from all that is known of a link, in lengths of its leg, is no sign.
CLOSE = 0.1


def search_loops(view: Branches, tips: Sequence[Tip], taken: Collection[int]) -> list[Guess]:
    """Mechanisms that explain some of ``tips`` without the bodies that are ``taken``."""
    options = {tip: _options(view, tip, taken) for tip in tips}
    groups: list[tuple[list[Tip], set[int]]] = []
    for tip, cuts in options.items():
        if not cuts:
            continue
        group, joints = [tip], set(view.loop(cuts[0]))
        for other in [g for g in groups if g[1] & joints]:  # loops that share a joint are one
            groups.remove(other)
            group, joints = [*other[0], *group], joints | other[1]
        groups.append((group, joints))
    found = [_best(view, [options[tip] for tip in group]) for group, _ in groups]
    return [guess for guess in found if guess is not None]


def _options(view: Branches, tip: Tip, taken: Collection[int]) -> list[Cut]:
    """The nearest links, with which the loop alone can move."""
    bodies = [b for b in range(-1, len(view.tree.bodies)) if b < 0 or not view.inner(b)]
    found = []
    for cut in sorted((view.cut(tip, b) for b in bodies), key=lambda cut: _distance(view, cut)):
        loop = view.loop(cut)
        free = loop and not set(loop) & set(taken) and view.mobility([cut], loop) > 0
        if free and view.within_reach(cut, _distance(view, cut) / CLOSE):
            found.append(cut)
    return found[:NEAREST]


def _best(view: Branches, options: Sequence[Sequence[Cut]]) -> Guess | None:
    """The first combination, by distance, that leaves as many freedoms as there are drives."""

    def total(cuts: Sequence[Cut]) -> float:
        return sum(_distance(view, cut) for cut in cuts)

    if len(options) > MOST:
        options = [cuts[:1] for cuts in options]
    for chosen in sorted(itertools.product(*options), key=total):
        cuts: list[Cut] = []
        for cut in chosen:
            if not any(_same(view, cut, other) for other in cuts):
                cuts.append(cut)
        joints = view.loop_joints(cuts)
        active = _drives(view, joints)
        for kinds in cut_kinds(view, cuts) if active else ():
            if view.mobility(kinds, joints) != len(active):
                continue
            independent = view.independent_joints(kinds, joints, active, len(active))
            if independent:
                name, normal = view.tree.bodies[active[0]].joint.name, view.plane_normal(joints)
                roles = (tuple(joints), tuple(independent), tuple(active))
                return Guess(name, kinds, *roles, normal)
    return None


def _same(view: Branches, *cuts: Cut) -> bool:
    """One cut, found from both of its sides."""
    first, second = ({cut.tip.body, view.tree.frames[cut.successor][0]} for cut in cuts)
    return first == second and near(cuts[0].tip.point, cuts[1].tip.point)


def _drives(view: Branches, joints: list[int]) -> list[int]:
    """Known ones; those that alone have an effort limit; the first on the base of a linkage."""
    bodies = view.tree.bodies
    if view.hints.driven:
        return view.drives([joints])
    strong = [b for b in joints if 0.0 < bodies[b].joint.effort < np.inf]
    if 0 < len(strong) < len(joints):
        return strong
    on_base = [b for b in joints if bodies[b].parent not in joints]
    on_base.sort(key=lambda b: bool(np.isfinite(bodies[b].joint.upper)))  # cranks turn all round
    return on_base[:1] if view.plane_normal(joints) is not None else []


def cut_kinds(view: Branches, cuts: Sequence[Cut]) -> Iterator[tuple[Cut, ...]]:
    """``cuts`` as points, then as hinges where a loop is not planar; or as the user says."""
    cuts = tuple(replace(cut, normal=view.plane_normal(view.loop(cut))) for cut in cuts)
    kinds = [view.hints.kind] if view.hints.kind else ["spherical", "revolute"]
    for kind, end in itertools.product(kinds, (0, -1)):  # the leg's last hinge, or its first
        yield tuple(
            replace(cut, kind=kind, axis=_axis(view, cut, end))
            if view.hints.kind or cut.normal is None
            else cut
            for cut in cuts
        )


def _axis(view: Branches, cut: Cut, end: int) -> Array:
    """(3,) of a planar loop's pins; or the hinge of a leg next to its tip (0) or its base (-1)."""
    if cut.normal is not None:
        return cut.normal
    leg = view.leg(cut) or view.loop(cut)
    hinges = [b for b in leg if view.tree.bodies[b].joint.kind == REVOLUTE]
    return view.axis(hinges[end]) if hinges else cut.axis


def _distance(view: Branches, cut: Cut) -> float:
    """From a tip to what is known of the body it may join: its frames, joints and looks [m]."""
    tree, tip = view.tree, cut.tip
    b = tree.frames[cut.successor][0]
    links = [link for link, (body, _) in tree.frames.items() if body == b]
    points = [view.point(link) for link in links]
    points += [view.poses[child][:3, 3] for child in view.children[b]]
    body = tree.bodies[b] if b >= 0 else None
    if body and body.mass > 0.0 and len(points) == 1 and not tree.visuals.get(body.link):
        points.append(view.even_end(b))  # nothing else is known
    away = [float(np.linalg.norm(tip.point - point)) for point in points]
    for link in links:
        for visual in tree.visuals.get(link, ()):
            pose = link_pose(tree, view.poses, link) @ visual.pose
            away += _outside(visual, (inverse(pose) @ np.append(tip.point, 1.0))[:3])
    return min(away)


def _outside(visual: Visual, p: Array) -> list[float]:
    """How far a point (3,) in the frame of a shape is outside of it [m]; a mesh is not known."""
    if visual.kind == SPHERE:
        return [max(0.0, float(np.linalg.norm(p)) - visual.size[0])]
    if visual.kind == CYLINDER:
        radius, length = visual.size
        p, half = np.array([np.hypot(p[0], p[1]), p[2]]), np.array([radius, 0.5 * length])
    elif visual.kind == BOX:
        half = 0.5 * np.array(visual.size)
    else:
        return []
    return [float(np.linalg.norm(np.maximum(np.abs(p) - half, 0.0)))]
