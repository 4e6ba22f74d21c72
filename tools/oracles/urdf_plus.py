"""The oracle's own reading of URDF+: ``<loop>`` and ``<coupling>`` as rows of the KKT system.

As :mod:`.files`, it shares no code with the package and refuses what it does not know. A floating
root joint becomes Pinocchio's free flyer.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .files import read_text
from .oracle import Oracle


def urdf_plus_oracle(source: str | Path, names: Sequence[str]) -> Oracle:
    """The oracle of a URDF+; ``names`` are its moving joints, the floating one left out."""
    root = ET.fromstring(read_text(source))
    loops = [_loop(element) for element in root.findall("loop")]
    couplings = [_coupling(element, root) for element in root.findall("coupling")]
    floating = [j for j in root.findall("joint") if j.get("type") == "floating"]
    for joint in floating:  # the world goes with it: its child is the root now
        parent = _child(joint, "parent").get("link")
        root.remove(joint)
        root.remove(next(link for link in root.findall("link") if link.get("name") == parent))
    for element in [*root.findall("loop"), *root.findall("coupling")]:
        root.remove(element)
    xml = ET.tostring(root, encoding="unicode")
    return Oracle(xml, None, bool(floating), names=names, loops=loops, couplings=couplings)


def _loop(element: ET.Element) -> dict[str, Any]:
    result: dict[str, Any] = {"cut": element.get("type")}
    axis = element.find("axis")
    result["axis"] = _numbers("1 0 0" if axis is None else axis.get("xyz", ""))
    for end in ("predecessor", "successor"):
        link = _child(element, end)
        origin = link.find("origin")
        given = {} if origin is None else origin.attrib
        result[f"{end}_body"] = link.get("link")
        result[f"{end}_frame"] = {key: _numbers(given.get(key, "0 0 0")) for key in ("xyz", "rpy")}
    return result


def _coupling(element: ET.Element, root: ET.Element) -> dict[str, Any]:
    """q of the last joint to the successor = ratio × (sum to the predecessor) - the other ones."""
    ways = [_way(_child(element, end).get("link"), root) for end in ("predecessor", "successor")]
    one, other = ([j for j in ways[i] if j not in ways[1 - i]] for i in (0, 1))
    ratio = float(_child(element, "ratio").get("value", ""))
    terms = {**dict.fromkeys(one, ratio), **dict.fromkeys(other[1:], -1.0)}
    return {"joint": other[0], "terms": terms}


def _way(link: str | None, root: ET.Element) -> list[str]:
    """Moving joints from a link up to the root."""
    carriers = {_child(j, "child").get("link"): j for j in root.findall("joint")}
    way = []
    while link in carriers:
        joint = carriers[link]
        way += [joint.get("name", "")] if joint.get("type") != "fixed" else []
        link = _child(joint, "parent").get("link")
    return way


def _child(element: ET.Element, tag: str) -> ET.Element:
    found = element.find(tag)
    if found is None:
        raise ValueError(f"<{element.tag}> without <{tag}>")
    return found


def _numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]
