"""Submechanism files of generated robots, written the way a person would."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import yaml
from numpy.typing import ArrayLike

from ..urdf_elements import direction, number

#: Rows of a cut joint that hold a point: spherical, or a hinge across the plane x-z or y-z.
POINT = ("TX", "TY", "TZ")
POINT_XZ = ("TX", "TZ")
POINT_YZ = ("TY", "TZ")

_AXES = ("RX", "RY", "RZ", "TX", "TY", "TZ")
#: What YAML 1.1, with which ROS 2 reads its parameters, takes for true or false.
_SWITCHES = {"y", "n", "yes", "no", "on", "off", "true", "false"}


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
            f"  - cut_joint: {word(self.joint)}",
            f"    predecessor_body: {word(self.predecessor)}",
            f"    successor_body: {word(self.successor)}",
        ]
        if isinstance(self.rows, str):
            lines.append(f"    cut: {self.rows}")
            if self.axis is not None:
                lines.append(f"    axis: {_flow(self.axis)}")
            return "\n".join(lines) + "\n"
        lines.append("    constraint_axes:")
        named = [(name, np.eye(6)[_AXES.index(name)]) for name in self.rows]
        for i, axis in enumerate(self.rotations):
            named.append((f"R{i + 1}", np.append(axis, np.zeros(3))))
        lines += [f"    - {{name: loop{name}, axis: {_flow(axis)}}}" for name, axis in named]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, eq=False)
class Entry:
    """One submechanism.

    Attributes:
        name, kind: the name of the mechanism and its type string.
        independent, active: joints that are commanded, joints that are driven.
        others: moving joints that are neither.
        cuts: none where the loops are to be derived from the tree.
        couplings: joint -> {other joint: ratio}.
        contextual: which one of several of the same name.
    """

    name: str
    kind: str
    independent: Sequence[str]
    active: Sequence[str]
    others: Sequence[str] = ()
    cuts: Sequence[Cut] = ()
    couplings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    contextual: str = ""

    @property
    def spanning(self) -> list[str]:
        """All moving joints."""
        driven = [a for a in self.active if a not in self.independent]
        return [*self.independent, *driven, *self.others]

    def text(self) -> str:
        """The item of ``submechanisms``."""
        text = f"- name: {self.name}\n"
        if self.contextual:
            text += f"  contextual_name: {self.contextual}\n"
        text += (
            f"  type: {self.kind}\n"
            f"  jointnames_spanningtree: {flow_list(map(word, self.spanning), 28)}\n"
            f"  jointnames_independent: {flow_list(map(word, self.independent), 27)}\n"
            f"  jointnames_active: {flow_list(map(word, self.active), 22)}\n"
        )
        if self.cuts:
            text += "  loop_constraints:\n" + "".join(cut.text() for cut in self.cuts)
        if self.couplings:
            text += "  couplings:\n"
            for joint, terms in self.couplings.items():
                inner = ", ".join(f"{word(j)}: {number(ratio)}" for j, ratio in terms.items())
                text += f"  - {{joint: {word(joint)}, terms: {{{inner}}}}}\n"
        return text

    def renamed(
        self, contextual: str, joint: Callable[[str], str], cuts: Sequence[Cut] = ()
    ) -> Entry:
        """The same mechanism with other names of its joints, and with these cuts."""
        return replace(
            self,
            independent=[joint(j) for j in self.independent],
            active=[joint(j) for j in self.active],
            others=[joint(j) for j in self.others],
            cuts=cuts,
            couplings={
                joint(j): {joint(other): ratio for other, ratio in terms.items()}
                for j, terms in self.couplings.items()
            },
            contextual=contextual,
        )


def submechanism_file(entries: Iterable[Entry], header: str = "") -> str:
    """YAML text of several submechanisms, below comment lines."""
    return f"{header}submechanisms:\n\n" + "\n".join(entry.text() for entry in entries)


def loop_file(
    name: str,
    kind: str,
    independent: Iterable[str],
    active: Iterable[str],
    others: Iterable[str] = (),
    cuts: Sequence[Cut] = (),
    couplings: Mapping[str, Mapping[str, float]] | None = None,
) -> str:
    """YAML text with one submechanism, see :class:`Entry`."""
    lists = (list(independent), list(active), list(others))
    return one_entry(Entry(name, kind, *lists, cuts, couplings or {}))


def one_entry(entry: Entry) -> str:
    """YAML text with one submechanism."""
    return "submechanisms:\n" + entry.text()


def word(name: str) -> str:
    """A name in YAML, in quotes where it would be read as something else."""
    plain = name.lower() not in _SWITCHES and isinstance(yaml.safe_load(name), str)
    return name if plain else f'"{name}"'


def flow_list(items: Iterable[object], indent: int) -> str:
    """A flow list, folded at 100 columns."""
    text = "[" + ", ".join(map(str, items)) + "]"
    return ("\n" + " " * indent).join(textwrap.wrap(text, 100 - indent, break_on_hyphens=False))


def _flow(axis: ArrayLike) -> str:
    return "[" + ", ".join(direction(axis)) + "]"
