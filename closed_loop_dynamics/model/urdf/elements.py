"""The ``<link>`` and ``<joint>`` elements of a URDF: what is read of each, and the first checks.

Other elements are left alone (:mod:`.unread` has a word on them). What passes here has the
elements, attributes and numbers it needs, so that later steps read without asking again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Array
from ...errors import UrdfError
from ...se3 import origin_pose
from ..text_source import clip
from ..xml_source import Element, parse_xml

#: What joints may stand on without a <link> of this name, as Drake's do.
WORLD = "world"
_CHILDREN = {
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "axis", "parent", "child", "limit", "mimic"),
}
_REPEATABLE = ("link", "joint")
_REQUIRED_CHILDREN = {"inertial": ("mass",), "joint": ("parent", "child")}

INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_NUMBERS = {  # element -> attribute -> how many numbers
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "mass": {"value": 1},
    "inertia": dict.fromkeys(INERTIA, 1),
    "limit": dict.fromkeys(("lower", "upper", "effort", "velocity"), 1),
    "mimic": {"multiplier": 1, "offset": 1},
}
_REQUIRED_ATTRIBUTES = {
    "robot": ("name",),
    "link": ("name",),
    "joint": ("name", "type"),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "mass": ("value",),
    "inertia": INERTIA,
    "mimic": ("joint",),
}


@dataclass(frozen=True)
class UrdfJoint:
    """A ``<joint>`` with what ties it to others.

    Attributes:
        parent, child: links.
        master: the joint that it mimics, if any.
    """

    name: str
    type: str
    parent: str
    child: str
    master: str | None
    element: Element

    def error(self, problem: str, remedy: str, part: str = "") -> UrdfError:
        """What to raise about it, or about its child element ``part`` when it has one."""
        return (self.element.find(part) or self.element).error(problem, remedy)


@dataclass(frozen=True)
class UrdfDocument:
    """A ``<robot>`` whose elements are complete.

    Attributes:
        root: the ``<robot>`` element.
        links, joints: by name, in the order of the file.
    """

    root: Element
    links: dict[str, Element] = field(default_factory=dict)
    joints: dict[str, UrdfJoint] = field(default_factory=dict)


def read_root(source: object) -> Element:
    """The root element of a URDF, given as path, text or itself; its content is not looked at."""
    root = source if isinstance(source, Element) else parse_xml(source)
    if root.tag != "robot":
        raise root.error(
            f"the root element is <{root.tag}>, not <robot>",
            "give a URDF, an MJCF (<mujoco>) or an SDF (<sdf>)",
        )
    return root


def read_document(source: object) -> UrdfDocument:
    """Links and joints of a URDF, their names and numbers checked element by element."""
    document = UrdfDocument(read_root(source))
    _check_element(document.root)
    first_line: dict[tuple[str, str], int] = {}
    for element in _children(document.root):
        name = element.get("name")
        if (element.tag, name) in first_line:
            raise element.error(
                f"a second {element.tag} has the name '{name}' (the first is in line "
                f"{first_line[element.tag, name]})",
                f"give every {element.tag} a name of its own",
            )
        first_line[element.tag, name] = element.line
        if element.tag == "link":
            document.links[name] = element
        else:
            document.joints[name] = _joint(element)
    for joint in document.joints.values():
        if joint.parent == WORLD and WORLD not in document.links:
            document.links[WORLD] = replace(
                joint.element, tag="link", attributes={"name": WORLD}, children=[]
            )
    return document


def _joint(element: Element) -> UrdfJoint:
    parent, child, mimic = (element.find(tag) for tag in ("parent", "child", "mimic"))
    assert parent is not None and child is not None  # checked before
    return UrdfJoint(
        element.get("name"),
        element.get("type"),
        parent.get("link"),
        child.get("link"),
        mimic.get("joint") if mimic is not None else None,
        element,
    )


def numbers(element: Element, key: str, count: int = 3) -> list[float]:
    """The numbers of one attribute, checked for count and finiteness (limits may be infinite)."""
    text = element.get(key)
    words = text.split()
    if len(words) != count:
        raise element.error(
            f"{key}='{clip(text, 60)}' holds {len(words)} numbers, not {count}",
            f'write {key}="{" ".join(["0.0"] * count)}" with your values',
        )
    return [_number(element, key, word) for word in words]


def number(element: Element | None, key: str, default: float = 0.0) -> float:
    """The one number of an attribute, or the default where it is not given."""
    if element is None or key not in element.attributes:
        return default
    return numbers(element, key, 1)[0]


def required(element: Element, key: str) -> str:
    """An attribute that must be there."""
    value = element.get(key)
    if not value.strip():
        raise element.error(f"<{element.tag}> has no {key}", f'write <{element.tag} {key}="..."/>')
    return value


def read_origin(
    element: Element, read: Callable[[Element, str], Sequence[float]] = numbers
) -> Array:
    """(4, 4) pose of the ``<origin>`` in an element; the identity where there is none.

    ``read`` gives the three numbers of one of its attributes.
    """
    origin = element.find("origin")
    return np.eye(4) if origin is None else origin_of(origin, read)


def origin_of(origin: Element, read: Callable[[Element, str], Sequence[float]] = numbers) -> Array:
    """(4, 4) pose of an element with ``xyz`` and ``rpy``, both zero where they are not given."""
    keys = ("xyz", "rpy")
    given = (read(origin, k) if k in origin.attributes else (0.0, 0.0, 0.0) for k in keys)
    return origin_pose(*given)


def _number(element: Element, key: str, word: str) -> float:
    try:
        # float() also takes digit separators and non-Latin digits, which other URDF readers do
        # not: the same file must mean the same robot everywhere.
        value = float(word) if word.isascii() and "_" not in word else None
    except ValueError:
        value = None
    if value is None:
        raise element.error(
            f"{key}: '{clip(word, 60)}' is not a number",
            "write a number with a decimal point; expand xacro expressions first",
        )
    if math.isnan(value) or (math.isinf(value) and element.tag != "limit"):
        raise element.error(f"{key}: '{clip(word, 60)}' is not finite", "write a finite number")
    return value


def _children(element: Element) -> list[Element]:
    """Those that are read."""
    known = _CHILDREN.get(element.tag, ())
    return [child for child in element.children if child.tag in known]


def _check_element(element: Element) -> None:
    for key in _REQUIRED_ATTRIBUTES.get(element.tag, ()):
        required(element, key)
    if element.tag == "robot" and element.get("version", "1.0") != "1.0":
        raise element.error(f"URDF version '{element.get('version')}'", "use version 1.0")
    if "quat_xyzw" in element.attributes:
        raise element.error("quat_xyzw is not part of URDF 1.0", "give the rotation as rpy")
    for key, count in _NUMBERS.get(element.tag, {}).items():
        if key in element.attributes:
            numbers(element, key, count)
    children = _children(element)
    tags = [child.tag for child in children]
    for tag in _REQUIRED_CHILDREN.get(element.tag, ()):
        if tag not in tags:
            raise element.error(f"has no <{tag}>", f"add a <{tag}> element")
    for child in children:
        if child.tag not in _REPEATABLE and tags.count(child.tag) > 1:
            raise child.error(f"<{child.tag}> is given more than once", "keep one of them")
        _check_element(child)
