"""The values of SDF elements: texts of children, numbers, truths and poses."""

from __future__ import annotations

import math
import re

import numpy as np

from ...arrays import Array
from ...se3 import origin_pose, pose, rotate
from ..text_source import clip
from ..xml_source import Element

_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def minor_version(element: Element) -> int:
    """9 for SDF 1.9, of the file that an element is in; ``<sdf version=>`` says it."""
    while element.tag != "sdf" and element.parent is not None:
        element = element.parent
    version = element.get("version", "1.12")
    if not re.fullmatch(r"1\.\d{1,2}", version):
        raise element.error(f"SDF version '{version[:20]}'", "use a version such as 1.9")
    return int(version[2:])


def text_of(element: Element, tag: str, default: str | None = None) -> str:
    """The text of a child; an error where there is none and no default."""
    child = element.find(tag)
    if child is None or not child.text.strip():
        if default is None:
            raise (child or element).error(f"has no <{tag}>", f"write <{tag}>...</{tag}>")
        return default
    return child.text.strip()


def truth_of(element: Element, tag: str, default: bool = False) -> bool:
    """Whether a child says true."""
    word = text_of(element, tag, str(default)).lower()
    if word not in _TRUTH:
        raise element.error(f"<{tag}> is '{clip(word, 40)}'", "write true or false")
    return _TRUTH[word]


def number_of(element: Element | None, tag: str, default: float, endless: bool = False) -> float:
    """The number in a child; ``endless``: it may be infinite."""
    child = None if element is None else element.find(tag)
    if child is None or not child.text.strip():
        return default
    return numbers(child, 1, endless)[0]


def numbers(element: Element, count: int, endless: bool = False) -> list[float]:
    """The numbers in the text of an element."""
    words = element.text.split()
    if len(words) != count:
        raise element.error(f"{len(words)} numbers, not {count}", f"write {count} numbers")
    result = []
    for word in words:
        try:
            # float() also takes digit separators and non-Latin digits, which other readers do not
            value = float(word) if word.isascii() and "_" not in word else math.nan
        except ValueError:
            value = math.nan
        if math.isnan(value) or (math.isinf(value) and not endless):
            raise element.error(f"'{clip(word, 60)}' is not a finite number", "write a number")
        result.append(value)
    return result


def read_pose(element: Element) -> tuple[Array, str]:
    """(4, 4) pose in a child ``<pose>`` (the identity where there is none), and relative to what.

    The frame is empty where the file does not name it.
    """
    given = element.find("pose")
    if given is None:
        return np.eye(4), ""
    relative_to = given.get("relative_to").strip()
    if given.get("frame").strip():
        raise given.error("pose/@frame never meant anything", "write relative_to=, of SDF 1.7")
    if not given.text.strip():
        return np.eye(4), relative_to
    kind = given.get("rotation_format", "euler_rpy")
    if kind == "quat_xyzw":
        values = numbers(given, 7)
        size = math.hypot(*values[3:])
        if not 1e-6 < size < math.inf:
            raise given.error("a quaternion of length 0", "write x y z qx qy qz qw")
        R = rotate(np.array(values[3:]) / size, np.eye(3)).T
        return pose(R, values[:3]), relative_to
    if kind != "euler_rpy":
        raise given.error(f"rotation_format '{clip(kind, 40)}'", "write euler_rpy or quat_xyzw")
    values = numbers(given, 6)
    word = given.get("degrees", "false").lower()
    if word not in _TRUTH:
        raise given.error(f"degrees='{clip(word, 40)}'", "write true or false")
    rpy = [math.radians(x) for x in values[3:]] if _TRUTH[word] else values[3:]
    return origin_pose(values[:3], rpy), relative_to
