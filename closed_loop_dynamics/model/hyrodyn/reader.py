"""Submechanism file (YAML, as written by Phobos) -> checked :class:`Submechanism` entries.

The layout is in :mod:`.schema`, and in docs/file_format.md for people.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..couplings import add_mimics, check_couplings
from ..implied import make_unique, with_implied
from ..remark import Remark
from ..submechanism import Coupling, Submechanism
from ..text_source import as_folders
from ..tree import Tree
from ..words import COUPLED_TYPES, FREE_BASE, FUNCTION, LOOP_TYPES, NUMERICAL
from .exoskeletons import with_exoskeleton
from .joints import (
    JointLists,
    Named,
    read_actuators,
    read_joint_friction,
    read_joint_lists,
    read_reference,
    read_spanning,
)
from .loop_constraints import read_loop, read_task_axes
from .node import Node
from .schema import COUPLING, FILE
from .sub_urdf import TransmissionSearch
from .validate import validated
from .yaml_reader import YamlFile, load_yaml


@dataclass(frozen=True)
class SubmechanismFile:
    """A file in the right layout, not yet compared with a tree.

    Attributes:
        nodes: its entries.
        folder: where it lies; None for a text.
        repeated: place of an entry -> words on the keys that it has twice.
        springs, exoskeletons: of all the file.
    """

    nodes: list[Node]
    folder: Path | None
    repeated: dict[str, list[str]]
    springs: list[Node] = field(default_factory=list)
    exoskeletons: list[Node] = field(default_factory=list)

    def free_base(self, joints: Collection[str]) -> Node | None:
        """The entry that says that the base moves freely, by six joints that are not in the URDF.

        Raises:
            SubmechanismError: such an entry with other than six joints, or driven ones; a second.
        """
        virtual = [
            node
            for node in self.nodes
            if node.value_of("type", "") == FREE_BASE and not _listed(node) & set(joints)
        ]
        for k, node in enumerate(virtual):
            if k or len(_listed(node)) != 6 or node.value_of("jointnames_active", ()):
                raise node.error(
                    "a free base is one entry of six joints, none of them driven",
                    "list six joints and jointnames_active: [], or remove the entry",
                )
        return virtual[0] if virtual else None


def _listed(node: Node) -> set[str]:
    return {*node.value_of("jointnames_spanningtree", node.value_of("jointnames", ()))}


def open_submechanisms(source: str | os.PathLike[str] | YamlFile) -> SubmechanismFile:
    """A submechanism file (path, text or its YAML), its layout checked.

    Raises:
        SubmechanismError: names the file, the key path, the offending word and the nearest valid.
    """
    given = source if isinstance(source, YamlFile) else load_yaml(source)
    root = validated(given.root, FILE)
    nodes, more = list(root["submechanisms"]), map(root.items, ("springs", "exoskeletons"))
    return SubmechanismFile(nodes, given.folder, given.repeated, *more)


def read_submechanisms(
    source: str | os.PathLike[str] | SubmechanismFile | None,
    tree: Tree,
    *,
    search_path: Iterable[str | os.PathLike[str]] | str | os.PathLike[str] = (),
) -> tuple[Submechanism, ...]:
    """Read a submechanism file and check it against the tree.

    Args:
        source: path, YAML text, a file that is open already, or None for a robot without loops.
        tree: the robot.
        search_path: folders in which sub-URDFs (``file_path``) are looked for as well.

    Returns:
        Floating joints first, then the entries of the file in its order, then one entry for each
        joint (or group of mimicking joints) that the file does not mention. Every moving joint is
        in exactly one entry.

    Raises:
        SubmechanismError: names the file, the key path, the offending word and the nearest valid.
        UrdfError: a sub-URDF that is needed cannot be read.
    """
    folders = as_folders(search_path)
    if source is None:
        return with_implied((), tree)
    file = source if isinstance(source, SubmechanismFile) else open_submechanisms(source)
    base = file.free_base({*tree.joint_names, *tree.fixed_joint_children})
    nodes = [node for node in file.nodes if node is not base]
    search = TransmissionSearch(file.folder, folders, tree)
    owners: Named = {}
    entries = []
    for node, name in zip(nodes, _unique_names(nodes), strict=True):
        entry = _read_entry(node, name, tree, search, owners)
        words = file.repeated.get(node.place, ())
        remarks = tuple(Remark("warning", "repeated-key", f"{name}: {each}") for each in words)
        entries.append(replace(entry, remarks=remarks))
    for node in file.exoskeletons:
        joints = read_spanning(node, tree)
        _claim(joints, owners)
        entries = with_exoskeleton(entries, node, joints, tree, search)
    for node in (*nodes, *file.exoskeletons):
        _check_all_claimed(node, tree, owners)
    return _with_the_rest(tuple(entries), tree)


def _with_the_rest(entries: tuple[Submechanism, ...], tree: Tree) -> tuple[Submechanism, ...]:
    """``entries`` completed by the joints that the file does not mention, and a word on them."""
    complete = list(with_implied(entries, tree))
    rest = [k for k, each in enumerate(complete) if each not in entries and each.active]
    if rest:
        names = ", ".join(joint for k in rest for joint in complete[k].active)
        words = f"in no submechanism, so independent and driven: {names}"
        remark = Remark("info", "joints-assumed", words)
        complete[rest[0]] = replace(complete[rest[0]], remarks=(remark,))
    return tuple(complete)


def _check_all_claimed(node: Node, tree: Tree, owners: Named) -> None:
    """What ``jointnames`` has beyond ``jointnames_spanningtree`` would be free without a word."""
    free = {body.joint.name for body in tree.bodies if body.joint.has_quaternion}
    for item in node.items("jointnames"):
        if item.value in {*tree.joint_names} - {*owners} - free:
            raise item.error(
                f"joint '{item.value}' moves, yet no jointnames_spanningtree has it",
                "list it there, or remove it here: in no submechanism it is independent and driven",
            )


def _read_entry(
    node: Node, name: str, tree: Tree, search: TransmissionSearch, owners: Named
) -> Submechanism:
    joints = read_joint_lists(node, tree)
    _claim(joints.spanning, owners)
    loops = tuple(read_loop(item, tree) for item in node.items("loop_constraints"))
    kind = node.value_of("type", NUMERICAL if loops else "serial")
    couplings = _read_couplings(node, kind, joints, tree, search)
    actuators = read_actuators(node, joints)
    entry = Submechanism(
        name=name,
        type=kind,
        spanning=tuple(joints.spanning),
        independent=joints.independent,
        active=joints.active,
        loops=loops,
        couplings=couplings,
        solver=node.value_of("solver", "auto"),
        reference=read_reference(node, joints),
        actuators=actuators,
        friction=read_joint_friction(node, joints, actuators),
        task_space=read_task_axes(node["task_space"], tree) if "task_space" in node else None,
        place=node.place,
        file=node.file,
    )
    _check_counts(entry, node)
    return entry


def _claim(spanning: Named, owners: Named) -> None:
    """Every joint moves in one submechanism only."""
    for name, node in spanning.items():
        if name in owners:
            raise node.error(
                f"joint '{name}' is in two submechanisms (also in {owners[name].place})",
                "keep it in one of them; joints that share a loop belong into one submechanism",
            )
        owners[name] = node


def _read_couplings(
    node: Node, kind: str, joints: JointLists, tree: Tree, search: TransmissionSearch
) -> tuple[Coupling, ...]:
    looked: list[str] = []
    if "couplings" in node:
        couplings = [_read_coupling(item) for item in node["couplings"]]
    elif kind == "transmission":
        couplings, looked = search.find(node, joints.spanning)
    else:
        couplings = []
    couplings = add_mimics(couplings, tree, joints.spanning, file=node.file, place=node.place)
    if kind in COUPLED_TYPES and not couplings:
        where = f"; looked for a MultiJointLinearTransmission in {', '.join(looked)}"
        raise node.error(
            f"no couplings found for type '{kind}'{where if looked else ''}",
            f"give the folder of its sub-URDF in search_path, or write couplings: "
            f"[{COUPLING.example}]",
        )
    return check_couplings(couplings, joints.spanning, joints.independent)


def _read_coupling(node: Node) -> Coupling:
    terms, offset = node["terms"].value, node.value_of("offset", 0.0)
    return Coupling(node["joint"].value, terms, offset, node.place, node.file)


def _check_counts(entry: Submechanism, node: Node) -> None:
    """Wrong numbers of joints, as far as they can be told without geometry."""
    dependent = [joint for joint in entry.spanning if joint not in entry.independent]
    coupled = {coupling.joint for coupling in entry.couplings}
    if entry.loops:
        if not dependent:
            raise node.error(
                "all its joints are independent, which leaves none for the loops to move",
                "shorten jointnames_independent to the degrees of freedom of the mechanism",
            )
        return
    if entry.type in LOOP_TYPES and not dependent:
        raise node["jointnames_independent"].error(
            f"all its joints are independent, but type '{node['type'].value}' closes a loop",
            "shorten jointnames_independent, or name the type of a chain such as serial",
        )
    if entry.type in LOOP_TYPES or entry.type == FUNCTION:
        return  # the loops follow from the type, the positions from the user's function
    free = [joint for joint in dependent if joint not in coupled]
    if free:
        raise node.error(
            f"nothing determines joint '{free[0]}': it is not independent, not coupled, and type "
            f"'{entry.type}' without loop_constraints closes no loop",
            "add it to jointnames_independent, or write loop_constraints or couplings",
        )


def _unique_names(nodes: list[Node]) -> list[str]:
    """``contextual_name`` where it is unique, else ``name``; repeated ones get ``#2``, ``#3``."""
    contextual = [node.value_of("contextual_name", "") for node in nodes]
    count = Counter(contextual)
    taken: set[str] = set()
    result = []
    for i, node in enumerate(nodes):
        plain = node.value_of("name", "")
        name = contextual[i] if count[contextual[i]] == 1 else plain
        name = name or contextual[i] or plain or f"submechanism_{i}"
        result.append(make_unique(name, taken))
    return result
