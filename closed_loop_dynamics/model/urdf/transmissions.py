"""Linear couplings written as ``MultiJointLinearTransmission`` in a URDF, or as mimic tags.

    <transmission name="head_joints">
      <type>MultiJointLinearTransmission</type>
      <joint name="HeadActL">
        <depends_on joint="HeadRoll" multiplier="1.0" offset="0"/>
        <depends_on joint="HeadPitch" multiplier="-1.0" offset="0"/>
      </joint>
    </transmission>

means q_HeadActL = 1.0 q_HeadRoll - 1.0 q_HeadPitch + 0. The robot's bodies are not looked at, so a
file that holds one submechanism only, or no link at all, will do.
"""

from __future__ import annotations

import math

from ..submechanism import Coupling
from ..xml_source import Element
from .elements import number, read_root, required

_TYPE = "MultiJointLinearTransmission"


def read_transmissions(source: object) -> tuple[Coupling, ...]:
    """The linear transmissions of a URDF (path or text) of which nothing else is wanted."""
    return transmissions_of(read_root(source))


def read_mimics(source: object) -> tuple[Coupling, ...]:
    """The mimic tags of a URDF of which nothing else is wanted."""
    result = []
    for joint in read_root(source).all("joint"):
        for tag in joint.all("mimic"):
            terms = {required(tag, "joint"): number(tag, "multiplier", 1.0)}
            offset = number(tag, "offset")
            result.append(Coupling(required(joint, "name"), terms, offset, tag.place, tag.file))
    return tuple(result)


def transmissions_of(robot: Element) -> tuple[Coupling, ...]:
    """All linear transmissions of a URDF, one coupling for each joint that they drive.

    Several ``depends_on`` of one joint add up, their offsets too. Transmissions of other types are
    left alone.

    Raises:
        UrdfError: a number that is not one, a joint driven twice or by itself.
    """
    result: dict[str, Coupling] = {}
    for transmission in robot.all("transmission"):
        if not is_linear(transmission):
            continue
        for joint in transmission.all("joint"):
            if joint.find("depends_on") is None:
                continue
            name = required(joint, "name")
            if name in result:
                raise joint.error(
                    f"joint '{name}' is driven by two transmissions",
                    "write all its <depends_on> into one <joint> element",
                )
            result[name] = _sum_of_dependencies(joint, name)
    return tuple(result.values())


def is_linear(transmission: Element) -> bool:
    """Whether it couples joints linearly, rather than driving them."""
    inside = transmission.find("type")
    kind = (inside.text if inside is not None else "") or transmission.get("type")
    return kind.strip().rsplit("/", 1)[-1] == _TYPE  # ROS writes a plugin prefix before a slash


def _sum_of_dependencies(joint: Element, name: str) -> Coupling:
    terms: dict[str, float] = {}
    offset = 0.0
    for dependency in joint.all("depends_on"):
        other = required(dependency, "joint")
        if other == name:
            raise dependency.error(
                f"joint '{name}' depends on itself", "name the joint that drives it"
            )
        terms[other] = terms.get(other, 0.0) + number(dependency, "multiplier", 1.0)
        offset += number(dependency, "offset")
    if not all(map(math.isfinite, (*terms.values(), offset))):
        raise joint.error("the sum of its dependencies overflows", "write smaller numbers")
    return Coupling(name, terms, offset, joint.place, joint.file)
