"""The door to the files: whatever the format, a robot is a tree and its submechanisms.

A format is a folder beside :mod:`.urdf` with a function that returns a :class:`Tree`, or a whole
:class:`Description` where its files say how loops are closed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from .hyrodyn.reader import read_submechanisms
from .submechanism import Submechanism
from .tree import Tree
from .urdf.reader import read_urdf


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
    floating_base: bool = False,
    search_path: Iterable[str | os.PathLike[str]] | str | os.PathLike[str] = (),
) -> Description:
    """Read a robot's files, each of them once.

    Args:
        robot: path or text of the robot description.
        submechanisms: path or text of the submechanism file, None for a robot without loops.
        floating_base: let the root link move freely.
        search_path: folders in which files named by the submechanism file are looked for as well.

    Raises:
        UrdfError, SubmechanismError: with file, place and remedy.
    """
    tree = read_urdf(robot, floating_base=floating_base)
    return Description(tree, read_submechanisms(submechanisms, tree, search_path=search_path))
