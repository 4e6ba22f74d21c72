"""What a guess of loops did not use although it looks like part of a loop or gear."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..model.tree import REVOLUTE, Tree
from .loop_branches import Branches, Guess
from .loop_mobility import COINCIDENT

#: A chain whose last link has less than this part of the robot's mass carries nothing.
LIGHT = 1e-3


def doubts(tree: Tree, guesses: Sequence[Guess]) -> list[str]:
    """Sentences about links that no guess explains, each with a remedy."""
    view = Branches(tree)
    return [*_same_place(view, guesses), *_loose_rods(view, guesses)]


def _same_place(view: Branches, guesses: Sequence[Guess]) -> list[str]:
    """Links at one point on different branches: cut open there, or geared."""
    free = [b for b in range(len(view.tree.bodies)) if not _used(b, guesses)]
    found: list[str] = []
    while free:
        first, *others = free
        point = view.poses[first][:3, 3]
        group = [first, *(b for b in others if _near(view.poses[b][:3, 3], point))]
        free = [b for b in free if b not in group]
        if _branches(view.tree, group) > 1:
            names = ", ".join(view.link(b) for b in group)
            found.append(
                f"{names} lie at one point at q = 0, on different branches: if they were cut "
                "apart there, give --loop; if they are geared, write `couplings:`"
            )
    return found


def _loose_rods(view: Branches, guesses: Sequence[Guess]) -> list[str]:
    """Chains that end in a universal or ball joint which carries next to nothing."""
    bodies = view.tree.bodies
    total = sum(body.mass for body in bodies)
    found = []
    for b, body in enumerate(bodies):
        hinges = body.joint.kind == REVOLUTE and body.parent >= 0
        if view.children[b] or not hinges or _used(b, guesses) or body.mass > LIGHT * total:
            continue
        if _near(view.poses[b][:3, 3], view.poses[body.parent][:3, 3]):
            found.append(
                f"{body.link} ends in a ball or universal joint and carries next to nothing: if it "
                f"is the end of a rod, say where (--loop {body.link}~OTHER_LINK)"
            )
    return found


def _branches(tree: Tree, group: Sequence[int]) -> int:
    """How many of the bodies carry no other one of the group."""
    carrying = {p for b in group for p in tree.path_to_root(b) if p != b}
    return sum(b not in carrying for b in group)


def _used(b: int, guesses: Sequence[Guess]) -> bool:
    return any(b in guess.joints for guess in guesses)


def _near(a: Array, b: Array) -> bool:
    return bool(np.linalg.norm(a - b) < COINCIDENT)
