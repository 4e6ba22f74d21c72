"""The oracle's own reading of ``<constraint>``, ``<loop_joint>`` and Drake's balls in a URDF.

As :mod:`.files`, it shares no code with the package.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scipy.spatial.transform import Rotation

from .files import read_text
from .oracle import Oracle

_BALL = "{http://drake.mit.edu}ball_constraint"
_ENDS = {"predecessor": "parent", "successor": "child"}


def urdf_constraint_oracle(source: str | Path, names: Sequence[str]) -> Oracle:
    """The oracle of such a file; ``names`` are its moving joints."""
    root = ET.fromstring(read_text(source))
    loops = [_constraint(element) for element in root.findall("constraint")]
    loops += [_loop_joint(element) for element in root.findall("loop_joint")]
    loops += [_ball(element) for element in root.findall(_BALL)]
    if root.find("joint/parent[@link='world']") is not None:
        ET.SubElement(root, "link", {"name": "world"})
    for tag in ("constraint", "loop_joint", "transmission", "ros2_control", _BALL):
        for element in root.findall(tag):
            root.remove(element)
    return Oracle(ET.tostring(root, encoding="unicode"), None, names=names, loops=loops)


def _constraint(element: ET.Element) -> dict[str, Any]:
    kind = element.get("type", "").replace("_joint", "").replace("link", "fixed")
    axes = {end: _attribute(element, f"{end}_axis", "xyz", "1 0 0") for end in ("parent", "child")}
    result: dict[str, Any] = {"cut": kind, "axis": axes["parent"]}
    for end, tag in _ENDS.items():
        result[f"{end}_body"] = _found(element, tag).get("link")
        result[f"{end}_frame"] = {
            key: _attribute(element, f"{tag}_origin", key, "0 0 0") for key in ("xyz", "rpy")
        }
    if kind == "universal":  # about z: x of the one stays normal to y of the other
        result["axis"] = [0.0, 0.0, 1.0]
        for end, tag, own in (("predecessor", "parent", "x"), ("successor", "child", "y")):
            turn = Rotation.align_vectors([axes[tag]], [[own == "x", own == "y", 0.0]])[0]
            frame = result[f"{end}_frame"]
            frame["rpy"] = (Rotation.from_euler("xyz", frame["rpy"]) * turn).as_euler("xyz")
    return result


def _loop_joint(element: ET.Element) -> dict[str, Any]:
    result: dict[str, Any] = {"cut": element.get("type")}
    for end, link in zip(_ENDS, element, strict=True):
        result[f"{end}_body"] = link.get("link")
        result[f"{end}_frame"] = {
            key: [float(word) for word in link.get(key, "0 0 0").split()] for key in ("xyz", "rpy")
        }
    return result


def _ball(element: ET.Element) -> dict[str, Any]:
    result: dict[str, Any] = {"cut": "spherical"}
    for end, body, point in (("predecessor", "body_A", "p_AP"), ("successor", "body_B", "p_BQ")):
        result[f"{end}_body"] = _found(element, f"{_BALL}_{body}").get("name")
        at = _attribute(element, f"{_BALL}_{point}", "value", "0 0 0")
        result[f"{end}_frame"] = {"xyz": at, "rpy": [0.0, 0.0, 0.0]}
    return result


def _attribute(element: ET.Element, tag: str, key: str, default: str) -> list[float]:
    child = element.find(tag)
    text = default if child is None else child.get(key, default)
    return [float(word) for word in text.split()]


def _found(element: ET.Element, tag: str) -> ET.Element:
    found = element.find(tag)
    if found is None:
        raise ValueError(f"<{element.tag}> without <{tag}>")
    return found
