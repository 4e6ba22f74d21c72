"""The ``<visual>`` elements of a URDF. A bad one is noted, never an error: it moves nothing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..visual import BOX, CYLINDER, MESH, SPHERE, Visual
from ..xml_source import Element
from .elements import read_origin

Color = tuple[float, float, float]
#: kind -> attribute -> how many lengths.
_SIZES = {BOX: {"size": 3}, CYLINDER: {"radius": 1, "length": 1}, SPHERE: {"radius": 1}}


class _CannotBeShown(Exception):
    """Why."""


def read_visuals(robot: Element) -> dict[str, tuple[Visual, ...]]:
    """link -> what it looks like; links without visuals are left out."""
    colors = {each.get("name"): _color(each) for each in robot.all("material")}
    return {
        link.get("name"): tuple(_visual(each, colors) for each in link.all("visual"))
        for link in robot.all("link")
        if link.find("visual") is not None
    }


def _visual(element: Element, colors: dict[str, Color | None]) -> Visual:
    visual = Visual(np.eye(4))
    material = element.find("material")
    if material is not None:
        name = material.get("name")
        visual = replace(visual, material=name, color=_color(material) or colors.get(name))
    try:
        visual = replace(visual, pose=read_origin(element, _numbers))
        return _shaped(visual, element.find("geometry"))
    except _CannotBeShown as reason:
        return replace(visual, problem=str(reason))


def _shaped(visual: Visual, geometry: Element | None) -> Visual:
    if geometry is None or not geometry.children:
        raise _CannotBeShown("a visual without geometry")
    solid = geometry.children[0]
    if solid.tag == MESH:
        scale = _numbers(solid, "scale", 3) if solid.get("scale") else (1.0, 1.0, 1.0)
        return replace(visual, kind=MESH, mesh=solid.get("filename"), scale=scale)
    if solid.tag not in _SIZES:
        raise _CannotBeShown(f"<{solid.tag}> is not known")
    size = [x for key, n in _SIZES[solid.tag].items() for x in _numbers(solid, key, n)]
    if not all(length > 0.0 for length in size):
        raise _CannotBeShown(f"<{solid.tag}> needs lengths above zero")
    return replace(visual, kind=solid.tag, size=tuple(size))


def _color(material: Element) -> Color | None:
    color = material.find("color")
    try:
        red, green, blue, _ = _numbers(color, "rgba", 4) if color is not None else ()
    except (_CannotBeShown, ValueError):
        return None
    return red, green, blue


def _numbers(element: Element, key: str, count: int = 3) -> tuple[float, ...]:
    text = element.get(key)
    try:
        numbers = tuple(float(word) for word in text.split())
    except ValueError:
        numbers = ()
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise _CannotBeShown(f'<{element.tag} {key}="{text[:40]}"> needs {count} finite numbers')
    return numbers
