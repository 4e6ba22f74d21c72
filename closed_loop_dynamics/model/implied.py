"""Submechanisms that no file names: the free base, mimic groups, and single joints.

With these every joint of the tree belongs to exactly one submechanism, so a plain URDF without a
submechanism file is a valid robot.
"""

from __future__ import annotations

from .couplings import check_couplings, mimic_coupling
from .submechanism import Submechanism
from .tree import FLOATING, PRISMATIC, REVOLUTE, Joint, Tree

IMPLIED = "implied by the URDF"


def with_implied(entries: tuple[Submechanism, ...], tree: Tree) -> tuple[Submechanism, ...]:
    """``entries`` completed: a floating base first, the joints of no entry last, in tree order."""
    owners = {joint: entry for entry in entries for joint in entry.spanning}
    bases: list[Submechanism] = []
    rest: list[Submechanism] = []
    taken = {entry.name for entry in entries}
    for group in _groups(tree, owners):
        entry = _implied_entry(group, tree, taken)
        is_base = group[0] is tree.bodies[0].joint and group[0].kind == FLOATING
        (bases if is_base else rest).append(entry)
    return (*bases, *entries, *rest)


def make_unique(name: str, taken: set[str]) -> str:
    """``name``, or ``name#2``, ``name#3`` ... if it is taken; adds the result to ``taken``."""
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{name}#{number}", number + 1
    taken.add(unique)
    return unique


def _groups(tree: Tree, owners: dict[str, Submechanism]) -> list[list[Joint]]:
    """Joints of no entry, those that mimic each other together."""
    mimics = {b.joint.name: b.joint.mimic[0] for b in tree.bodies if b.joint.mimic is not None}
    groups: dict[str, list[Joint]] = {}
    for body in tree.bodies:
        name = body.joint.name
        if name in owners:
            continue
        master = name
        while master in mimics:
            master = mimics[master]
            if master in owners:
                raise owners[master].error(
                    f"joint '{name}' mimics '{master}' in the URDF, but only '{master}' is in this "
                    "submechanism",
                    f"list '{name}' there too",
                    key="jointnames_spanningtree",
                )
        groups.setdefault(master, []).append(body.joint)
    return list(groups.values())


def _implied_entry(group: list[Joint], tree: Tree, taken: set[str]) -> Submechanism:
    spanning = tuple(joint.name for joint in group)
    independent = tuple(joint.name for joint in group if joint.mimic is None)
    couplings = [mimic_coupling(j.name, j.mimic, IMPLIED, tree.source) for j in group if j.mimic]
    kind = {REVOLUTE: "r", PRISMATIC: "p"}.get(group[0].kind, group[0].kind)
    return Submechanism(
        name=make_unique(independent[0], taken),
        type="coupling" if couplings else kind,
        spanning=spanning,
        independent=independent,
        active=() if group[0].has_quaternion else independent,
        couplings=check_couplings(couplings, spanning, independent),
        place=IMPLIED,
        file=tree.source,
    )
