"""The oracle's own reading of SDF: written out as a URDF, joints beyond its tree as cuts.

As :mod:`.files`, it shares no code with the package. It knows what the test robots use. Which
joints are in the tree, and the order of the hinges in place of a joint, is told by their names.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from .oracle import Oracle

_AXES = {"X": "1 0 0", "Y": "0 1 0", "Z": "0 0 1"}


class _Model:
    """Elements by full name, and where they are in the world."""

    def __init__(self, text: str) -> None:
        model = ET.fromstring(text).find("model")
        assert model is not None
        self.elements: dict[str, tuple[ET.Element, str]] = {"__model__": (model, "")}
        self._collect(model, "")
        self.links = [name for name, (e, _) in self.elements.items() if e.tag == "link"]
        self.joints = [name for name, (e, _) in self.elements.items() if e.tag == "joint"]

    def _collect(self, model: ET.Element, scope: str) -> None:
        for child in model:
            if child.tag in ("link", "joint", "frame", "model"):
                self.elements[scope + child.get("name", "")] = (child, scope)
            if child.tag == "model":
                self._collect(child, f"{scope}{child.get('name')}::")

    def words(self, name: str, tag: str) -> str:
        return self.elements[name][0].findtext(tag, "").strip()

    def pose(self, name: str) -> pin.SE3:
        """Of anything with a name, in the world."""
        if name == "world":
            return pin.SE3.Identity()
        element, scope = self.elements[name]
        given = element.find("pose")
        here = _se3(given)
        base = "" if given is None else given.get("relative_to", "")
        if not base and element.tag == "joint":
            base = self.words(name, "child")
        if base:
            return self.pose(base if base == "__model__" else scope + base) * here
        if name == "__model__":
            return here
        return self.pose(scope[:-2] or "__model__") * here

    def axis(self, name: str, tag: str = "axis") -> np.ndarray:
        """In the world."""
        element, scope = self.elements[name]
        xyz = element.find(f"{tag}/xyz")
        assert xyz is not None
        frame = xyz.get("expressed_in", "")
        frame = frame if frame in ("", "__model__") else scope + frame
        return self.pose(frame or name).rotation @ np.array(_numbers(xyz.text))


def sdf_oracle(text: str, names: Sequence[str]) -> Oracle:
    """The oracle of a file; ``names`` are the package's joints, the floating one included."""
    model = _Model(text)
    robot = ET.Element("robot", {"name": "oracle"})
    floats = names[0] == "floating_base"
    for link in model.links if floats else ["world", *model.links]:
        _add_link(robot, link, None if link == "world" else model.elements[link][0])
    loops, couplings = [], []
    done = {model.links[0] if floats else "world"}
    left = [j for j in model.joints if model.elements[j][0].get("type") != "gearbox"]
    while left:
        name = next(j for j in left if {_end(model, j, e) for e in ("parent", "child")} & done)
        left.remove(name)
        parent, child = (_end(model, name, end) for end in ("parent", "child"))
        kind = model.elements[name][0].get("type", "")
        parts = [n for n in names if n == name or n.rpartition("_")[0] == name]
        if not parts and kind != "fixed":
            loops.append(_cut(model, name, kind, parent, child))
            continue
        start, end = (parent, child) if parent in done else (child, parent)
        _add_joint(robot, model, name, parts, start, end, 1.0 if start == parent else -1.0)
        done |= {parent, child}
        if kind == "screw":
            lead = float(model.words(name, "screw_thread_pitch")) / (2.0 * np.pi)
            couplings.append({"joint": f"{name}_slide", "terms": {name: lead}})
    for name in model.joints:
        if model.elements[name][0].get("type") == "gearbox":
            couplings.append(_gear(model, name))
    moving = [name for name in names if name != "floating_base"]
    xml = ET.tostring(robot, encoding="unicode")
    return Oracle(xml, None, floats, names=moving, loops=loops, couplings=couplings)


def _add_joint(
    robot: ET.Element, model: _Model, name: str, parts: list[str], start: str, end: str, sign: float
) -> None:
    """Hinges and sliders from ``start`` to ``end``, at the joint's frame, between bare links."""
    at = model.pose(start).inverse() * model.pose(name)
    for part in parts:
        frame = f"{part} frame"
        _add_link(robot, frame, None)
        last = part.rpartition("_")[2] if part != name else "axis"
        slides = model.elements[name][0].get("type") == "prismatic" or last == "slide"
        hinge = _add_urdf_joint(
            robot, part, "prismatic" if slides else "continuous", start, frame, at
        )
        if last in _AXES:
            along = np.array(_numbers(_AXES[last]))
        else:
            tag = last if last == "axis2" else "axis"
            along = model.pose(name).rotation.T @ model.axis(name, tag)
        ET.SubElement(hinge, "axis", {"xyz": _words(sign * along)})
        ET.SubElement(hinge, "limit", {"lower": "-9", "upper": "9", "effort": "9", "velocity": "9"})
        start, at = frame, pin.SE3.Identity()
    rest = at if not parts else pin.SE3.Identity()
    rest = rest * model.pose(name).inverse() * model.pose(end)
    _add_urdf_joint(robot, f"{name} rest", "fixed", start, end, rest)


def _add_urdf_joint(
    robot: ET.Element, name: str, kind: str, parent: str, child: str, at: pin.SE3
) -> ET.Element:
    joint = ET.SubElement(robot, "joint", {"name": name, "type": kind})
    ET.SubElement(joint, "parent", {"link": parent})
    ET.SubElement(joint, "child", {"link": child})
    ET.SubElement(joint, "origin", {key: _words(value) for key, value in _frame(at).items()})
    return joint


def _add_link(robot: ET.Element, name: str, sdf: ET.Element | None) -> None:
    link = ET.SubElement(robot, "link", {"name": name})
    if sdf is None:
        return
    inertial = ET.SubElement(link, "inertial")
    at = _frame(_se3(sdf.find("inertial/pose")))
    ET.SubElement(inertial, "origin", {key: _words(value) for key, value in at.items()})
    ET.SubElement(inertial, "mass", {"value": sdf.findtext("inertial/mass", "")})
    given = sdf.find("inertial/inertia")
    assert given is not None
    ET.SubElement(inertial, "inertia", {each.tag: each.text or "" for each in given})


def _cut(model: _Model, name: str, kind: str, parent: str, child: str) -> dict[str, Any]:
    at = model.pose(name)
    result: dict[str, Any] = {"cut": {"ball": "spherical"}.get(kind, "revolute")}
    if kind != "ball":
        result["axis"] = (at.rotation.T @ model.axis(name)).tolist()
    for end, link in (("predecessor", parent), ("successor", child)):
        result[f"{end}_body"] = link
        result[f"{end}_frame"] = _frame(model.pose(link).inverse() * at)
    return result


def _gear(model: _Model, name: str) -> dict[str, Any]:
    """theta of the child = -ratio theta of the parent; both hinges stand on the reference body."""
    hinges, signs = [], []
    for end, tag in (("parent", "axis"), ("child", "axis2")):
        link = _end(model, name, end)
        hinge = next(j for j in model.joints if j != name and _end(model, j, "child") == link)
        hinges.append(hinge)
        signs.append(np.sign(model.axis(hinge) @ model.axis(name, tag)))
    ratio = float(model.words(name, "gearbox_ratio"))
    return {"joint": hinges[1], "terms": {hinges[0]: -ratio * signs[0] * signs[1]}}


def _end(model: _Model, joint: str, end: str) -> str:
    word = model.words(joint, end)
    return word if word == "world" else model.elements[joint][1] + word


def _se3(pose: ET.Element | None) -> pin.SE3:
    values = _numbers(None if pose is None else pose.text) or [0.0] * 6
    return pin.SE3(pin.rpy.rpyToMatrix(*values[3:]), np.array(values[:3]))


def _frame(at: pin.SE3) -> dict[str, list[float]]:
    return {"xyz": at.translation.tolist(), "rpy": pin.rpy.matrixToRpy(at.rotation).tolist()}


def _numbers(text: str | None) -> list[float]:
    return [float(word) for word in (text or "").split()]


def _words(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)
