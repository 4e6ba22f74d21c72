"""Which joints a URDF says are driven: by a ``<transmission>``, or a command of ros2_control."""

from __future__ import annotations

from ..xml_source import Element
from .transmissions import is_linear


def driven_joints(robot: Element) -> list[str]:
    """Names in the order of the file; empty where it does not say.

    Linear transmissions couple joints and drive none.
    """
    names = [
        joint.get("name")
        for transmission in robot.all("transmission")
        if not is_linear(transmission)
        for joint in transmission.all("joint")
    ]
    for system in robot.all("ros2_control"):
        names += [
            joint.get("name")
            for joint in system.all("joint")
            if joint.find("command_interface") is not None
        ]
    return list(dict.fromkeys(names))
