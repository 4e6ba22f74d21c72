"""The oracle's own reading of Onshape exports: marker links and ``robot.yaml``.

As :mod:`.files`, it shares no code with the package. Balls and universal joints become hinges about
the axes of the joint's frame, called as the package calls them. Which joint of an idle rod is held,
and where, cannot be found in the files: it is told.
"""

from __future__ import annotations

import copy
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from .files import read_text
from .oracle import Oracle

_AXES = {"X": "1 0 0", "Y": "0 1 0", "Z": "0 0 1"}


def onshape_oracle(
    urdf: str | Path, file: str | Path | None, names: Sequence[str], held: Mapping[str, float]
) -> Oracle:
    """The oracle of an export; ``held`` are joints that rest, with their positions."""
    root = ET.fromstring(read_text(urdf))
    if file is None:
        loops = [_closing(mark[1]) for mark in map(_first_marker, root.findall("link")) if mark]
    else:
        given = yaml.safe_load(read_text(file))
        for name, kind in zip(
            given.get("joint_name", ()), given.get("joint_type", ()), strict=True
        ):
            _become(root, name, kind.upper())
        kinds = given.get("type", ["6d"] * len(given["closed_loop"]))
        loops = [
            _loop(root, pair, "fixed" if kind.lower() == "6d" else "spherical")
            for pair, kind in zip(given["closed_loop"], kinds, strict=True)
        ]
    couplings = [{"joint": joint, "terms": {}, "offset": q} for joint, q in held.items()]
    xml = ET.tostring(root, encoding="unicode")
    return Oracle(xml, None, names=names, loops=loops, couplings=couplings)


def _first_marker(link: ET.Element) -> re.Match[str] | None:
    return re.fullmatch("(closing_.+)_1", link.get("name", ""))


def _closing(name: str) -> dict[str, Any]:
    pair = (f"{name}_1", f"{name}_2")
    return {**_frames(pair), "cut": "revolute", "axis": [0.0, 0.0, 1.0]}


def _loop(root: ET.Element, pair: Sequence[str], cut: str) -> dict[str, Any]:
    links = {link.get("name") for link in root.findall("link")}
    children = {j.get("name"): _link(j, "child") for j in root.findall("joint")}
    return {**_frames([m if m in links else children[m] for m in pair]), "cut": cut}


def _frames(links: Sequence[str]) -> dict[str, Any]:
    ends = ("predecessor", "successor")
    bodies: dict[str, Any] = {f"{e}_body": link for e, link in zip(ends, links, strict=True)}
    return bodies | {f"{end}_frame": {} for end in ends}


def _link(joint: ET.Element, end: str) -> str:
    found = joint.find(end)
    assert found is not None
    return found.get("link", "")


def _become(root: ET.Element, name: str, kind: str) -> None:
    """Another kind in place of the URDF's joint."""
    joint = next(j for j in root.findall("joint") if j.get("name") == name)
    if kind == "FIXED":
        joint.set("type", "fixed")
        return
    root.remove(joint)
    axes = "XYZ" if kind == "SPHERICAL" else kind[-2:]
    parent = _link(joint, "parent")
    for k, axis in enumerate(axes):
        child = _link(joint, "child") if k == len(axes) - 1 else f"{name} after {axis}"
        if k < len(axes) - 1:
            ET.SubElement(root, "link", {"name": child})
        hinge = ET.SubElement(root, "joint", {"name": f"{name}_{axis}", "type": "continuous"})
        ET.SubElement(hinge, "parent", {"link": parent})
        ET.SubElement(hinge, "child", {"link": child})
        ET.SubElement(hinge, "axis", {"xyz": _AXES[axis]})
        origin = joint.find("origin")
        if k == 0 and origin is not None:
            hinge.append(copy.deepcopy(origin))
        parent = child
