"""Linear couplings of one submechanism, from all the places where they may be written.

In the order in which they are looked for: ``couplings:`` of the entry; for transmissions without
it, the ``MultiJointLinearTransmission`` of the sub-URDF or of the robot's URDF; and always the
URDF's mimic tags among the entry's joints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import SubmechanismError, did_you_mean
from ..submechanism import Coupling
from ..tree import Tree
from ..urdf.transmissions import read_transmissions
from .node import Node

#: Ratios other than 0, written or of a chain, lie between these; offsets below the last one.
SMALLEST_RATIO, LARGEST_RATIO = 1e-12, 1e12
LARGEST_OFFSET = 1e8


@dataclass(frozen=True)
class TransmissionSearch:
    """Where the couplings of a TRANSMISSION may be, beside the submechanism file.

    Attributes:
        folder: folder of the submechanism file, None when it was given as text.
        search_path: more folders.
        tree: the robot, whose own file may have transmissions.
    """

    folder: Path | None
    search_path: tuple[Path, ...]
    tree: Tree

    def find(self, entry: Node, joints: Iterable[str]) -> tuple[list[Coupling], list[str]]:
        """Couplings of ``joints``, and the places looked in (for the message if there are none)."""
        joints = tuple(joints)
        looked: list[str] = []
        file_path = entry.find("file_path")
        if file_path is not None and file_path.value:
            for path in self._candidates(file_path, looked):
                place = f"{file_path.place} ({path.name})"
                found = _of_joints(read_transmissions(path), joints, place)
                if found:
                    return found, looked
        looked.append("the robot's URDF")
        if self.tree.broken_transmission is not None:
            raise self.tree.broken_transmission
        place = f"{entry.place} (robot URDF)"
        return _of_joints(self.tree.transmissions, joints, place), looked

    def _candidates(self, node: Node, looked: list[str]) -> list[Path]:
        """Existing files of the name in ``node``; every folder tried is added to ``looked``."""
        name: str = node.value
        folders = [self.folder, *self.search_path] if self.folder else list(self.search_path)
        looked.extend(f"'{folder}'" for folder in folders)
        found = [folder / name for folder in folders if _is_file(folder / name)]
        if found or self.folder is None:
            return found
        # Phobos exports sub-URDFs into a folder beside the one with the submechanism file.
        siblings = _folders_beside(self.folder)
        looked.append(f"the {len(siblings)} folders beside '{self.folder}'")
        found = [folder / name for folder in siblings if _is_file(folder / name)]
        if len(found) > 1:
            raise node.error(
                f"'{name}' lies in several folders: {', '.join(p.parent.name for p in found[:6])}",
                "name the right folder in search_path",
            )
        return found


def read_coupling(node: Node) -> Coupling:
    """A coupling as written; :func:`check_couplings` compares it with the robot."""
    return Coupling(
        node["joint"].value, node["terms"].value, node.value_of("offset", 0.0), node.place
    )


def add_mimics(
    couplings: list[Coupling], entry: Node, tree: Tree, joints: Iterable[str]
) -> list[Coupling]:
    """``couplings`` and those of the URDF's mimic tags among ``joints``.

    A mimic tag that says what a written coupling says already adds nothing.
    """
    joints = tuple(joints)
    written = {coupling.joint: coupling for coupling in couplings}
    result = list(couplings)
    for name in joints:
        mimic = tree.bodies[tree.joint_index(name)].joint.mimic
        if mimic is None:
            continue
        if mimic[0] not in joints:
            raise entry.error(
                f"joint '{name}' mimics '{mimic[0]}' in the URDF, but '{mimic[0]}' is not in this "
                "submechanism",
                f"list '{name}' and '{mimic[0]}' in the jointnames_spanningtree of one "
                "submechanism",
            )
        coupling = mimic_coupling(name, mimic, entry.place)
        other = written.get(name)
        if other is None:
            result.append(coupling)
        elif (other.terms, other.offset) != (coupling.terms, coupling.offset):
            raise _two_couplings(Node(None, coupling.place, entry.file), other)
    return result


def mimic_coupling(name: str, mimic: tuple[str, float, float], place: str) -> Coupling:
    """The coupling that a mimic tag of joint ``name`` means."""
    master, ratio, offset = mimic
    return Coupling(name, {master: ratio}, offset, f"{place} (URDF mimic of '{name}')")


def check_couplings(
    couplings: list[Coupling], entry: Node, spanning: Iterable[str], independent: Iterable[str]
) -> tuple[Coupling, ...]:
    """Couplings that fit the entry, one per joint, with chains written out.

    Written out means: if a = 2 b and b = 3 c, then a = 6 c, so that the terms of the result never
    name a coupled joint and can be evaluated in any order.
    """
    spanning, independent = tuple(spanning), tuple(independent)
    by_joint: dict[str, Coupling] = {}
    for coupling in couplings:
        at = Node(None, coupling.place, entry.file)
        for name in (coupling.joint, *coupling.terms):
            if name not in spanning:
                raise at.error(
                    f"joint '{name}' of the coupling is not among this submechanism's moving "
                    "joints",
                    f"{did_you_mean(name, spanning)} (else list it in jointnames_spanningtree)",
                )
        if coupling.joint in coupling.terms:
            raise at.error(
                f"joint '{coupling.joint}' is coupled to itself", "name other joints in the terms"
            )
        if coupling.joint in independent:
            raise at.error(
                f"joint '{coupling.joint}' is coupled, yet listed in jointnames_independent",
                "remove it from jointnames_independent, or turn the coupling around",
            )
        if coupling.joint in by_joint:
            raise _two_couplings(at, by_joint[coupling.joint])
        _check_size(coupling, at)
        by_joint[coupling.joint] = coupling
    return tuple(_written_out(name, by_joint, entry) for name in by_joint)


def _two_couplings(at: Node, other: Coupling) -> SubmechanismError:
    return at.error(
        f"joint '{other.joint}' has two couplings (the other: {other.place})",
        "keep one of them; add up the terms if it depends on several joints",
    )


def _written_out(name: str, by_joint: dict[str, Coupling], entry: Node) -> Coupling:
    coupling = by_joint[name]
    terms, offset = dict(coupling.terms), coupling.offset
    for _ in range(len(by_joint)):
        chained = [joint for joint in terms if joint in by_joint]
        if not chained:
            break
        for joint in chained:
            ratio = terms.pop(joint)
            offset += ratio * by_joint[joint].offset
            for other, factor in by_joint[joint].terms.items():
                terms[other] = terms.get(other, 0.0) + ratio * factor
    else:
        if any(joint in by_joint for joint in terms):
            raise Node(None, coupling.place, entry.file).error(
                f"the couplings of joint '{name}' go round in a circle",
                "express every coupled joint by independent ones",
            )
    written_out = Coupling(name, terms, offset, coupling.place)
    _check_size(written_out, Node(None, coupling.place, entry.file))
    return written_out


def _check_size(coupling: Coupling, at: Node) -> None:
    """Refuse ratios (of a chain: their products) and offsets that no mechanism has."""
    for other, ratio in coupling.terms.items():
        if ratio and not SMALLEST_RATIO <= abs(ratio) <= LARGEST_RATIO:
            raise at.error(
                f"the ratio of joint '{coupling.joint}' to '{other}' is {ratio:g}",
                f"write 0 or a ratio between {SMALLEST_RATIO:g} and {LARGEST_RATIO:g} in magnitude",
            )
    if not abs(coupling.offset) <= LARGEST_OFFSET:
        raise at.error(
            f"the offset of joint '{coupling.joint}' is {coupling.offset:g}",
            f"write an offset below {LARGEST_OFFSET:g} in magnitude",
        )


def _of_joints(
    transmissions: Iterable[Coupling], joints: tuple[str, ...], place: str
) -> list[Coupling]:
    return [replace(each, place=place) for each in transmissions if each.joint in joints]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, or with a null character, is no file
        return False


def _folders_beside(folder: Path) -> list[Path]:
    try:
        here = folder.resolve()
        return sorted(p for p in here.parent.iterdir() if p.is_dir() and p != here)
    except OSError:
        return []
