"""What the file says about single joints: friction, rotor, gear ratio, reference position.

    actuators:                                  # driven joints
      knee_cylinder: {rotor_inertia: 2.0e-5, gear_ratio: 3000.0, viscous_friction: 400.0}
    joint_friction:                             # any other joint of the entry, passive ones too
      knee: {viscous_friction: 0.1, coulomb_friction: 0.2, coulomb_speed: 0.01}

Friction acts at the joint that is named: behind the gear.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import did_you_mean
from ..submechanism import ActuatorModel, JointFriction
from .joint_lists import JointLists
from .node import Node


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
    return {name: JointFriction(**node.value) for name, node in nodes.items()}


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
