"""The oracle's own reading of URDF and submechanism files: plain XML and plain YAML.

It is deliberately simple and shares no code with the package: what it does not know it refuses. Not
even the alias ``Array`` is the package's.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

UNLIMITED = 1e9


@dataclass(frozen=True)
class Coupling:
    """q_joint = sum(ratio * q_other) + offset."""

    joint: str
    terms: Mapping[str, float]
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut joint between two links; ``axes`` is (k, 6), each row [angular; linear]."""

    predecessor: str
    successor: str
    axes: Array
    cut_joint: str | None = None
    predecessor_frame: Array | None = None
    successor_frame: Array | None = None


@dataclass(frozen=True)
class Urdf:
    """A URDF that Pinocchio reads as a plain tree.

    Attributes:
        xml: the text without mimic tags, continuous joints turned into unlimited revolute ones.
        joints: names of the moving joints in document order.
        child_link: joint name (fixed ones too) -> child link name.
        couplings: what the mimic tags said.
        root_link: the link that no joint moves.
    """

    xml: str
    joints: tuple[str, ...]
    child_link: Mapping[str, str]
    couplings: tuple[Coupling, ...]
    root_link: str


def read_text(source: str | Path) -> str:
    """Text of a file, or ``source`` itself when it is XML or YAML text already."""
    if isinstance(source, str) and ("<" in source or "\n" in source):
        return source
    return Path(source).read_text(encoding="utf-8")


def read_urdf(source: str | Path) -> Urdf:
    """Strip what Pinocchio would interpret differently and note the mimic tags."""
    root = ET.fromstring(read_text(source))
    joints: list[str] = []
    couplings: list[Coupling] = []
    child_link: dict[str, str] = {}
    for joint in root.findall("joint"):
        name = joint.get("name", "")
        child_link[name] = joint.find("child").get("link", "")  # type: ignore[union-attr]
        couplings += _take_mimic(name, joint)
        if joint.get("type") == "fixed":
            continue
        joints.append(name)
        _make_plain(joint)
    xml = ET.tostring(root, encoding="unicode")
    links = (link.get("name", "") for link in root.findall("link"))
    root_link = next(name for name in links if name not in child_link.values())
    return Urdf(xml, tuple(joints), child_link, tuple(couplings), root_link)


def _take_mimic(name: str, joint: ET.Element) -> list[Coupling]:
    mimic = joint.find("mimic")
    if mimic is None:
        return []
    joint.remove(mimic)
    ratio, offset = float(mimic.get("multiplier", 1.0)), float(mimic.get("offset", 0.0))
    return [Coupling(name, {mimic.get("joint", ""): ratio}, offset)]


def _make_plain(joint: ET.Element) -> None:
    """One scalar coordinate per joint: unit axis, and revolute in place of continuous."""
    if joint.get("type") not in ("revolute", "continuous", "prismatic"):
        raise ValueError(f"joint {joint.get('name')!r}: type {joint.get('type')!r} not supported")
    if joint.get("type") == "continuous":
        joint.set("type", "revolute")
        _replace(joint, "limit", lower=-UNLIMITED, upper=UNLIMITED)
    if joint.find("limit") is None:
        _replace(joint, "limit", lower=-UNLIMITED, upper=UNLIMITED)
    element = joint.find("axis")
    text = "1 0 0" if element is None else element.get("xyz", "1 0 0")
    axis = np.array([float(word) for word in text.split()])
    unit = axis / np.linalg.norm(axis)
    _replace(joint, "axis", xyz=" ".join(f"{value:.17g}" for value in unit))


def _replace(joint: ET.Element, tag: str, **attributes: float | str) -> None:
    for old in joint.findall(tag):
        joint.remove(old)
    new = {key: str(value) for key, value in attributes.items()}
    if tag == "limit":
        new |= {"effort": str(UNLIMITED), "velocity": str(UNLIMITED)}
    ET.SubElement(joint, tag, new)


def read_submechanisms(source: str | Path | None) -> tuple[list[Cut], list[Coupling]]:
    """All cut joints and couplings of a submechanism file, in file order."""
    if source is None:
        return [], []
    entries = (yaml.safe_load(read_text(source)) or {}).get("submechanisms") or []
    cuts = [read_cut(loop) for entry in entries for loop in entry.get("loop_constraints") or ()]
    couplings = [read_coupling(c) for entry in entries for c in entry.get("couplings") or ()]
    return cuts, couplings


def read_coupling(node: Mapping[str, Any]) -> Coupling:
    """One item of ``couplings``."""
    terms = {name: float(ratio) for name, ratio in node["terms"].items()}
    return Coupling(node["joint"], terms, float(node.get("offset", 0.0)))


def read_cut(node: Mapping[str, Any]) -> Cut:
    """One item of ``loop_constraints``."""
    if "cut" in node:
        axes = shorthand_axes(node["cut"], node.get("axis"))
    else:
        axes = np.array([item["axis"] for item in node["constraint_axes"]], dtype=float)
    return Cut(
        node["predecessor_body"],
        node["successor_body"],
        axes,
        node.get("cut_joint"),
        _read_frame(node.get("predecessor_frame")),
        _read_frame(node.get("successor_frame")),
    )


def _read_frame(node: Mapping[str, Any] | None) -> Array | None:
    if node is None:
        return None
    return homogeneous(node.get("xyz", (0.0, 0.0, 0.0)), node.get("rpy", (0.0, 0.0, 0.0)))


def homogeneous(xyz: Sequence[float] | Array, rpy: Sequence[float] | Array) -> Array:
    """(4, 4) pose of a URDF origin: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("xyz", rpy).as_matrix()
    pose[:3, 3] = xyz
    return pose


def shorthand_axes(kind: str, free_axis: Sequence[float] | None) -> Array:
    """(k, 6) locked axes of a technical joint whose freedom is about / along ``free_axis``."""
    kind = kind.lower()
    if kind == "spherical":
        return _angular_linear([], np.eye(3))
    if kind == "fixed":
        return _angular_linear(np.eye(3), np.eye(3))
    if free_axis is None:
        raise ValueError(f"the oracle wants an explicit axis for cut: {kind}")
    across = perpendicular_pair(np.asarray(free_axis, dtype=float))
    locked = {
        "revolute": (across, np.eye(3)),
        "cylindrical": (across, across),
        "prismatic": (np.eye(3), across),
        "universal": ([free_axis], np.eye(3)),  # the normal of its two axes
    }
    return _angular_linear(*locked[kind])


def _angular_linear(angular: Any, linear: Any) -> Array:
    rows = [[*axis, 0.0, 0.0, 0.0] for axis in angular]
    rows += [[0.0, 0.0, 0.0, *axis] for axis in linear]
    return np.array(rows)


def perpendicular_pair(axis: Array) -> tuple[Array, Array]:
    """Unit b, c with axis × b = c; b is the coordinate axis least aligned, made orthogonal."""
    a = axis / np.linalg.norm(axis)
    b = np.eye(3)[np.argmin(np.abs(a))]
    b = b - a * (a @ b)
    b = b / np.linalg.norm(b)
    return b, np.cross(a, b)
