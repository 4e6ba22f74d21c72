"""``<joint>`` of SDF in ``<gazebo>``: Gazebo adds it to the model that it makes of a URDF.

    <gazebo>
      <joint name="pin" type="revolute">  <!-- continuous, prismatic, fixed, ball, universal too -->
        <parent>rod</parent>
        <child>rocker</child>
        <pose>0.3 0 0 0 0 0</pose>        <!-- in the child, or relative_to a link -->
        <axis><xyz>0 0 1</xyz></axis>     <!-- in the joint's frame, or expressed_in another -->
      </joint>
    </gazebo>

The URDF shows the robot with its loops closed, at q = 0. So it is welded by Gazebo's system
DetachableJoint:

    <plugin filename="gz-sim-detachable-joint-system" name="gz::sim::systems::DetachableJoint">
      <parent_link>rod</parent_link> <child_model>robot</child_model> <child_link>pin</child_link>
    </plugin>
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...errors import did_you_mean
from ...se3 import inverse, unit
from ..locked_axes import axes_of, turn_to_universal
from ..poses import Poses, body_poses, link_pose
from ..remark import Remark
from ..sdf.frames import MODEL
from ..sdf.joints import CUTS
from ..sdf.values import number_of, numbers, read_pose, truth_of
from ..submechanism import LoopConstraint
from ..tied_joints import check_ends
from ..tree import Tree
from ..urdf.elements import required
from ..urdf.unread import sdf_ends, sdf_joints
from ..xml_source import Element

_ENDLESS = 1e15  # older files write infinity as 1e16
_SQUARE = 1e-3
_MOVING = ("damping", "friction", "spring_stiffness")


def gazebo_loop(joint: Element, tree: Tree) -> LoopConstraint:
    """The cut of one of them; raises UrdfError."""
    poses = body_poses(tree)
    kind = "fixed" if joint.tag == "plugin" else joint.get("type")
    if kind not in CUTS:
        raise joint.error(f"a loop of type '{kind[:40]}'", did_you_mean(kind, CUTS))
    links = sdf_ends(joint)
    parent, child = (_pose_of(link, tree, poses, joint) for link in links)
    check_ends(tree, links, joint.error)
    at, relative_to = read_pose(joint)
    here = (_pose_of(relative_to, tree, poses, joint) if relative_to else child) @ at
    frames = [inverse(parent) @ here, inverse(child) @ here]
    axis = _axis(joint, "axis", here, tree, poses)
    if CUTS[kind] == "universal":
        second = _axis(joint, "axis2", here, tree, poses)
        if abs(axis @ second) > _SQUARE:
            raise joint.error("axis and axis2 are not at right angles", "turn one of them")
        axis = turn_to_universal(frames, [axis, second])
    axes = tuple(
        replace(a, name=f"{gazebo_name(joint)} {a.name}") for a in axes_of(CUTS[kind], axis)
    )
    return LoopConstraint(
        predecessor=links[0],
        successor=links[1],
        axes=axes,
        predecessor_frame=frames[0],
        successor_frame=frames[1],
        place=joint.place,
    )


def gazebo_name(joint: Element) -> str:
    """Of a joint; the plugins all have one name."""
    return "~".join(sdf_ends(joint)) if joint.tag == "plugin" else required(joint, "name")


def remarks_on_cuts(root: Element) -> Iterator[Remark]:
    """What a joint says that a cut has no place for."""
    for joint in sdf_joints(root):
        for axis in (child for child in joint.children if child.tag in ("axis", "axis2")):
            limit, dynamics = axis.find("limit"), axis.find("dynamics")
            ends = [number_of(limit, key, np.inf, endless=True) for key in ("lower", "upper")]
            if min(map(abs, ends)) < _ENDLESS or any(number_of(dynamics, k, 0.0) for k in _MOVING):
                message = f"limits, friction and springs of a cut are not used: {axis.place}"
                yield Remark("warning", "cut-joint", message, axis.file, axis.place)


def _pose_of(link: str, tree: Tree, poses: Poses, joint: Element) -> Array:
    """(4, 4) of a link in the root's frame at q = 0."""
    if link == MODEL:
        return np.eye(4)
    if link not in tree.frames:
        raise joint.error(f"there is no link '{link[:60]}'", did_you_mean(link, tree.frames))
    return link_pose(tree, poses, link)


def _axis(joint: Element, tag: str, here: Array, tree: Tree, poses: Poses) -> Array:
    """(3,) unit direction in the joint's frame, which is ``here`` in the root's."""
    axis = joint.find(tag)
    xyz = None if axis is None else axis.find("xyz")
    given = unit(numbers(xyz, 3) if xyz is not None else (0.0, 0.0, 1.0))
    if given is None:
        raise (xyz or joint).error("the zero axis", "give a direction such as 0 0 1")
    said = "" if xyz is None else xyz.get("expressed_in").strip()
    if axis is not None and truth_of(axis, "use_parent_model_frame"):
        said = MODEL
    if not said:
        return given
    return np.asarray(here[:3, :3].T @ _pose_of(said, tree, poses, joint)[:3, :3] @ given)
