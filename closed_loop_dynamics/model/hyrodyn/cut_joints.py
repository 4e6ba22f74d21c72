"""The constrained axes of a cut joint: written out one by one, or by the joint's name.

All axes are 6-vectors [angular; linear] in the cut frame.
"""

from __future__ import annotations

import numpy as np

from ...se3 import unit
from ..locked_axes import axes_of, six_numbers
from ..submechanism import ConstraintAxis
from .node import Node

# Two unit axes closer than this to linear dependence are one axis written twice.
_DEPENDENT = 1e-6


def named_axes(loop: Node) -> tuple[ConstraintAxis, ...]:
    """Axes of the joint that ``cut:`` of a loop names."""
    name: str = loop["cut"].value
    direction = unit(loop.value_of("axis", [0.0, 0.0, 1.0]))
    if direction is None:
        raise loop["axis"].error(
            "the axis is the zero vector", "give a direction such as [0, 0, 1]"
        )
    return axes_of(name, direction)


def listed_axes(node: Node) -> tuple[ConstraintAxis, ...]:
    """Axes of ``constraint_axes:``."""
    items = list(node)
    axes = tuple(_read_axis(item, i) for i, item in enumerate(items))
    _check_independent(axes, items)
    return axes


def _read_axis(node: Node, index: int) -> ConstraintAxis:
    axis = np.array(node["axis"].value)
    if np.any(axis[:3]) and np.any(axis[3:]):
        raise node["axis"].error(
            "the axis mixes rotation (first three numbers) and translation (last three)",
            "split it into two axes, one with zeros last and one with zeros first",
        )
    direction = unit(axis)
    if direction is None:
        raise node["axis"].error(
            "the axis is the zero vector", "give a direction: axis: [0, 0, 0, 1, 0, 0]"
        )
    baumgarte = node.value_of("baumgarte_stabilization_parameter", None)
    return ConstraintAxis(node.value_of("name", f"axis {index}"), six_numbers(direction), baumgarte)


def _check_independent(axes: tuple[ConstraintAxis, ...], items: list[Node]) -> None:
    basis = np.zeros((0, 6))
    for axis, item in zip(axes, items, strict=True):
        vector = np.array(axis.axis)
        rest = vector - basis.T @ (basis @ vector)
        rest -= basis.T @ (basis @ rest)  # once more: the first pass leaves rounding behind
        if np.linalg.norm(rest) < _DEPENDENT:
            raise item.error(
                f"axis '{axis.name}' repeats a direction that the axes before it lock already",
                "remove it, or correct its direction",
            )
        basis = np.vstack([basis, rest / np.linalg.norm(rest)])
