"""What ``<loop>`` and ``<coupling>`` have in common: two links, and no words that are not known."""

from __future__ import annotations

from ...errors import did_you_mean
from ..tree import Tree
from ..urdf.elements import required
from ..xml_source import Element


def check_children(element: Element, known: tuple[str, ...]) -> None:
    """Refuse children that are not known, or given twice."""
    tags = [child.tag for child in element.children]
    for child in element.children:
        if child.tag not in known:
            near = did_you_mean(child.tag, known)
            raise child.error(f"<{child.tag}> is not part of a {element.tag}", near)
        if tags.count(child.tag) > 1:
            raise child.error(f"<{child.tag}> is given more than once", "keep one of them")


def read_end(element: Element, tag: str, tree: Tree) -> Element:
    """``<predecessor>`` or ``<successor>`` of a constraint, its link checked."""
    end = element.find(tag)
    if end is None:
        raise element.error(f"has no <{tag}>", f'add <{tag} link="..."/>')
    check_children(end, ("origin",))
    link = required(end, "link")
    if link not in tree.frames:
        raise end.error(f"there is no link '{link}'", did_you_mean(link, tree.frames))
    return end
