"""The ``jointnames...`` lists of a submechanism: moving, independent and driven joints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ...errors import did_you_mean
from ..tree import FLOATING, Tree
from .node import Node

# Exported files list the joint of the free base although the URDF ends at the base link.
_FREE_BASE = re.compile("float|free|base", re.IGNORECASE)

Named = dict[str, Node]  # joint name -> the place that names it, in the order of the file


@dataclass(frozen=True)
class JointLists:
    """Moving joints of one entry by role."""

    spanning: Named
    independent: tuple[str, ...]
    active: tuple[str, ...]


def read_joint_lists(entry: Node, tree: Tree) -> JointLists:
    """Read the joint lists of one entry and check them against the tree."""
    spanning = _read_spanning(entry, tree)
    independent = _read_subset(entry["jointnames_independent"], spanning, tree)
    active = independent
    if "jointnames_active" in entry:
        active = _read_subset(entry["jointnames_active"], spanning, tree)
    return JointLists(spanning, independent, active)


def _read_spanning(entry: Node, tree: Tree) -> Named:
    key = "jointnames"
    listed: Named = {}
    if key in entry:
        listed = _names(entry[key])
        _check_known(listed, tree, tolerate_free_base=True)
    if "jointnames_spanningtree" in entry:
        key = "jointnames_spanningtree"
        listed = _names(entry[key])
        _check_known(listed, tree, tolerate_free_base=False)
        for name, node in listed.items():
            if _is_floating(name, tree):
                raise node.error(
                    f"joint '{name}' is the floating base, which is a submechanism of its own",
                    "remove it from this list",
                )
    moving = {
        name: node
        for name, node in listed.items()
        if name in tree.joint_names and not _is_floating(name, tree)
    }
    if not moving:
        raise entry[key].error(
            "no moving joint is listed", "list at least one, or remove the submechanism"
        )
    return moving


def _read_subset(node: Node, spanning: Named, tree: Tree) -> tuple[str, ...]:
    names = _names(node)
    for name, at in names.items():
        if name in spanning:
            continue
        if name in tree.fixed_joint_children:
            raise at.error(f"joint '{name}' is fixed in the URDF", "name a joint that moves")
        if name in tree.joint_names:
            raise at.error(
                f"joint '{name}' is not in this submechanism's jointnames_spanningtree",
                f"add it there, or {did_you_mean(name, spanning)}",
            )
        raise at.error(f"there is no joint '{name}' in the URDF", did_you_mean(name, spanning))
    return tuple(names)


def _names(node: Node) -> Named:
    return {item.value: item for item in node}


def _check_known(names: Named, tree: Tree, *, tolerate_free_base: bool) -> None:
    known: Iterable[str] = {*tree.joint_names, *tree.fixed_joint_children}
    for name, node in names.items():
        if name in known or (tolerate_free_base and _FREE_BASE.search(name)):
            continue
        raise node.error(f"there is no joint '{name}' in the URDF", did_you_mean(name, known))


def _is_floating(name: str, tree: Tree) -> bool:
    return name in tree.joint_names and (tree.bodies[tree.joint_index(name)].joint.kind == FLOATING)
