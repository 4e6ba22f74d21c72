"""A limb as a small robot of its own: its bodies, its loops, and a massless copy of the platform.

The loops inside the limb are embedded as everywhere in this package (closure/numerical): redundant
rows are dropped and independent joints chosen per loop, so what is overconstrained in the whole
robot is regular here (Mueller 2022, Secs. 3.3 to 3.5 and 4.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..closure.cut_joint import CutJoint, resolve, universal_axes
from ..closure.loop_system import LoopSystem
from ..closure.plan import choose_independent
from ..mechanism import Mechanism, build_mechanism
from ..model.clusters import loop_bodies, united
from ..model.poses import Poses, body_poses
from ..model.spring import JointSpring
from ..model.submechanism import ConstraintAxis, LoopConstraint, Submechanism
from ..model.tree import PRISMATIC, REVOLUTE, Body, Joint, Tree
from ..model.words import NUMERICAL
from ..se3 import inverse
from .topology import ROOT, LimbTopology

PLATFORM = "platform of the limb"


@dataclass(frozen=True, eq=False)
class Limb:
    """One separated limb.

    Attributes:
        name: for messages.
        mechanism: its tree, loops and generalized coordinates.
        robot_bodies: body of the robot behind every body of the limb, -1 for a joint that stands
            for a cut of the robot.
        platform: (body of the limb, pose of the task's platform frame in it).
        q_ref: reference positions, in body order.
    """

    name: str
    mechanism: Mechanism
    robot_bodies: tuple[int, ...]
    platform: tuple[int, Array]
    q_ref: Array

    @property
    def m(self) -> int:
        """Degrees of freedom of the separated limb: its generalized coordinates."""
        return self.mechanism.m

    @property
    def n_theta(self) -> int:
        """Unknowns: generalized coordinates, then the others that the loops determine."""
        return self.mechanism.m + self.mechanism.n_x

    @property
    def theta_ref(self) -> Array:
        """(n_theta,) unknowns at the reference."""
        mech = self.mechanism
        theta = np.zeros(self.n_theta)
        for b, at in mech.y.at.items():
            theta[at] = self.q_ref[b]
        for c, closure in enumerate(mech.closures):
            for k in range(closure.n_x):
                body = mech.components[c].joints[closure.unknown[k]]
                theta[mech.m + mech.x_at[c] + k] = self.q_ref[body]
        return theta


def separate(mech: Mechanism, topology: LimbTopology, q_ref: Mapping[str, float], key: str) -> Limb:
    """Cut a limb out of the robot, the platform attached to it without mass."""
    entry = next(e for e in mech.entries if e.task_space is not None)
    assert entry.task_space is not None
    tree = mech.tree
    springs = _joint_springs(tree, entry)
    p_body, p_offset = tree.frames[entry.task_space.platform]
    own = [*topology.bodies, *([p_body] if topology.closing is None else [])]
    place = {ROOT: ROOT, **{b: i for i, b in enumerate(sorted(own))}}
    bodies = []
    for b in sorted(own):
        body = replace(tree.bodies[b], parent=place[tree.bodies[b].parent])
        if b == p_body:  # the platform counts once for the whole robot, not in a limb
            body = replace(body, mass=0.0, first_moment=np.zeros(3), inertia=np.zeros((3, 3)))
        bodies.append(body)
    robot_bodies = sorted(own)
    if topology.closing is None:
        holder = (place[p_body], np.eye(4))
    else:
        poses = body_poses(tree, dict(q_ref))
        added, holder = _platform_joint(topology.closing, p_body, poses, place, len(bodies))
        bodies += added
        robot_bodies += [ROOT] * len(added)
    links = {body.link: (i, np.eye(4)) for i, body in enumerate(bodies)}
    frames = {tree.root_link: (ROOT, np.eye(4)), **links, PLATFORM: holder}
    joints = {body.joint.name for body in bodies}
    own_springs = tuple(spring for spring in springs if spring.joint in joints)
    name = f"{tree.name} {topology.name}"
    limb_tree = Tree(name, tree.root_link, tuple(bodies), frames, springs=own_springs)
    names = {ROOT: tree.root_link, **{b: tree.bodies[b].link for b in own}, p_body: PLATFORM}
    loops = [_loop(cut, names) for cut in topology.cuts]
    positions = {name: q_ref[name] for name in limb_tree.joint_names if name in q_ref}
    entries = _entries(limb_tree, entry, loops, positions)
    limb_mech = build_mechanism(
        limb_tree, entries, f"{key} {entry.task_space.platform} {topology.name}", {}
    )
    return Limb(
        topology.name,
        replace(limb_mech, gravity=mech.gravity),
        tuple(robot_bodies),
        (holder[0], holder[1] @ p_offset),
        np.array([positions.get(name, 0.0) for name in limb_tree.joint_names]),
    )


def _joint_springs(tree: Tree, entry: Submechanism) -> list[JointSpring]:
    springs = [spring for spring in tree.springs if isinstance(spring, JointSpring)]
    if len(springs) < len(tree.springs):
        raise entry.error(
            "springs between points are not known in task space: a limb by itself does not see the "
            "other end",
            "compute in independent coordinates, or write springs at joints",
            key="task_space",
        )
    return springs


def _platform_joint(
    cut: CutJoint, platform: int, poses: Poses, place: Mapping[int, int], count: int
) -> tuple[list[Body], tuple[int, Array]]:
    """The cut between limb and platform as joints of the limb, all zero at the reference.

    Returns their bodies, and (body, pose of the platform's body frame in it).
    """
    T_p, T_s = poses[cut.predecessor] @ cut.frame_p, poses[cut.successor] @ cut.frame_s
    D = inverse(T_p) @ T_s
    moves = _free_moves(cut, D[:3, :3])
    # D = (moves) D_ref from predecessor to successor; backwards everything turns round.
    if cut.successor == platform:
        parent, start, end = cut.predecessor, cut.frame_p, D @ inverse(cut.frame_s)
    else:
        parent, start, end = cut.successor, cut.frame_s @ inverse(D), inverse(cut.frame_p)
        moves = moves[::-1]
    bodies: list[Body] = []
    index = place[parent]
    for i, (kind, axis) in enumerate(moves):
        name = f"{cut.labels[0].split(':')[0]} {i + 1}" if cut.labels else f"free {i + 1}"
        joint = Joint(name, kind, start, axis)
        bodies.append(Body(f"{name} link", index, joint, 0.0, np.zeros(3), np.zeros((3, 3))))
        index, start = count + i, np.eye(4)
    return bodies, (index, start @ end)


def _free_moves(cut: CutJoint, R_ref: Array) -> list[tuple[str, Array]]:
    """What a cut joint leaves free: (kind, axis in the predecessor's cut frame)."""
    moves = [(PRISMATIC, axis) for axis in _complement(cut.translations)]
    if not cut.rotations:
        axes = list(np.eye(3))
    elif len(cut.rotations) == 1:
        b, c = universal_axes(cut.rotations[0])  # b is fixed in P, c in S
        axes = [b, R_ref @ c]
    else:
        axes = _complement(cut.rotations)
    return moves + [(REVOLUTE, axis) for axis in axes]


def _complement(axes: Sequence[Array]) -> list[Array]:
    """Directions normal to all the given ones."""
    if not axes:
        return list(np.eye(3))
    return list(np.linalg.svd(np.array(axes))[2][len(axes) :])


def _loop(cut: CutJoint, names: Mapping[int, str]) -> LoopConstraint:
    zero = (0.0, 0.0, 0.0)
    labels = [label.split(": ")[-1] for label in cut.labels]
    linear = [(*zero, *map(float, a)) for a in cut.translations]
    angular = [(*map(float, a), *zero) for a in cut.rotations]
    return LoopConstraint(
        names[cut.predecessor],
        names[cut.successor],
        tuple(
            ConstraintAxis(label, axis)  # type: ignore[arg-type]
            for label, axis in zip(labels, linear + angular, strict=True)
        ),
        predecessor_frame=cut.frame_p,
        successor_frame=cut.frame_s,
    )


def _entries(
    tree: Tree, robot: Submechanism, loops: list[LoopConstraint], reference: dict[str, float]
) -> list[Submechanism]:
    """One submechanism per set of loops that share joints, one per joint in no loop."""
    ties = [loop_bodies(tree, loop) for loop in loops]
    entries = []
    for group in united(([b] for b in range(len(tree.bodies))), *ties):
        names = tuple(tree.bodies[b].joint.name for b in group)
        own = tuple(lp for lp in loops if set(loop_bodies(tree, lp)) & set(group))
        entry = Submechanism(
            name=f"{robot.name}: {' '.join(names)}" if own else names[0],
            type=NUMERICAL if own else "serial",
            spanning=names,
            independent=names,
            active=tuple(name for name in robot.active if name in names),
            loops=own,
            reference={name: reference[name] for name in names if name in reference},
            actuators={j: model for j, model in robot.actuators.items() if j in names},
            friction={j: model for j, model in robot.friction.items() if j in names},
            place=robot.place,
            file=robot.file,
        )
        if own:
            cuts = tuple(resolve(tree, entry, loop) for loop in own)
            system = LoopSystem(entry.name, tree, tuple(group), (), cuts, ())
            driven = [names.index(name) for name in entry.active]
            chosen = choose_independent(system, entry, driven)
            entry = replace(entry, independent=tuple(names[i] for i in chosen))
        entries.append(entry)
    return entries
