"""What of a URDF's angles and axes is probably not meant: its text tells, the tree does not."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..remark import Remark
from ..xml_source import Element
from .elements import numbers

#: An angle beyond a full turn that is not a multiple of a right angle is in degrees [rad].
FULL_TURN = 2.0 * math.pi + 1e-3
ANGLE, MISSING_AXIS = "units-angle", "missing-axis"  # codes of findings
_MOVES = ("revolute", "continuous", "prismatic")


def remarks_on_angles(root: Element) -> Iterator[Remark]:
    """``rpy`` in degrees; joints whose axis is not written. Elements have been checked before."""
    inertials = [e for link in root.all("link") for e in link.all("inertial")]
    origins = [e for part in (*root.all("joint"), *inertials) for e in part.all("origin")]
    origins = [e for e in origins if "rpy" in e.attributes]
    turned = [e for e in origins if any(numbers(e, "rpy"))]
    for origin in (bad := [e for e in turned if any(map(_in_degrees, numbers(e, "rpy")))]):
        remedy = "write rad (90° is 1.5707963)"
        message = f'rpy="{origin.get("rpy")}" is more than a turn; probably in degrees'
        severity = "error" if 2 * len(bad) > len(turned) else "warning"
        yield _about(origin, severity, ANGLE, message, remedy)
    for joint in root.all("joint"):
        if joint.get("type") in _MOVES and joint.find("axis") is None:
            remedy = 'write it, such as <axis xyz="0 0 1"/>'
            message = "its axis is not written, which means x (1, 0, 0)"
            yield _about(joint, "warning", MISSING_AXIS, message, remedy)


def _about(element: Element, severity: str, code: str, problem: str, remedy: str) -> Remark:
    message = f"{element.file}: {element.place}: {problem}; {remedy}"
    return Remark(severity, code, message, element.file, element.place, remedy)


def _in_degrees(angle: float) -> bool:
    quarters = angle / (0.5 * math.pi)
    return abs(angle) > FULL_TURN and abs(quarters - round(quarters)) > 2e-3
