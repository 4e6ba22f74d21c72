"""Where entries without ``couplings:`` find them: their sub-URDF, or the robot's own file.

The submechanism file names the sub-URDF (``file_path``), so looking for it is this reader's job;
what stands in it, a ``MultiJointLinearTransmission`` or mimic tags, is read by the URDF reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ..submechanism import Coupling
from ..tree import Tree
from ..urdf.transmissions import read_transmissions
from .node import Node


@dataclass(frozen=True)
class TransmissionSearch:
    """Where couplings of an entry may be, beside the submechanism file.

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
        found, looked = self.find_beside(entry, joints, read_transmissions)
        if found:
            return found, looked
        looked.append("the robot's URDF")
        if self.tree.broken_transmission is not None:
            raise self.tree.broken_transmission
        at = replace(entry, place=f"{entry.place} (robot URDF)")
        return _of_joints(self.tree.transmissions, joints, at), looked

    def find_beside(
        self, entry: Node, joints: Iterable[str], read: Callable[[Path], Iterable[Coupling]]
    ) -> tuple[list[Coupling], list[str]]:
        """What ``read`` finds on ``joints`` in the sub-URDF, and the places looked in."""
        joints = tuple(joints)
        looked: list[str] = []
        if entry.value_of("file_path", ""):
            for path in self._candidates(entry["file_path"], looked):
                at = replace(entry, place=f"{entry['file_path'].place} ({path.name})")
                found = _of_joints(read(path), joints, at)
                if found:
                    return found, looked
        return [], looked

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


def _of_joints(
    transmissions: Iterable[Coupling], joints: tuple[str, ...], at: Node
) -> list[Coupling]:
    own = (each for each in transmissions if each.joint in joints)
    return [replace(each, place=at.place, file=at.file) for each in own]


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
