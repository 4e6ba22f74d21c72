"""Elements and numbers of XML: numbers so that reading them gives the same bits again."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable

import numpy as np

from ..arrays import Array
from ..se3 import rpy_rotation

Element = ET.Element


def numbers(values: Iterable[float]) -> str:
    """``1.0 0.1 -0.25``: as many digits as it takes."""
    return " ".join(number(v) for v in values)


def number(value: float) -> str:
    """One of them; no minus zero."""
    text = repr(float(value) + 0.0)
    return text.removesuffix(".0")


def add(parent: Element, tag: str, **attributes: str) -> Element:
    """A child; attributes that Python reserves end in an underscore; empty ones are left out."""
    given = {key.rstrip("_"): text for key, text in attributes.items() if text}
    return ET.SubElement(parent, tag, given)


def document(root: Element) -> str:
    """The text of a file, indented."""
    ET.indent(root)
    return '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def quaternion(R: Array) -> Array:
    """(4,) w, x, y, z of a rotation (3, 3)."""
    from scipy.spatial.transform import Rotation  # slow to import

    return np.asarray(Rotation.from_matrix(R).as_quat()[[3, 0, 1, 2]])


def angles(R: Array) -> Array:
    """(3,) roll, pitch, yaw of a rotation (3, 3), as a URDF has them; as exact where pitch is 90°.

    Any yaw that turns the first column into the plane of x and z will do: the others are those of
    what it leaves.
    """
    yaw = np.arctan2(R[1, 0], R[0, 0])
    left = rpy_rotation((0.0, 0.0, -float(yaw))) @ R
    pitch, roll = np.arctan2(-left[2, 0], left[0, 0]), np.arctan2(-left[1, 2], left[1, 1])
    return np.array([roll, pitch, yaw])
