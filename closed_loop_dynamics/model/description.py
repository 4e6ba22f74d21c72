"""The door to the files: whatever the format, a robot is a tree and its submechanisms.

A format is a folder beside :mod:`.urdf` with a function that returns a :class:`Tree`, or a whole
:class:`Description` where its files say how loops are closed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import MjcfError
from .hyrodyn.reader import SubmechanismFile, open_submechanisms, read_submechanisms
from .hyrodyn.springs import read_spring
from .hyrodyn.yaml_reader import load_yaml
from .mjcf.reader import read_mjcf
from .onshape.joint_types import with_joint_types
from .onshape.reader import (
    closing_markers,
    read_closing_links,
    read_marked_loops,
    refuse_bare_markers,
)
from .onshape.robot_yaml import is_robot_yaml, read_robot_yaml
from .remark import Remark
from .sdf.reader import read_sdf
from .submechanism import Submechanism
from .text_source import as_folders
from .tree import Tree
from .urdf.angles import remarks_on_angles
from .urdf.elements import read_root
from .urdf.reader import read_urdf
from .urdf.unread import closing_elements, remarks_on_unread, shortened
from .urdf_constraint.gazebo import remarks_on_cuts
from .urdf_constraint.reader import WORDS as CONSTRAINT
from .urdf_constraint.reader import has_constraints, read_constraints
from .urdf_plus.reader import WORDS as URDF_PLUS
from .urdf_plus.reader import choice_of_actuators, is_urdf_plus, read_closed_loops
from .xml_source import Element, looks_like_xml, parse_xml


@dataclass(frozen=True, eq=False)
class Description:
    """All that is read of a robot's files.

    Attributes:
        tree: spanning tree, visuals and transmissions.
        submechanisms: every moving joint is in exactly one of them.
    """

    tree: Tree
    submechanisms: tuple[Submechanism, ...]

    def as_drawn(self) -> Description:
        """The same, where loops must be closed as the files say."""
        entries = (replace(entry, assemble=None) for entry in self.submechanisms)
        return replace(self, submechanisms=tuple(entries))


def read_description(
    robot: str | os.PathLike[str],
    submechanisms: str | os.PathLike[str] | None = None,
    *,
    floating_base: bool | None = None,
    search_path: Iterable[str | os.PathLike[str]] | str | os.PathLike[str] = (),
    xacro: Mapping[str, object] | None = None,
) -> Description:
    """Read a robot's files, each of them once.

    Args:
        robot: path or text of the robot description.
        submechanisms: path or text of the submechanism file or ``robot.yaml``, None for a robot
            without loops or one that closes them itself (URDF+, onshape-to-robot).
        floating_base: let the root link move freely; None: if the submechanism file says so.
        search_path: folders in which files named by the submechanism file are looked for as well,
            packages that a xacro file names, and models that an SDF includes.
        xacro: arguments of a xacro file.

    Raises:
        UrdfError, MjcfError, SubmechanismError: with file, place and remedy.
    """
    folders = as_folders(search_path)
    root = parse_xml(robot, xacro, folders)
    if root.tag == "mujoco":
        if submechanisms is not None or floating_base is not None:
            raise MjcfError(
                "an MJCF says itself what closes its loops and whether it floats",
                file=root.file,
                remedy="load it alone; a <freejoint/> makes a base float",
            )
        return Description(*read_mjcf(robot, root))
    if root.tag == "sdf":
        if submechanisms is not None:
            raise root.error("an SDF says itself what closes its loops", "load it alone")
        is_text = isinstance(robot, str) and looks_like_xml(robot)
        folder = None if is_text else Path(robot).parent
        return Description(*read_sdf(root, floating_base, folder, folders))
    root = read_root(root)
    given = load_yaml(submechanisms) if submechanisms is not None else None
    if given is not None and is_robot_yaml(given):
        marked = read_robot_yaml(given)
        root = with_joint_types(root, marked.types)
        tree = read_urdf(root, floating_base=bool(floating_base))
        return _described(root, tree, read_marked_loops(tree, marked))
    if given is not None:
        loops = open_submechanisms(given)
        if floating_base is None:
            floating_base = _says_floating(root, loops)
        tree = read_urdf(root, floating_base=floating_base)
        entries = read_submechanisms(loops, tree, search_path=folders)
        springs = tuple(read_spring(node, tree) for node in loops.springs)
        return _described(root, replace(tree, springs=springs), entries)
    tree = read_urdf(root, floating_base=False if floating_base is None else floating_base)
    if is_urdf_plus(root):
        _refuse_unread_loops(root, URDF_PLUS)
        entries = read_closed_loops(root, tree)
        return _described(root, tree, entries, URDF_PLUS, choice_of_actuators(entries))
    if has_constraints(root):
        _refuse_unread_loops(root, CONSTRAINT)
        if closing_markers(root):
            raise root.error(
                "links closing_... close loops, and so do other elements", "keep one of the two"
            )
        entries = read_constraints(root, tree)
        return _described(root, tree, entries, CONSTRAINT, *remarks_on_cuts(root))
    _refuse_unread_loops(root, ())
    closing = closing_markers(root)
    if closing:
        return _described(root, tree, read_closing_links(tree, closing))
    refuse_bare_markers(root)
    return _described(root, tree, read_submechanisms(None, tree))


def _says_floating(root: Element, file: SubmechanismFile) -> bool:
    """Whether a submechanism file frees a base that the URDF does not free itself."""
    joints = root.all("joint")
    free = any(joint.get("type") == "floating" for joint in joints)
    return file.free_base({joint.get("name") for joint in joints}) is not None and not free


def _described(
    root: Element,
    tree: Tree,
    entries: tuple[Submechanism, ...],
    words: Collection[str] = (),
    *more: Remark,
) -> Description:
    """With remarks on what nobody reads; ``words`` are those of the file's own format."""
    remarks = [*more, *_unused_transmissions(tree, entries)]
    remarks += [*remarks_on_angles(root), *remarks_on_unread(root, words, _damped(entries))]
    return Description(replace(tree, remarks=tuple(remarks)), entries)


def _refuse_unread_loops(root: Element, known: Collection[str]) -> None:
    """A file that closes loops in words that are not known must not become an open tree."""
    for element in closing_elements(root, known):
        raise element.error(
            "it ties links together in a way that is not known here: without it the robot would "
            "be an open tree",
            "describe the loop in a submechanism file and give that too (`closed-loop new` "
            "writes a first one), or remove the element",
        )


def _damped(entries: Iterable[Submechanism]) -> set[str]:
    """Joints whose friction a submechanism file gives."""
    return {joint for entry in entries for joint in (*entry.friction, *entry.actuators)}


def _unused_transmissions(tree: Tree, entries: Iterable[Submechanism]) -> Iterator[Remark]:
    coupled = {coupling.joint for entry in entries for coupling in entry.couplings}
    unused = [t.joint for t in tree.transmissions if t.joint not in coupled]
    unused = [joint for joint in unused if joint in tree.joint_names]
    if unused:
        message = (
            f"the linear transmission of {shortened(unused)} is not used: no submechanism of type "
            "TRANSMISSION has these joints"
        )
        yield Remark("warning", "unread-transmission", message)
    if tree.broken_transmission is not None:
        yield Remark("warning", "unread-transmission", str(tree.broken_transmission))
