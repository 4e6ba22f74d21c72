"""Drake's constraints: points of two links meet, or frames do.

An SDF writes what they say as texts, a URDF as attributes ``name`` and ``value``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .locked_axes import axes_of
from .sdf.values import numbers
from .submechanism import LoopConstraint
from .tied_joints import check_ends
from .tree import Tree
from .urdf.unread import local_name
from .xml_source import Element

#: Tag -> the cut, and for both ends the words of its link and of the point on it.
_KINDS = {
    "ball_constraint": ("spherical", (("body_A", "p_AP"), ("body_B", "p_BQ"))),
    "weld_constraint": ("fixed", (("parent", ""), ("child", ""))),
}
WORDS = tuple(_KINDS)
_Z = np.array([0.0, 0.0, 1.0])


def drake_loops(root: Element, tree: Tree) -> list[tuple[str, LoopConstraint]]:
    """Those among the children of a ``<model>`` or ``<robot>``, with names; raises UrdfError."""
    return [
        (f"{local_name(element)} {k}", _loop(element, tree))
        for k, element in enumerate(root.children)
        if " " in element.tag and local_name(element) in WORDS
    ]


def _loop(element: Element, tree: Tree) -> LoopConstraint:
    tag = local_name(element)
    cut, ends = _KINDS[tag]
    known = [word for end in ends for word in end if word]
    inside = {local_name(child).removeprefix(f"{tag}_"): child for child in element.children}
    if not set(known) >= set(inside):
        raise element.error("words that are not known", f"write {', '.join(known)}")
    links, frames = [], []
    for body, point in ends:
        link = _said(inside[body]) if body in inside else ""
        if link not in tree.frames:
            raise element.error(f"there is no link '{link[:60]}'", f"name two links: {known[0]}, …")
        links.append(link)
        frames.append(np.eye(4))
        if point in inside:
            frames[-1][:3, 3] = numbers(replace(inside[point], text=_said(inside[point])), 3)
    check_ends(tree, links, element.error)
    axes = axes_of(cut, _Z)
    return LoopConstraint(links[0], links[1], axes, None, frames[0], frames[1], element.place)


def _said(element: Element) -> str:
    return element.get("name", element.get("value", element.text)).strip()
