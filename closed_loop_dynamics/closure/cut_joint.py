"""Cut-joint constraints from elementary position and orientation constraints.

A loop is cut between two bodies; a frame P on the predecessor and a frame S on the successor must
agree in the constrained directions (Mueller 2022, appendix A). How far they are from that, and how
the joints change it, is in :mod:`.cut_kinematics`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..model.poses import Poses, body_poses, link_pose
from ..model.submechanism import LoopConstraint, Submechanism
from ..model.tree import PRISMATIC, Tree
from ..se3 import inverse
from ..spatial import SX, rotation, sx

#: Axes count as parallel up to this angle [rad]; published dimensions are rounded.
PLANAR = 1e-3


@dataclass(frozen=True, eq=False)
class CutJoint:
    """A loop constraint with its frames resolved.

    Attributes:
        predecessor, successor: body indices (-1: the fixed root).
        frame_p, frame_s: (4, 4) cut frames in the body frames.
        translations, rotations: constrained unit axes in frame P.
        base: body of the last common ancestor, where the loop is rooted.
        chain_p, chain_s: bodies from below ``base`` out to predecessor and successor.
        labels: one text per row of the residual.
        gap_axes: (3, 3) rows: the axes of the base frame in which a full gap is written; for a
            planar loop the last one is the normal, so that dropping it leaves the plane.
        explicit: the file gave the frames (the loop may be open at q = 0).
    """

    predecessor: int
    successor: int
    frame_p: Array
    frame_s: Array
    translations: tuple[Array, ...]
    rotations: tuple[Array, ...]
    base: int
    chain_p: tuple[int, ...]
    chain_s: tuple[int, ...]
    labels: tuple[str, ...]
    gap_axes: Array
    explicit: bool

    @property
    def bodies(self) -> tuple[int, ...]:
        """All bodies whose joints move the loop."""
        return self.chain_p + self.chain_s

    def direction(self, successor: bool) -> Array:
        """The unit vector of frame S (or P) that one or two rotation rows hold.

        Two rows keep the free axis of both frames together; one keeps b of P normal to c of S.
        """
        if len(self.rotations) == 2:
            free = np.cross(*self.rotations)
            return np.asarray(free / np.linalg.norm(free))
        return universal_axes(self.rotations[0])[successor]


def resolve(tree: Tree, entry: Submechanism, loop: LoopConstraint) -> CutJoint:
    """Attach the cut frames: explicit ones, or the child frame of ``cut_joint`` at q = 0."""
    pred, offset_p = tree.frames[loop.predecessor]
    succ, offset_s = tree.frames[loop.successor]
    poses = body_poses(tree)
    if loop.predecessor_frame is not None and loop.successor_frame is not None:
        frame_p, frame_s = offset_p @ loop.predecessor_frame, offset_s @ loop.successor_frame
    else:
        joint = str(loop.cut_joint)
        link = tree.fixed_joint_children.get(joint) or tree.bodies[tree.joint_index(joint)].link
        cut = link_pose(tree, poses, link)
        frame_p, frame_s = inverse(poses[pred]) @ cut, inverse(poses[succ]) @ cut
    path_p, path_s = tree.path_to_root(pred), tree.path_to_root(succ)
    base = next((b for b in path_p if b in path_s), -1)
    chain_p = tuple(b for b in reversed(path_p) if b not in path_s)
    chain_s = tuple(b for b in reversed(path_s) if b not in path_p)
    _check_joints(tree, entry, loop, chain_p + chain_s)
    gap_axes = _gap_axes(tree, poses, base, chain_p + chain_s)
    translations = [a for a in loop.axes if any(a.axis[3:])]
    rotations = [a for a in loop.axes if any(a.axis[:3])]
    return CutJoint(
        pred,
        succ,
        frame_p,
        frame_s,
        tuple(np.array(a.axis[3:]) for a in translations),
        tuple(np.array(a.axis[:3]) for a in rotations),
        base,
        chain_p,
        chain_s,
        tuple(f"{loop.predecessor}~{loop.successor}: {a.name}" for a in translations + rotations),
        gap_axes,
        loop.predecessor_frame is not None,
    )


def _gap_axes(tree: Tree, poses: Poses, base: int, bodies: tuple[int, ...]) -> Array:
    """Identity, or (in-plane, in-plane, normal) of a planar loop, in the base frame."""
    R_base = poses[base][:3, :3]
    axes: list[Array] = []
    sliders: list[Array] = []
    for b in bodies:
        joint = tree.bodies[b].joint
        axis = R_base.T @ poses[b][:3, :3] @ joint.axis
        (sliders if joint.kind == PRISMATIC else axes).append(axis)
    if not axes:
        return np.eye(3)
    normal = axes[0]
    planar = all(np.linalg.norm(np.cross(normal, a)) < PLANAR for a in axes)
    planar = planar and all(abs(normal @ s) < PLANAR for s in sliders)
    if not planar or np.max(np.abs(normal)) > 1.0 - 1e-12:
        return np.eye(3)
    normal = np.mean([a if a @ normal > 0 else -a for a in axes], axis=0)
    normal = normal / np.linalg.norm(normal)
    first, _ = universal_axes(normal)
    return np.array([first, np.cross(normal, first), normal])


def _check_joints(
    tree: Tree, entry: Submechanism, loop: LoopConstraint, bodies: tuple[int, ...]
) -> None:
    for b in bodies:
        name = tree.bodies[b].joint.name
        if name not in entry.spanning:
            raise replace(entry, place=loop.place).error(
                f"the loop {loop.predecessor} ~ {loop.successor} runs through joint '{name}', "
                f"which is not a spanning-tree joint of submechanism '{entry.name}'",
                f"list '{name}' under jointnames_spanningtree of this entry",
            )


def joint_pose(tree: Tree, body: int, q: SX) -> tuple[SX, SX]:
    """(R, p) of a body in its parent body at joint position ``q``."""
    joint = tree.bodies[body].joint
    R0, p0 = sx(joint.placement[:3, :3]), sx(joint.placement[:3, 3])
    if joint.kind == PRISMATIC:
        return R0, p0 + R0 @ (sx(joint.axis) * q)
    return R0 @ rotation(joint.axis, q), p0


def universal_axes(locked: Array) -> tuple[Array, Array]:
    """(b, c): with one rotation locked, b fixed in P stays normal to c fixed in S."""
    b = np.eye(3)[int(np.argmin(np.abs(locked)))]
    b = b - locked * (locked @ b)
    b = b / np.linalg.norm(b)
    return b, np.cross(locked, b)
