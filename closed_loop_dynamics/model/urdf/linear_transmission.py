"""Linear couplings written as ``MultiJointLinearTransmission`` in a URDF.

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

from .xml import Element, RobotXml, parse_numbers, parse_xml

Dependency = tuple[dict[str, float], float]
LinearTransmissions = dict[str, Dependency]

_TYPE = "MultiJointLinearTransmission"


def read_linear_transmissions(xml_source: object) -> LinearTransmissions:
    """joint -> ({other joint: ratio}, offset) of all linear transmissions in a URDF.

    Several ``depends_on`` of one joint add up, their offsets too. Transmissions of other types are
    left alone.

    Raises:
        UrdfError: unreadable file, a number that is not one, a joint driven twice or by itself.
    """
    root, file = parse_xml(xml_source)
    xml = RobotXml(root, file)
    result: LinearTransmissions = {}
    for transmission in root.iterchildren("transmission"):
        if not _is_linear(transmission):
            continue
        for joint in transmission.iterchildren("joint"):
            if joint.find("depends_on") is None:
                continue
            name = _attribute(xml, joint, "name")
            if name in result:
                raise xml.error(
                    joint,
                    f"joint '{name}' is driven by two transmissions",
                    "write all its <depends_on> into one <joint> element",
                )
            result[name] = _sum_of_dependencies(xml, joint, name)
    return result


def _is_linear(transmission: Element) -> bool:
    kind = transmission.findtext("type") or transmission.get("type") or ""
    return kind.strip().rsplit("/", 1)[-1] == _TYPE  # ROS writes a plugin prefix before a slash


def _sum_of_dependencies(xml: RobotXml, joint: Element, name: str) -> Dependency:
    terms: dict[str, float] = {}
    offset = 0.0
    for dependency in joint.iterchildren("depends_on"):
        other = _attribute(xml, dependency, "joint")
        if other == name:
            raise xml.error(
                dependency, f"joint '{name}' depends on itself", "name the joint that drives it"
            )
        terms[other] = terms.get(other, 0.0) + _value(xml, dependency, "multiplier", 1.0)
        offset += _value(xml, dependency, "offset", 0.0)
    if not all(map(math.isfinite, (*terms.values(), offset))):
        raise xml.error(joint, "the sum of its dependencies overflows", "write smaller numbers")
    return terms, offset


def _value(xml: RobotXml, element: Element, key: str, default: float) -> float:
    return parse_numbers(xml, element, key)[0] if key in element.attrib else default


def _attribute(xml: RobotXml, element: Element, key: str) -> str:
    value: str = element.get(key, "")
    if not value.strip():
        raise xml.error(
            element, f"<{element.tag}> has no {key}", f'write <{element.tag} {key}="...">'
        )
    return value
