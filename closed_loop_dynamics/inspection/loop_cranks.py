"""Legs between legs: cylinders move cranks, and rods lead from the cranks to a platform.

The wrist of a humanoid arm or the bucket of an excavator. In the tree all start at one link: the
cylinders, the cranks (a hinge that carries nothing) and the chain that ends in the platform; the
rods hang on the platform and end in the air at the cranks. As elsewhere, counting decides: with all
cuts closed there must be as many degrees of freedom as cylinders, and as many joints in the chain.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from ..model.tree import REVOLUTE
from .loop_branches import Branches, Cut, Guess, Tip

MOST = 6  # cranks: every order is tried


def crank_guess(view: Branches, children: Sequence[int]) -> Guess | None:
    """The mechanism of all chains on one link, if it is cylinders, cranks, rods and a platform."""
    cranks = [b for b in children if view.bare_hinge(b)]
    if not 0 < len(cranks) <= MOST:
        return None
    for main in children:
        if main in cranks:
            continue
        legs = [b for b in children if b not in (main, *cranks)]
        strokes = [tips[0] for b in legs if (tips := view.tips(b)) and len(tips) == 1]
        if len(strokes) != len(cranks):
            continue
        for platform in view.below(main):
            rods = [end for b in view.children[platform] if (end := _rod_end(view, b))]
            if len(rods) == len(cranks):
                guess = _fit(view, strokes, rods, cranks, platform)
                if guess is not None:
                    return guess
    return None


def _rod_end(view: Branches, b: int) -> Tip | None:
    """The end of a rod that starts with body ``b``: two or more hinges in a row, no fork."""
    row = view.below(b)
    bodies = [view.tree.bodies[d] for d in row]
    hinges = all(body.joint.kind == REVOLUTE for body in bodies)
    if len(row) < 2 or not hinges or any(len(view.children[d]) > 1 for d in row):
        return None
    end = row[-1]
    return view.tip(end) or Tip(bodies[-1].joint.name, bodies[-1].link, end, view.poses[end][:3, 3])


def _fit(
    view: Branches, strokes: list[Tip], rods: list[Tip], cranks: list[int], platform: int
) -> Guess | None:
    tree = view.tree
    cuts = (*_nearest(view, rods, cranks), *_nearest(view, strokes, cranks))
    joints = view.loop_joints(cuts)
    legs = [[b for b in tree.path_to_root(tip.body) if b in joints][::-1] for tip in strokes]
    active = sorted(view.drives(legs))
    chain = sorted(b for b in tree.path_to_root(platform) if b in joints)
    guess = view.fit(cuts, joints, chain, active) if len(chain) == len(active) else None
    return guess if guess is not None and guess.independent == tuple(chain) else None


def _nearest(view: Branches, tips: list[Tip], cranks: list[int]) -> tuple[Cut, ...]:
    """Each tip with a crank of its own, so that all are as near as possible."""

    def cuts(order: Sequence[int]) -> list[Cut]:
        return list(map(view.cut, tips, order))

    def total(order: Sequence[int]) -> float:
        return sum(view.distance(cut) for cut in cuts(order))

    best = min(itertools.permutations(cranks), key=total)
    return tuple(replace(cut, normal=view.plane_normal(view.loop(cut))) for cut in cuts(best))
