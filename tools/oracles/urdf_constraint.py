"""The oracle's own reading of ``<constraint>``, ``<loop_joint>`` and Drake's balls in a URDF,

and of Gazebo's joints.

As :mod:`.files`, it shares no code with the package.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from .files import Array, read_text
from .oracle import Oracle

_BALL = "{http://drake.mit.edu}ball_constraint"
_ENDS = {"predecessor": "parent", "successor": "child"}


def urdf_constraint_oracle(source: str | Path, names: Sequence[str]) -> Oracle:
    """The oracle of such a file; ``names`` are its moving joints."""
    root = ET.fromstring(read_text(source))
    loops = [_constraint(element) for element in root.findall("constraint")]
    loops += [_loop_joint(element) for element in root.findall("loop_joint")]
    loops += [_ball(element) for element in root.findall(_BALL)]
    loops += [_gazebo(element, root) for element in root.findall("gazebo/joint")]
    loops += [_weld(element, root) for element in root.findall("gazebo/plugin")]
    if root.find("joint/parent[@link='world']") is not None:
        ET.SubElement(root, "link", {"name": "world"})
    for tag in ("constraint", "loop_joint", "gazebo", "transmission", "ros2_control", _BALL):
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
    if kind == "universal":
        _make_universal(result, [axes[tag] for tag in _ENDS.values()])
    return result


def _make_universal(cut: dict[str, Any], axes: Sequence[Sequence[float]]) -> None:
    """About z: x of the one frame stays normal to y of the other."""
    cut["axis"] = [0.0, 0.0, 1.0]
    for end, axis, own in zip(_ENDS, axes, "xy", strict=True):
        turn = Rotation.align_vectors([axis], [[own == "x", own == "y", 0.0]])[0]
        frame = cut[f"{end}_frame"]
        frame["rpy"] = (Rotation.from_euler("xyz", frame["rpy"]) * turn).as_euler("xyz")


def _gazebo(element: ET.Element, root: ET.Element) -> dict[str, Any]:
    """Closed at q = 0: all in the frame of the model."""
    at = [float(word) for word in (element.findtext("pose") or "0 0 0 0 0 0").split()]
    pose = _found(element, "pose")
    link = pose.get("relative_to", element.findtext("child", ""))
    joint = _at_zero(root, link) @ _matrix(at[:3], at[3:])
    kind = {"universal": "universal", "ball": "spherical"}.get(element.get("type", ""), "revolute")
    axes = []
    for tag in ("axis", "axis2"):
        xyz = element.find(f"{tag}/xyz")
        if xyz is not None:
            frame = joint
            if element.findtext(f"{tag}/use_parent_model_frame") == "1":
                frame = np.eye(4)
            elif xyz.get("expressed_in"):
                frame = _at_zero(root, xyz.get("expressed_in", ""))
            given = np.array([float(word) for word in (xyz.text or "").split()])
            axes.append(joint[:3, :3].T @ frame[:3, :3] @ given)
    result: dict[str, Any] = {"cut": kind, "axis": axes[0].tolist()}
    result |= _ends(root, joint, [element.findtext(tag, "") for tag in _ENDS.values()])
    if kind == "universal":
        _make_universal(result, axes)
    return result


def _weld(element: ET.Element, root: ET.Element) -> dict[str, Any]:
    """A DetachableJoint: two links as they stand at q = 0."""
    bodies = [element.findtext(f"{tag}_link", "") for tag in _ENDS.values()]
    return {"cut": "fixed", "axis": [0.0, 0.0, 1.0], **_ends(root, np.eye(4), bodies)}


def _ends(root: ET.Element, joint: Array, bodies: Sequence[str]) -> dict[str, Any]:
    """Bodies, and where a frame of the model is in them."""
    result: dict[str, Any] = {}
    for end, body in zip(_ENDS, bodies, strict=True):
        frame = np.linalg.inv(_at_zero(root, body)) @ joint
        rpy = Rotation.from_matrix(frame[:3, :3]).as_euler("xyz")
        result[f"{end}_body"] = body
        result[f"{end}_frame"] = {"xyz": frame[:3, 3].tolist(), "rpy": rpy.tolist()}
    return result


def _at_zero(root: ET.Element, link: str) -> Array:
    """(4, 4) of a link at q = 0."""
    for joint in root.findall("joint"):
        if _found(joint, "child").get("link") == link:
            xyz, rpy = (_attribute(joint, "origin", key, "0 0 0") for key in ("xyz", "rpy"))
            return _at_zero(root, _found(joint, "parent").get("link", "")) @ _matrix(xyz, rpy)
    return np.eye(4)


def _matrix(xyz: Sequence[float], rpy: Sequence[float]) -> Array:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = Rotation.from_euler("xyz", rpy).as_matrix(), xyz
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
