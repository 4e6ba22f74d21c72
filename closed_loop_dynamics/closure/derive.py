"""Loop constraints of submechanisms that carry none.

Files written for analytical solvers (HyRoDyn) name the mechanism type and its joints, not the cut.
The cut follows from the tree: each leg, the chain that holds an active joint, ends on the platform,
the link of the last independent joint.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model.poses import Poses, body_poses
from ..model.submechanism import ConstraintAxis, LoopConstraint, Submechanism
from ..model.tree import REVOLUTE, Tree
from ..model.words import FUNCTION
from ..se3 import inverse, pose


def with_derived_loops(tree: Tree, entry: Submechanism) -> Submechanism:
    """The entry itself, or the entry with loops derived from its legs when it has none."""
    free = len(entry.spanning) - len(entry.independent)
    if entry.loops or free == len(entry.couplings) or entry.type == FUNCTION:
        return entry
    poses = body_poses(tree)
    bodies = [tree.joint_index(name) for name in entry.spanning]
    platform = max(
        (tree.joint_index(name) for name in entry.independent),
        key=lambda b: len(tree.path_to_root(b)),
    )
    tips = [
        _leg_tip(tree, tree.joint_index(name), bodies)
        for name in entry.active
        if name not in entry.independent
    ]
    hinges = _platform_hinges(tree, poses, tips, platform, bodies)
    loops = [_leg_loop(tree, entry, poses, tip, platform, hinges.get(tip)) for tip in tips]
    if not loops:
        raise entry.error(
            f"submechanism '{entry.name}' of type '{entry.type}' has {free} dependent joints but "
            "neither loop_constraints nor couplings, and no active joint from which to derive them",
            "add loop_constraints (see the README) or couplings",
        )
    return replace(entry, loops=tuple(loops))


def _leg_tip(tree: Tree, active: int, bodies: list[int]) -> int:
    """The outermost joint of the entry on the chain of the active joint."""
    below = [b for b in bodies if active in tree.path_to_root(b)]
    return max(below, key=lambda b: len(tree.path_to_root(b)))


def _platform_hinges(
    tree: Tree, poses: Poses, tips: list[int], platform: int, bodies: list[int]
) -> dict[int, int]:
    """Leg tip -> the hinge on the platform it ends on (2-SPRR+1U), nearest pairs first."""
    hinges = [
        b
        for b in bodies
        if platform in tree.path_to_root(tree.bodies[b].parent)
        and tree.bodies[b].joint.kind == REVOLUTE
    ]
    distance = {
        (t, h): float(np.linalg.norm(poses[t][:3, 3] - poses[h][:3, 3]))
        for t in tips
        for h in hinges
    }
    pairs: dict[int, int] = {}
    for tip, hinge in sorted(distance, key=lambda pair: distance[pair]):
        if tip not in pairs and hinge not in pairs.values():
            pairs[tip] = hinge
    return pairs


_TRANSLATIONS = (
    ConstraintAxis("loopTX", (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)),
    ConstraintAxis("loopTY", (0.0, 0.0, 0.0, 0.0, 1.0, 0.0)),
    ConstraintAxis("loopTZ", (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)),
)


def _leg_loop(
    tree: Tree, entry: Submechanism, poses: Poses, tip: int, platform: int, hinge: int | None
) -> LoopConstraint:
    place = f"{entry.place} (derived from the tree)"
    rod = tree.bodies[tip].link
    if hinge is None:
        return LoopConstraint(
            predecessor=rod,
            successor=tree.bodies[platform].link,
            axes=_TRANSLATIONS,
            cut_joint=tree.bodies[tip].joint.name,
            place=place,
        )
    # The rod may spin (its other end is a ball) and swing about a second hinge normal to the
    # first; so that second hinge, fixed in the intermediate link, stays normal to the rod:
    # cut frame x = locked axis, y = second hinge, z = rod.
    z = poses[tip][:3, :3] @ tree.bodies[tip].joint.axis
    first = poses[hinge][:3, :3] @ tree.bodies[hinge].joint.axis
    y = np.cross(z, first)
    if np.linalg.norm(y) < 0.1:
        raise entry.error(
            f"the leg ending at '{rod}' is nearly parallel to the platform hinge "
            f"'{tree.bodies[hinge].joint.name}': the cut joint cannot be derived",
            "add loop_constraints",
        )
    y = y / np.linalg.norm(y)
    cut = pose(np.column_stack([np.cross(y, z), y, z]), poses[tip][:3, 3])
    return LoopConstraint(
        predecessor=tree.bodies[hinge].link,
        successor=rod,
        axes=(*_TRANSLATIONS, ConstraintAxis("loopRX", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))),
        predecessor_frame=inverse(poses[hinge]) @ cut,
        successor_frame=inverse(poses[tip]) @ cut,
        place=place,
    )
