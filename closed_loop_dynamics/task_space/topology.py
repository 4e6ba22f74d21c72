"""Which joints and cuts form which limb of a parallel manipulator.

Base and platform taken away, what still hangs together is a limb (Mueller 2022, Sec. 2). One limb
may carry the platform in the tree; every other one ends in cuts at the platform, of which the first
becomes the joint that holds its own copy of the platform.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..closure.cut_joint import CutJoint, resolve
from ..errors import SubmechanismError
from ..mechanism import Mechanism
from ..model.clusters import united
from ..model.submechanism import Submechanism, TaskAxes

ROOT = -1


@dataclass(frozen=True, eq=False)
class LimbTopology:
    """One limb, in the numbering of the robot.

    Attributes:
        name: of its first driven joint, or of its first joint.
        bodies: ascending, without the platform.
        closing: the cut that holds the platform; None when it is the limb's last body in the tree.
        cuts: its loops.
    """

    name: str
    bodies: tuple[int, ...]
    closing: CutJoint | None
    cuts: tuple[CutJoint, ...]


def find_limbs(mech: Mechanism, entry: Submechanism) -> list[LimbTopology]:
    """The limbs of a parallel manipulator; SubmechanismError with the reason when it is none."""
    tree, axes = mech.tree, entry.task_space
    assert axes is not None
    platform = tree.frames[axes.platform][0]
    _check_members(mech, entry, axes)
    cuts = [resolve(tree, entry, loop) for loop in entry.loops]
    bodies = [b for b in range(len(tree.bodies)) if b != platform]
    ties = [(b, tree.bodies[b].parent) for b in bodies]
    ties += [(cut.predecessor, cut.successor) for cut in cuts]
    limbs, seen = [], set()
    for group in united(([b] for b in bodies), *(t for t in ties if not {platform, ROOT} & {*t})):
        own = [i for i, cut in enumerate(cuts) if {cut.predecessor, cut.successor} & set(group)]
        seen.update(own)
        limbs.append(_limb(mech, entry, group, [cuts[i] for i in own], platform))
    if tree.bodies[platform].parent == ROOT:
        limbs.insert(0, LimbTopology(mech.joint_name(platform), (), None, ()))
    for i, cut in enumerate(cuts):
        if i not in seen:  # a joint between base and platform: a limb without bodies
            limbs.append(LimbTopology(f"cut {i}", (), cut, ()))
    return limbs


def _limb(
    mech: Mechanism, entry: Submechanism, group: list[int], cuts: list[CutJoint], platform: int
) -> LimbTopology:
    tree = mech.tree
    active = [b for b in map(tree.joint_index, entry.active) if b in group]
    name = mech.joint_name((active or group)[0])
    if any(tree.bodies[b].parent == platform for b in group):
        raise _error(
            entry,
            f"joint '{mech.joint_name(group[0])}' hangs on the platform",
            "let every limb start at the base, and cut it where it meets the platform",
        )
    carries = tree.bodies[platform].parent in group
    at_platform = [c for c in cuts if platform in (c.predecessor, c.successor)]
    if not carries and not at_platform:
        raise _error(
            entry,
            f"the limb of joint '{name}' does not reach the platform",
            "add the cut joint between the two to loop_constraints",
        )
    closing = None if carries else at_platform[0]
    own = tuple(cut for cut in cuts if cut is not closing)
    return LimbTopology(name, tuple(group), closing, own)


def _check_members(mech: Mechanism, entry: Submechanism, axes: TaskAxes) -> None:
    names = set(entry.spanning)
    others = [name for name in mech.tree.joint_names if name not in names]
    if others:
        raise _error(
            entry,
            f"joint '{others[0]}' is not part of the parallel manipulator",
            "a task space needs a robot that is one parallel manipulator: list all joints in "
            "its submechanism, or load it without the others",
        )
    if entry.couplings:
        raise _error(
            entry,
            f"the coupling of joint '{entry.couplings[0].joint}' has no place in a limb",
            "write gears within limbs as loops, or leave task_space out",
        )
    if mech.m != len(axes.axes):
        raise _error(
            entry,
            f"{len(axes.axes)} axes are listed ({', '.join(axes.axes)}), but the mechanism has "
            f"{mech.m} degrees of freedom",
            f"list {mech.m} of x, y, z, roll, pitch, yaw",
        )


def _error(entry: Submechanism, problem: str, remedy: str) -> SubmechanismError:
    return entry.error(f"submechanism '{entry.name}': {problem}", remedy, "task_space")
