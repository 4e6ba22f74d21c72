"""Guesses the loops of a URDF that was cut open into a tree.

The signs that are read: a chain that ends in the air (a slider at its end, or a massless link that
marks its tip) beside another chain on the same link is a leg that was cut off. Where it belongs is
decided by counting: with the cuts closed, the mechanism must be left with as many degrees of
freedom as its legs have drives. Two links that coincide at q = 0 confirm a cut. What cannot be
decided like this is searched for (``loop_search``) or left to the user.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from ..errors import InvalidInput
from ..model.tree import PRISMATIC, REVOLUTE, Tree
from .loop_branches import Branches, Cut, Guess, Hints, Tip, near
from .loop_cranks import crank_guess
from .loop_search import cut_kinds, search_loops
from .tips import is_tip

SPATIAL = 6  # joints of a platform that is free to move in space


def guess_loops(tree: Tree, hints: Hints | None = None) -> tuple[list[Guess], list[Tip]]:
    """Submechanisms that the tree suggests, and ends in the air that remain unexplained."""
    view = Branches(tree, hints)
    guesses: list[Guess] = []
    inside: set[int] = set()  # bodies of legs: no fork of theirs is looked at
    for fork in range(-1, len(tree.bodies)):
        children = [] if fork in inside else [b for b in view.children[fork] if b not in inside]
        legs = {b: tips for b in children if (tips := view.tips(b))}
        others = [b for b in children if b not in legs]
        if not others and len(legs) > 1:  # the heaviest one is what the others move
            heavy = max(legs, key=lambda b: sum(tree.bodies[d].mass for d in view.below(b)))
            others, legs = [heavy], {b: tips for b, tips in legs.items() if b != heavy}
        if legs and others:
            found = _explain(view, legs, others)
            guesses += found
            inside.update(b for guess in found for b in guess.joints if b not in guess.independent)
    left = _left(view.ends(), guesses)
    sure, left = _sure(view, guesses, [tip for tip in left if not _alone(view, tip)])
    more, rest = _searched(view, left, {b for guess in sure for b in guess.joints})
    if rest and sure:  # what was sure alone may be a part of what remains
        tips = [cut.tip for guess in sure for cut in guess.cuts]
        whole, none = _searched(view, [*tips, *left], ())
        if not none:
            return whole, []
    return [*sure, *more], rest


def _left(tips: Iterable[Tip], guesses: Sequence[Guess]) -> list[Tip]:
    """Those at which no guess has a cut."""
    used = [cut.tip.point for guess in guesses for cut in guess.cuts]
    return [tip for tip in tips if not any(near(tip.point, point) for point in used)]


def _searched(
    view: Branches, tips: Sequence[Tip], taken: Collection[int]
) -> tuple[list[Guess], list[Tip]]:
    """What a search without the bodies that are ``taken`` finds, and ends that remain."""
    found = search_loops(view, tips, taken)
    return _sure(view, found, _left(tips, found))


def _sure(
    view: Branches, guesses: Sequence[Guess], left: Sequence[Tip]
) -> tuple[list[Guess], list[Tip]]:
    """Guesses without an unexplained end in their midst, and all ends that remain.

    An end that lies at a pin or mark of other links belongs to one of them, and to no other link.
    """
    unsure = {b for tip in left for b in (tip.body, view.tree.bodies[tip.body].parent)}
    unsure |= {b for tip in left for b in view.bodies_at(tip)}
    sure = [
        guess
        for guess in guesses
        if not unsure.intersection(guess.joints) and all(view.right_place(c) for c in guess.cuts)
    ]
    dropped = {cut.tip for guess in guesses if guess not in sure for cut in guess.cuts}
    return sure, [*left, *sorted(dropped, key=lambda tip: tip.body)]


def _alone(view: Branches, tip: Tip) -> bool:
    """A slider with nothing beside it on the whole way is an axis of its own, not a leg."""
    marked = tip.link != view.tree.bodies[tip.body].link
    way = view.tree.path_to_root(tip.body)
    forks = [view.tree.bodies[b].parent for b in way]
    return not marked and all(len(view.children[fork]) == 1 for fork in forks)


def _explain(view: Branches, legs: dict[int, list[Tip]], others: Sequence[int]) -> list[Guess]:
    """All legs of a fork as one mechanism, or each as its own; nothing if one does not fit."""
    together = _best(view, legs, others, set()) or crank_guess(view, [*legs, *others])
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
    view: Branches, legs: dict[int, list[Tip]], others: Sequence[int], taken: set[int]
) -> Guess | None:
    """Of all that fit: with hinges for the tips if there are any, then the nearest."""
    fits = [fit for main in others for fit in _fits(view, legs, main)]
    fits = [fit for fit in fits if not taken.intersection(fit.joints)]

    def order(fit: Guess) -> tuple[bool, float]:
        furthest = max(view.distance(cut) for cut in fit.cuts)
        return all(cut.swing is None for cut in fit.cuts), furthest

    return min(fits, key=order, default=None)


def _fits(view: Branches, legs: dict[int, list[Tip]], main: int) -> Iterator[Guess]:
    """Targets on the chain ``main`` with which drives and freedoms agree in number."""
    tips = [tip for ends in legs.values() for tip in ends]
    below = [view.below(leg) for leg in legs]
    for cuts in _candidates(view, tips, main):
        joints = view.loop_joints(cuts)
        hinges = {cut.swing for cut in cuts}
        chain = [b for b in joints if main in view.tree.path_to_root(b) and b not in hinges]
        # A platform may also be carried by a leg, which has a drive like the others.
        for active in (view.drives(below), sorted(view.drives([*below, chain]))):
            if len(chain) not in (len(active), SPATIAL):
                continue  # else the legs would have to hold joints between fork and target
            if guess := view.fit(cuts, joints, chain, active):
                yield guess
                break


def _candidates(view: Branches, tips: list[Tip], main: int) -> Iterator[tuple[Cut, ...]]:
    """Links that the tips may have been cut off from: all that ``main`` carries, but legs."""
    swings = [b for b in view.children[main] if view.bare_hinge(b)]
    if len(swings) >= len(tips) > 1:
        yield _paired(view, tips, swings)
    if not view.inner(main):
        yield tuple(view.cut(tip, main) for tip in tips)
    for b in view.children[main]:
        if view.tips(b) is None:
            yield from _candidates(view, tips, b)


def _paired(view: Branches, tips: list[Tip], swings: list[int]) -> tuple[Cut, ...]:
    """Each tip with the nearest hinge that is left."""
    free, cuts = list(swings), []
    for tip in tips:
        nearest = min(free, key=lambda b: float(np.linalg.norm(view.poses[b][:3, 3] - tip.point)))
        free.remove(nearest)
        cuts.append(view.cut(tip, nearest, swing=nearest))
    return tuple(cuts)


# -- with the user's help -------------------------------------------------------------------------


def pair_guesses(
    tree: Tree, pairs: Sequence[tuple[str, str]], hints: Hints | None = None
) -> list[Guess]:
    """Submechanisms of the loops that the user names as (end link, other link)."""
    view = Branches(tree, hints)
    groups: list[tuple[list[Cut], set[int]]] = []
    for first, second in pairs:
        tip, other = _named_tip(view, first, second)
        cuts = [view.cut(tip, tree.frames[other][0], other)]
        joints = set(view.loop_joints(cuts))
        for group in [g for g in groups if g[1] & joints]:  # loops that share a joint are one
            groups.remove(group)
            cuts, joints = [*group[0], *cuts], joints | group[1]
        groups.append((cuts, joints))
    return [_from_cuts(view, tuple(cuts)) for cuts, _ in groups]


def _named_tip(view: Branches, first: str, second: str) -> tuple[Tip, str]:
    """Where the loop of two links was cut, and the link on the other side.

    The point that the user gives; or the origin of a link that marks a point; or the end of a
    slider. The origin of a rod is its near hinge: it ends where one of its links marks it.

    Raises:
        InvalidInput: nothing says where a rod ends.
    """
    tree, point = view.tree, view.hints.points.get(first)
    if point is None and _is_end(view, second) and not _is_end(view, first):
        first, second = second, first
    b = tree.frames[first][0]
    body, hinge = tree.bodies[b], tree.bodies[b].joint.kind == REVOLUTE
    if point is None and first == body.link and hinge and view.hangs(b):
        if tip := view.tip(b):
            return tip, second
        raise InvalidInput(
            f"{first}~{second}: the origin of {first} is its near hinge '{body.joint.name}', and "
            "no link marks its far end; give --at X Y Z, where it ends in its own frame"
        )
    joint = view.fixed.get(first) or body.joint.name
    return Tip(joint, first, b, view.point(first) if point is None else point), second


def _is_end(view: Branches, link: str) -> bool:
    """Whether a link is there to mark a point, or is a slider at the end of a leg."""
    b = view.tree.frames[link][0]
    tip = view.tip(b) if b >= 0 and not view.children[b] else None
    return is_tip(view.tree, link) or (tip is not None and tip.link == link)


def with_pairs(
    tree: Tree,
    guesses: Sequence[Guess],
    pairs: Sequence[tuple[str, str]],
    hints: Hints | None = None,
) -> list[Guess]:
    """Guesses and the loops that the user names: what belongs to one mechanism is put together."""
    result = list(guesses)
    for named in pair_guesses(tree, pairs, hints):
        asked = _ends_of(named)
        related = [g for g in result if set(g.joints) & set(named.joints)]
        if any(asked <= _ends_of(guess) for guess in related):
            continue
        result = [guess for guess in result if guess not in related]
        known = [(cut.tip.link, cut.successor) for cut in named.cuts]
        tips = {tip for tip, _ in known}
        more = [(cut.tip.link, cut.successor) for guess in related for cut in guess.cuts]
        more = [pair for pair in more if pair[0] not in tips]
        result += pair_guesses(tree, [*known, *more], hints)
    return result


def _ends_of(guess: Guess) -> set[frozenset[str]]:
    """Which links are joined."""
    return {frozenset((cut.tip.link, cut.successor)) for cut in guess.cuts}


def _from_cuts(view: Branches, cuts: tuple[Cut, ...]) -> Guess:
    tree, joints = view.tree, view.loop_joints(cuts)
    driven = view.drives([joints]) if view.hints.driven else []
    if driven or view.hints.kind:
        kinds = list(cut_kinds(view, cuts))
        fitting = [each for each in kinds if view.mobility(each, joints) == len(driven)]
        cuts = (fitting or kinds)[0]
    freedom = view.mobility(cuts, joints)
    weight = {b: _importance(view, cuts, b) for b in joints}
    most = max(weight.values())[:2]
    order = sorted(joints, key=weight.__getitem__, reverse=True)
    chain = [b for b in order if weight[b][:2] == most]
    independent = view.independent_joints(cuts, joints, chain, freedom) or []
    rest = [b for b in joints if b not in independent]
    active = driven or _strongest(tree, [*rest, *independent], freedom)
    name = tree.bodies[independent[-1]].joint.name if independent else cuts[0].tip.link
    normal = view.plane_normal(joints)
    return Guess(name, cuts, tuple(joints), tuple(independent), tuple(active), normal)


def _importance(view: Branches, cuts: Sequence[Cut], b: int) -> tuple[int, bool, int]:
    """What many loops share, or one loop's other side, is commanded rather than a leg's joint."""
    count = sum(b in view.loop(cut) for cut in cuts)
    ends = [view.tree.frames[cut.successor][0] for cut in cuts]
    other_side = any(b in view.tree.path_to_root(end) for end in ends if end >= 0)
    return count, other_side and len(cuts) == 1, len(view.below(b))


def _strongest(tree: Tree, bodies: list[int], count: int) -> list[int]:
    """Sliders, then joints with a limited effort, then any."""

    def order(b: int) -> tuple[bool, bool]:
        joint = tree.bodies[b].joint
        return joint.kind != PRISMATIC, not 0.0 < joint.effort < np.inf

    return sorted(sorted(bodies, key=order)[:count])
