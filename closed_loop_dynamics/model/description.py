"""The door to the files: whatever the format, a robot is a tree and its submechanisms.

A format is a folder beside :mod:`.urdf` with a function that returns a :class:`Tree`, or a whole
:class:`Description` where its files say how loops are closed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from .hyrodyn.reader import open_submechanisms, read_submechanisms
from .remark import Remark
from .submechanism import Submechanism
from .tree import Tree
from .urdf.elements import read_root
from .urdf.reader import read_urdf
from .urdf.unread import closing_elements, remarks_on_unread, shortened
from .urdf_plus.reader import WORDS as URDF_PLUS
from .urdf_plus.reader import choice_of_actuators, is_urdf_plus, read_closed_loops
from .xml_source import Element


@dataclass(frozen=True, eq=False)
class Description:
    """All that is read of a robot's files.

    Attributes:
        tree: spanning tree, visuals and transmissions.
        submechanisms: every moving joint is in exactly one of them.
    """

    tree: Tree
    submechanisms: tuple[Submechanism, ...]


def read_description(
    robot: str | os.PathLike[str],
    submechanisms: str | os.PathLike[str] | None = None,
    *,
    floating_base: bool | None = None,
    search_path: Iterable[str | os.PathLike[str]] | str | os.PathLike[str] = (),
) -> Description:
    """Read a robot's files, each of them once.

    Args:
        robot: path or text of the robot description.
        submechanisms: path or text of the submechanism file, None for a robot without loops or one
            that closes them itself (URDF+).
        floating_base: let the root link move freely; None: if the submechanism file says so.
        search_path: folders in which files named by the submechanism file are looked for as well.

    Raises:
        UrdfError, SubmechanismError: with file, place and remedy.
    """
    root = read_root(robot)
    loops = open_submechanisms(submechanisms) if submechanisms is not None else None
    if floating_base is None:
        joints = root.all("joint")
        free = any(joint.get("type") == "floating" for joint in joints)
        named = loops and loops.free_base({joint.get("name") for joint in joints})
        floating_base = named is not None and not free
    tree = read_urdf(root, floating_base=floating_base)
    plus = submechanisms is None and is_urdf_plus(root)
    words = URDF_PLUS if plus else ()
    if submechanisms is None:
        _refuse_unread_loops(root, words)
    if plus:
        entries = read_closed_loops(root, tree)
    else:
        entries = read_submechanisms(loops, tree, search_path=search_path)
    remarks = [choice_of_actuators(entries)] if plus else []
    remarks += _unused_transmissions(tree, entries)
    remarks += remarks_on_unread(root, words, _damped(entries))
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
