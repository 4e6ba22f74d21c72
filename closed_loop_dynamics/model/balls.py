"""Ball joints that loops move: three hinges in place of each.

Newton's method closes loops in numbers that it may add to; outside of loops a ball joint stays what
it is. Where the file shows the robot the hinges are at right angles, as far from locking as they
can be; where the first and the last become parallel the loop is singular, and is said to be. That
takes a quarter turn of the middle one, so it is about the axis that the hinges of the loop turn the
least: in a planar loop it does not turn at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..arrays import Array
from .clusters import loop_bodies
from .implied import make_unique
from .poses import Poses, body_poses
from .remark import Remark
from .submechanism import LoopConstraint
from .tree import REVOLUTE, SPHERICAL, Body, Tree

#: Shares of the hinges' turns that are no reason to leave the order x, y, z.
ALIKE = 1e-6


def with_hinged_balls(tree: Tree, loops: Iterable[LoopConstraint]) -> Tree:
    """``tree`` with every ball ``NAME`` that a loop moves as ``NAME_X``, ``NAME_Y``, ``NAME_Z``."""
    ways = [loop_bodies(tree, loop) for loop in loops]
    balls = {b for way in ways for b in way if tree.bodies[b].joint.kind == SPHERICAL}
    if not balls:
        return tree
    poses = body_poses(tree)
    bodies: list[Body] = []
    remarks = list(tree.remarks)
    at, joints, links = {-1: -1}, {*tree.joint_names}, {*tree.frames}
    for b, body in enumerate(tree.bodies):
        parts = [replace(body, parent=at[body.parent])]
        if b in balls:
            others = {x for way in ways if b in way for x in way}
            axes = _order(tree, poses, b, others)
            names = [make_unique(f"{body.joint.name}_{'XYZ'[k]}", joints) for k in axes]
            between = [make_unique(name, links) for name in names[:2]]
            parts = _hinges(parts[0], names, np.eye(3)[axes], between, len(bodies))
            message = f"the ball joint '{body.joint.name}' is three hinges here: {', '.join(names)}"
            remarks.append(Remark("info", "ball-as-hinges", message))
        bodies += parts
        at[b] = len(bodies) - 1
    frames = {body.link: (b, np.eye(4)) for b, body in enumerate(bodies)}
    frames |= {link: (at[b], frame) for link, (b, frame) in tree.frames.items()}
    return replace(tree, bodies=tuple(bodies), frames=frames, remarks=tuple(remarks))


def _order(tree: Tree, poses: Poses, ball: int, others: Iterable[int]) -> list[int]:
    """Axes of the ball's frame: in the middle the one that hinges of the loop turn the least."""
    turned = np.zeros(3)
    for b in others:
        if tree.bodies[b].joint.kind == REVOLUTE:
            turned += (poses[ball][:3, :3].T @ poses[b][:3, :3] @ tree.bodies[b].joint.axis) ** 2
    middle = 1 if turned[1] <= turned.min() + ALIKE else int(np.argmin(turned))
    first, last = (k for k in range(3) if k != middle)
    return [first, middle, last]


def _hinges(body: Body, names: list[str], axes: Array, links: list[str], number: int) -> list[Body]:
    """The bodies ``number`` and following in place of one: two without mass, and itself."""
    result = []
    for k, (name, axis) in enumerate(zip(names, axes, strict=True)):
        placement = np.eye(4) if k else body.joint.placement
        joint = replace(body.joint, name=name, kind=REVOLUTE, placement=placement, axis=axis)
        parent = number + k - 1 if k else body.parent
        if k < 2:
            nothing = 0.0, np.zeros(3), np.zeros((3, 3)), (links[k],)
            result.append(Body(links[k], parent, joint, *nothing))
        else:
            result.append(replace(body, parent=parent, joint=joint))
    return result
