"""What a guess of loops did not use although it looks like part of a loop or gear."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.tree import REVOLUTE, Tree
from .loop_branches import Branches, Guess, near

#: A chain whose last link has less than this part of the robot's mass carries nothing.
LIGHT = 1e-3


def doubts(tree: Tree, guesses: Sequence[Guess]) -> list[str]:
    """Sentences about links that no guess explains, each with a remedy."""
    view, used = Branches(tree), {b for guess in guesses for b in guess.joints}
    return [*_same_place(view, used), *_loose_rods(view, used)]


def _same_place(view: Branches, used: set[int]) -> list[str]:
    """Links at one point on different branches: cut open there, or geared."""
    free = [b for b in range(len(view.tree.bodies)) if b not in used]
    found: list[str] = []
    while free:
        first, *others = free
        point = view.poses[first][:3, 3]
        group = [first, *(b for b in others if near(view.poses[b][:3, 3], point))]
        free = [b for b in free if b not in group]
        if _branches(view.tree, group) > 1:
            names = ", ".join(view.link(b) for b in group)
            found.append(
                f"{names} lie at one point at q = 0, on different branches: if they were cut "
                "apart there, give --loop; if they are geared, write `couplings:`"
            )
    return found


def _loose_rods(view: Branches, used: set[int]) -> list[str]:
    """Chains that end in a universal or ball joint which carries next to nothing."""
    bodies = view.tree.bodies
    total = sum(body.mass for body in bodies)
    found = []
    for b, body in enumerate(bodies):
        hinges = body.joint.kind == REVOLUTE and body.parent >= 0
        if view.children[b] or not hinges or b in used or body.mass > LIGHT * total:
            continue
        if near(view.poses[b][:3, 3], view.poses[body.parent][:3, 3]):
            found.append(
                f"{body.link} ends in a ball or universal joint and carries next to nothing: if it "
                f"is the end of a rod, say where (--loop {body.link}~OTHER_LINK)"
            )
    return found


def _branches(tree: Tree, group: Sequence[int]) -> int:
    """How many of the bodies carry no other one of the group."""
    carrying = {p for b in group for p in tree.path_to_root(b) if p != b}
    return sum(b not in carrying for b in group)
