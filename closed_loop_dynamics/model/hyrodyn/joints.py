"""What a submechanism says about joints: the ``jointnames...`` lists, and single ones.

    actuators:                                  # driven joints
      knee_cylinder: {rotor_inertia: 2.0e-5, gear_ratio: 3000.0, viscous_friction: 400.0}
    joint_friction:                             # any other joint of the entry, passive ones too
      knee: {viscous_friction: 0.1, coulomb_friction: 0.2, coulomb_speed: 0.01}
    reference: {knee: 0.4}                      # where they stand in a regular configuration

Friction acts at the joint that is named: behind the gear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ...errors import did_you_mean
from ..submechanism import ActuatorModel, JointFriction
from ..tree import Tree
from .node import Node

# Exported files list the joint of the free base although the URDF ends at the base link.
_FREE_BASE = re.compile("float|free|base", re.IGNORECASE)

Named = dict[str, Node]  # joint name -> the place that names it, in the order of the file


@dataclass(frozen=True)
class JointLists:
    """Moving joints of one entry by role."""

    spanning: Named
    independent: tuple[str, ...]
    active: tuple[str, ...]


def read_joint_lists(entry: Node, tree: Tree) -> JointLists:
    """Read the joint lists of one entry and check them against the tree."""
    spanning = read_spanning(entry, tree)
    independent = _read_subset(entry["jointnames_independent"], spanning, tree)
    active = independent
    if "jointnames_active" in entry:
        active = _read_subset(entry["jointnames_active"], spanning, tree)
    return JointLists(spanning, independent, active)


def read_spanning(entry: Node, tree: Tree) -> Named:
    """The moving joints of an entry."""
    key = "jointnames"
    listed: Named = {}
    if key in entry:
        listed = _names(entry[key])
        _check_known(listed, tree, tolerate_free_base=True)
    if "jointnames_spanningtree" in entry:
        key = "jointnames_spanningtree"
        listed = _names(entry[key])
        _check_known(listed, tree, tolerate_free_base=False)
        for name, node in listed.items():
            if _turns_freely(name, tree):
                kind = tree.bodies[tree.joint_index(name)].joint.kind
                raise node.error(
                    f"joint '{name}' is {kind}, which is a submechanism of its own",
                    "remove it from this list; a ball joint in a loop is three revolute joints",
                )
    moving = {
        name: node
        for name, node in listed.items()
        if name in tree.joint_names and not _turns_freely(name, tree)
    }
    if not moving:
        raise entry[key].error(
            "no moving joint is listed", "list at least one, or remove the submechanism"
        )
    return moving


def _read_subset(node: Node, spanning: Named, tree: Tree) -> tuple[str, ...]:
    names = _names(node)
    for name, at in names.items():
        if name in spanning:
            continue
        if name in tree.fixed_joint_children:
            raise at.error(f"joint '{name}' is fixed in the URDF", "name a joint that moves")
        if name in tree.joint_names:
            raise at.error(
                f"joint '{name}' is not in this submechanism's jointnames_spanningtree",
                f"add it there, or {did_you_mean(name, spanning)}",
            )
        raise at.error(f"there is no joint '{name}' in the URDF", did_you_mean(name, spanning))
    return tuple(names)


def _names(node: Node) -> Named:
    return {item.value: item for item in node}


def _check_known(names: Named, tree: Tree, *, tolerate_free_base: bool) -> None:
    known: Iterable[str] = {*tree.joint_names, *tree.fixed_joint_children}
    for name, node in names.items():
        if name in known or (tolerate_free_base and _FREE_BASE.search(name)):
            continue
        raise node.error(f"there is no joint '{name}' in the URDF", did_you_mean(name, known))


def _turns_freely(name: str, tree: Tree) -> bool:
    return name in tree.joint_names and tree.bodies[tree.joint_index(name)].joint.has_quaternion


def read_actuators(entry: Node, joints: JointLists) -> dict[str, ActuatorModel]:
    """``actuators`` of an entry."""
    nodes = _of_joints(entry, "actuators", joints.active, "driven ")
    return {name: ActuatorModel(**node.value) for name, node in nodes.items()}


def read_joint_friction(
    entry: Node, joints: JointLists, actuators: Iterable[str]
) -> dict[str, JointFriction]:
    """``joint_friction`` of an entry; what ``actuators`` describes may not appear again."""
    nodes = _of_joints(entry, "joint_friction", joints.spanning)
    for name, node in nodes.items():
        if name in actuators:
            raise node.error(
                f"the friction of '{name}' is given twice, also under 'actuators'",
                "keep one of the two",
            )
    return {name: _at_joint(**node.value) for name, node in nodes.items()}


def _at_joint(**numbers: float) -> JointFriction:
    """Friction, with a rotor where one is given."""
    geared = {"rotor_inertia", "gear_ratio"} & {*numbers}
    return ActuatorModel(**numbers) if geared else JointFriction(**numbers)


def read_reference(entry: Node, joints: JointLists) -> dict[str, float]:
    """``reference`` of an entry: joint -> position."""
    nodes = _of_joints(entry, "reference", joints.spanning)
    return {name: node.value for name, node in nodes.items()}


def _of_joints(entry: Node, key: str, joints: Iterable[str], kind: str = "") -> dict[str, Node]:
    """What a key says about joints of the entry, by name."""
    nodes = entry.named(key)
    for name, node in nodes.items():
        if name not in joints:
            raise node.error(
                f"'{name}' is not a {kind}joint of this submechanism", did_you_mean(name, joints)
            )
    return nodes
