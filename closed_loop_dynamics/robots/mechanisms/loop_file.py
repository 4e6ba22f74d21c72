"""The submechanism file of an example: one entry, written the way a person would."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

#: Rows of a cut joint that hold a point: spherical, or a hinge across the plane x-z or y-z.
POINT = ("TX", "TY", "TZ")
POINT_XZ = ("TX", "TZ")
POINT_YZ = ("TY", "TZ")

_AXES = ("RX", "RY", "RZ", "TX", "TY", "TZ")


@dataclass(frozen=True, eq=False)
class Cut:
    """One loop constraint.

    Attributes:
        joint: the joint whose child link carries the cut frame.
        predecessor, successor: the links on the two sides.
        rows: names such as "TX"; or the shorthand of ``cut:`` in one word, with ``axis``.
        rotations: locked rotation axes that are no coordinate axes.
    """

    joint: str
    predecessor: str
    successor: str
    rows: tuple[str, ...] | str = POINT
    axis: ArrayLike | None = None
    rotations: Sequence[ArrayLike] = ()

    def text(self) -> str:
        """The item of ``loop_constraints``."""
        lines = [
            f"  - cut_joint: {self.joint}",
            f"    predecessor_body: {self.predecessor}",
            f"    successor_body: {self.successor}",
        ]
        if isinstance(self.rows, str):
            lines.append(f"    cut: {self.rows}")
            if self.axis is not None:
                lines.append(f"    axis: {_flow(self.axis)}")
            return "\n".join(lines) + "\n"
        lines.append("    constraint_axes:")
        for name in self.rows:
            axis = np.eye(6)[_AXES.index(name)]
            lines.append(f"    - {{name: loop{name}, axis: {_flow(axis)}}}")
        for i, rotation in enumerate(self.rotations):
            axis = np.append(np.asarray(rotation, dtype=float), np.zeros(3))
            lines.append(f"    - {{name: loopR{i + 1}, axis: {_flow(axis)}}}")
        return "\n".join(lines) + "\n"


def loop_file(
    name: str,
    kind: str,
    independent: Iterable[str],
    active: Iterable[str],
    others: Iterable[str] = (),
    cuts: Sequence[Cut] = (),
    couplings: Mapping[str, Mapping[str, float]] | None = None,
) -> str:
    """YAML text with one submechanism.

    Args:
        kind: the type string.
        others: moving joints that are neither independent nor active.
        cuts: none where the loops are to be derived from the tree.
        couplings: joint -> {other joint: ratio}.
    """
    independent, active = list(independent), list(active)
    spanning = [*independent, *(a for a in active if a not in independent), *others]
    text = (
        "submechanisms:\n"
        f"- name: {name}\n"
        f"  type: {kind}\n"
        f"  jointnames_spanningtree: {_names(spanning, 28)}\n"
        f"  jointnames_independent: {_names(independent, 27)}\n"
        f"  jointnames_active: {_names(active, 22)}\n"
    )
    if cuts:
        text += "  loop_constraints:\n" + "".join(cut.text() for cut in cuts)
    if couplings:
        text += "  couplings:\n"
        for joint, terms in couplings.items():
            inner = ", ".join(f"{other}: {_plain(ratio)}" for other, ratio in terms.items())
            text += f"  - {{joint: {joint}, terms: {{{inner}}}}}\n"
    return text


def _names(names: Sequence[str], indent: int) -> str:
    """A flow list, folded at 100 columns."""
    lines = textwrap.wrap("[" + ", ".join(names) + "]", 100 - indent, break_on_hyphens=False)
    return ("\n" + " " * indent).join(lines)


def _flow(values: ArrayLike) -> str:
    return "[" + ", ".join(_plain(float(v)) for v in np.asarray(values).ravel()) + "]"


def _plain(value: float) -> str:
    return f"{round(value, 15) + 0.0:.15g}"
