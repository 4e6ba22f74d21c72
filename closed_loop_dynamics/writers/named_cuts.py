"""The joint that holds what a cut holds, for formats that close loops by joints with names."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..arrays import Array
from ..model.locked_axes import LOCKED, axes_of
from .mjcf_ties import point_pair
from .ties import NamedCut, Ties


def joint_of(
    ties: Ties, tied: NamedCut, known: Collection[str], remedy: str
) -> tuple[str, Array, tuple[Array, Array]]:
    """Name, axis (3,) and frames of predecessor and successor; ``known``: what the format has.

    The axis is a universal joint's normal, else as ``model/locked_axes.py`` has it.

    Raises:
        NotWritable: the format has no joint that holds the same.
    """
    cut = tied.cut
    count = (len(cut.translations), len(cut.rotations))
    if count in ((2, 0), (0, 2)):
        return "spherical", np.eye(3)[2], point_pair(ties, tied)
    across = cut.rotations if count[1] == 2 else cut.translations
    axis = np.cross(across[0], across[1]) if len(across) > 1 else np.eye(3)[2]
    axis = cut.rotations[0] if count == (3, 1) else axis
    for kind in LOCKED:
        axes = axes_of(kind, axis)
        own = [np.array(a.axis[3:]) for a in axes if any(a.axis[3:])]
        turns = [np.array(a.axis[:3]) for a in axes if any(a.axis[:3])]
        if kind in known and _same(own, cut.translations) and _same(turns, cut.rotations):
            return kind, axis, (cut.frame_p, cut.frame_s)
    raise ties.error(
        f"submechanism '{tied.entry.name}', {cut.labels[0]}",
        f"no joint of the format holds {count[0]} translations and {count[1]} rotations",
        remedy,
    )


def _same(some: list[Array], others: tuple[Array, ...]) -> bool:
    """Whether axes hold the same directions."""
    if len(some) != len(others):
        return False
    return not some or np.linalg.matrix_rank(np.array([*some, *others]), 1e-9) == len(some)
