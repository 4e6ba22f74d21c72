"""The XML side of the URDF: safe parsing, pruning to what a rigid-body tree needs, first checks.

Everything here happens before urdfdom-py sees the document, so that a bad value is reported with
its element and line, and so that urdfdom-py (which prints a line for every tag it does not know)
gets only elements it understands.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from ...errors import UrdfError
from ..text_source import read_source

MAX_BYTES = 64 * 2**20
_SPACE = re.compile(r"\s*")

Element = Any  # lxml.etree._Element, which has no public name

# What is kept of each element; all else (visuals, collisions, gazebo, ...) says nothing about
# motion and is dropped.
_CHILDREN = {
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "axis", "parent", "child", "limit", "mimic"),
}
_REPEATABLE = ("link", "joint")
_REQUIRED_CHILDREN = {"inertial": ("mass",), "joint": ("parent", "child")}

_NUMBERS = {  # element -> attribute -> how many numbers
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "mass": {"value": 1},
    "inertia": {key: 1 for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")},
    "limit": {key: 1 for key in ("lower", "upper", "effort", "velocity")},
    "mimic": {"multiplier": 1, "offset": 1},
}
_WORDS = {
    "robot": ("name", "version"),
    "link": ("name",),
    "joint": ("name", "type"),
    "parent": ("link",),
    "child": ("link",),
    "mimic": ("joint",),
}
_REQUIRED_ATTRIBUTES = {
    "robot": ("name",),
    "link": ("name",),
    "joint": ("name", "type"),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "mimic": ("joint",),
}


@dataclass(frozen=True)
class RobotXml:
    """A pruned ``<robot>`` document that still knows its lines.

    Attributes:
        root: the ``<robot>`` element.
        file: for messages.
        links, joints: elements by name.
    """

    root: Element
    file: str
    links: dict[str, Element] = field(default_factory=dict)
    joints: dict[str, Element] = field(default_factory=dict)

    def error(self, element: Element, problem: str, remedy: str) -> UrdfError:
        """An error at ``element``."""
        return UrdfError(problem, file=self.file, place=place_of(element), remedy=remedy)

    def joint_error(self, name: str, problem: str, remedy: str, part: str = "") -> UrdfError:
        """An error at joint ``name``, or at its child element ``part`` when it has one."""
        joint = self.joints[name]
        found = joint.find(part) if part else None
        return self.error(joint if found is None else found, problem, remedy)


def place_of(element: Element) -> str:
    """``joint 'knee'/axis (line 12)``."""
    parts: list[str] = []
    node = element
    while node is not None and node.getparent() is not None:
        name = node.get("name") if node.tag in ("link", "joint", "transmission") else None
        parts.insert(0, f"{node.tag} '{name}'" if name else str(node.tag))
        node = node.getparent()
    line = f" (line {element.sourceline})" if element.sourceline else ""
    return ("/".join(parts) or str(element.tag)) + line


def looks_like_xml(text: str) -> bool:
    """Whether a str is XML rather than a path."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def parse_xml(source: object) -> tuple[Element, str]:
    """Root element and file name of a URDF given as path or text; no entities, no network."""
    given = read_source(
        source, looks_like_text=looks_like_xml, error=UrdfError, what="URDF", max_bytes=MAX_BYTES
    )
    _refuse_doctype(given.text, given.file)
    # The encoding is forced because the text has been decoded already: a wrong encoding="..."
    # in the XML declaration must not decode it a second time.
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        encoding="utf-8",
    )
    # Blank lines before an XML declaration are an error in XML, but common in texts from code;
    # elsewhere they stay, for the line numbers' sake.
    text = given.text.lstrip() if given.text.lstrip().startswith("<?xml") else given.text
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except (etree.XMLSyntaxError, ValueError) as problem:
        raise UrdfError(
            f"not well-formed XML ({problem})",
            file=given.file,
            place="robot",
            remedy="correct the XML at that line; every opened tag must be closed",
        ) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise _doctype_error(given.file)
    _strip_namespace(root, given.file)
    if root.tag != "robot":
        raise UrdfError(
            f"the root element is <{root.tag}>, not <robot>",
            file=given.file,
            place=place_of(root),
            remedy="give a URDF; convert SDF, MJCF or xacro files first",
        )
    return root, given.file


def read_robot_xml(source: object) -> RobotXml:
    """Parse, prune to links and joints, check names and numbers element by element."""
    root, file = parse_xml(source)
    xml = RobotXml(root, file)
    _prune(root)
    _check_element(xml, root)
    for element in root:
        known = xml.links if element.tag == "link" else xml.joints
        name = element.get("name")
        if name in known:
            raise xml.error(
                element,
                f"a second {element.tag} has the name '{name}' (the first is in line "
                f"{known[name].sourceline})",
                f"give every {element.tag} a name of its own",
            )
        known[name] = element
    return xml


def parse_numbers(xml: RobotXml, element: Element, key: str, count: int = 1) -> list[float]:
    """The numbers of one attribute, checked for count and finiteness (limits may be infinite)."""
    text = element.get(key)
    words = text.split()
    if len(words) != count:
        raise xml.error(
            element,
            f"{key}='{_clip(text)}' holds {len(words)} numbers, not {count}",
            f'write {key}="{" ".join(["0.0"] * count)}" with your values',
        )
    return [_number(xml, element, key, word) for word in words]


def _number(xml: RobotXml, element: Element, key: str, word: str) -> float:
    try:
        # float() also takes digit separators and non-Latin digits, which other URDF readers do
        # not: the same file must mean the same robot everywhere.
        value = float(word) if word.isascii() and "_" not in word else None
    except ValueError:
        value = None
    if value is None:
        raise xml.error(
            element,
            f"{key}: '{_clip(word)}' is not a number",
            "write a number with a decimal point; expand xacro expressions first",
        )
    if math.isnan(value) or (math.isinf(value) and element.tag != "limit"):
        raise xml.error(element, f"{key}: '{_clip(word)}' is not finite", "write a finite number")
    return value


def _refuse_doctype(text: str, file: str) -> None:
    """Refuse document type declarations before any parser meets the entities they may define.

    A declaration can only stand before the first element, so comments and processing
    instructions are skipped and the rest is left to the parser.
    """
    start = _SPACE.match(text, 0).end()  # type: ignore[union-attr]
    while text.startswith(("<!--", "<?"), start):
        closing = "-->" if text.startswith("<!--", start) else "?>"
        end = text.find(closing, start + 2)
        if end < 0:
            return
        start = _SPACE.match(text, end + len(closing)).end()  # type: ignore[union-attr]
    if text[start : start + 9].upper() == "<!DOCTYPE":
        raise _doctype_error(file)


def _doctype_error(file: str) -> UrdfError:
    return UrdfError(
        "the file has a document type declaration (<!DOCTYPE ...>), which may define entities",
        file=file,
        place="before <robot>",
        remedy="remove it: a URDF needs none, and entities are refused for safety",
    )


def _strip_namespace(root: Element, file: str) -> None:
    """Drop the root's default namespace; leave foreign elements recognisable by theirs."""
    own = etree.QName(root).namespace
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        name = etree.QName(element)
        if name.namespace and "xacro" in name.namespace:
            raise UrdfError(
                f"unexpanded xacro element <xacro:{name.localname}>",
                file=file,
                place=f"line {element.sourceline}",
                remedy="expand the file first: xacro robot.urdf.xacro > robot.urdf",
            )
        if own is not None and name.namespace == own:
            element.tag = name.localname


def _prune(element: Element) -> None:
    kept = _CHILDREN.get(element.tag, ())
    for child in list(element):
        if child.tag in kept:
            _prune(child)
        else:
            element.remove(child)
    words, numbers = _WORDS.get(element.tag, ()), _NUMBERS.get(element.tag, {})
    for key in list(element.attrib):
        # quat_xyzw is kept so that _check_element can refuse it
        if key not in words and key not in numbers and key != "quat_xyzw":
            del element.attrib[key]


def _check_element(xml: RobotXml, element: Element) -> None:
    for key in _REQUIRED_ATTRIBUTES.get(element.tag, ()):
        if not element.get(key, "").strip():
            raise xml.error(
                element, f"<{element.tag}> has no {key}", f'write <{element.tag} {key}="..."/>'
            )
    if element.get("version", "1.0") != "1.0":
        raise xml.error(element, f"URDF version '{element.get('version')}'", "use version 1.0")
    if "quat_xyzw" in element.attrib:
        raise xml.error(element, "quat_xyzw is not part of URDF 1.0", "give the rotation as rpy")
    for key, count in _NUMBERS.get(element.tag, {}).items():
        if key in element.attrib:
            parse_numbers(xml, element, key, count)
    tags = [child.tag for child in element]
    for tag in _REQUIRED_CHILDREN.get(element.tag, ()):
        if tag not in tags:
            raise xml.error(element, f"has no <{tag}>", f"add a <{tag}> element")
    for child in element:
        if child.tag not in _REPEATABLE and tags.count(child.tag) > 1:
            raise xml.error(child, f"<{child.tag}> is given more than once", "keep one of them")
        _check_element(xml, child)


def _clip(text: str) -> str:
    return text if len(text) <= 60 else text[:60] + "..."
