"""What the file says about single joints besides geometry: friction, rotor inertia, gear ratio.

    actuators:                                  # driven joints
      knee_cylinder: {rotor_inertia: 2.0e-5, gear_ratio: 3000.0, viscous_friction: 400.0}
    joint_friction:                             # any other joint of the entry, passive ones too
      knee: {viscous_friction: 0.1, coulomb_friction: 0.2, coulomb_speed: 0.01}

Friction acts at the joint that is named: behind the gear.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import SubmechanismError, did_you_mean
from ..submechanism import ActuatorModel, JointFriction
from .joint_lists import JointLists
from .schema import ACTUATOR, FRICTION, Record
from .yaml_reader import Node

_EXAMPLE = "{viscous_friction: 0.1}"


def read_actuators(fields: dict[str, Node], joints: JointLists) -> dict[str, ActuatorModel]:
    """``actuators`` of an entry."""
    return {
        name: ActuatorModel(**_numbers(node, ACTUATOR))
        for name, node in _joints_of(fields, "actuators", joints.active, "driven ").items()
    }


def read_joint_friction(
    fields: dict[str, Node], joints: JointLists, actuators: Iterable[str]
) -> dict[str, JointFriction]:
    """``joint_friction`` of an entry; what ``actuators`` describes may not appear again."""
    result = {}
    for name, node in _joints_of(fields, "joint_friction", joints.spanning, "").items():
        if name in actuators:
            raise node.error(
                f"the friction of '{name}' is given twice, also under 'actuators'",
                "keep one of the two",
            )
        result[name] = JointFriction(**_numbers(node, FRICTION))
    return result


def not_in_entry(node: Node, name: str, joints: Iterable[str], kind: str = "") -> SubmechanismError:
    """The error for a word that names no joint of the entry."""
    return node.error(
        f"'{name}' is not a {kind}joint of this submechanism", did_you_mean(name, joints)
    )


def _joints_of(
    fields: dict[str, Node], key: str, joints: Iterable[str], kind: str
) -> dict[str, Node]:
    if key not in fields:
        return {}
    nodes = fields[key].mapping(f"{key}: {{motor: {_EXAMPLE}}}")
    for name, node in nodes.items():
        if name not in joints:
            raise not_in_entry(node, name, joints, kind)
    return nodes


def _numbers(node: Node, record: Record) -> dict[str, float]:
    values = node.fields(record.keys, _EXAMPLE)
    numbers = {key: value.number() for key, value in values.items()}
    for key, number in numbers.items():
        if key == "gear_ratio":
            if number == 0.0:
                raise values[key].error("gear_ratio is zero", "write rotor speed over joint speed")
        elif number < 0.0:
            raise values[key].error(f"{key} {number:g} is negative", "write zero or more")
        elif key == "coulomb_speed" and number == 0.0:
            raise values[key].error(
                "coulomb_speed is zero", "write a small positive speed, such as 0.01"
            )
    return numbers
