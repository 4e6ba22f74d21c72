"""Responses to forces on links: programs that are made for the links a user names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..arrays import Array, Guess, Vec
from ..dynamics.catalogue import INERTIA, Recipe
from ..dynamics.cluster_efpa import inverse_osim, response_to_force
from ..dynamics.equations import checked
from ..errors import InvalidInput
from ..programs import Programs
from .links import frame_of


class ForceResponse(NamedTuple):
    """How a robot at rest answers to a force, gravity aside.

    Attributes:
        ydd: (m,) independent accelerations M_y^-1 J^T f.
        acceleration: (6,) [angular; linear] of the link in its frame, Lambda^-1 f.
    """

    ydd: Array
    acceleration: Array


class MassMatrixFactors(NamedTuple):
    """M_y^-1 = W^T D^-1 W; see :meth:`Robot.mass_matrix_factors`.

    Attributes:
        W: (m, m) the innovations; ones on the diagonal, det W = 1.
        D: (m, m) the articulated inertias of the clusters, in blocks.
    """

    W: Array
    D: Array


def osim_program(programs: Programs, links: Sequence[str]) -> str:
    """Name of the program of ``inverse_osim`` for these links."""
    if not isinstance(links, (list, tuple)):
        raise InvalidInput(f"links is a list of link names, not {links!r}")
    if not links:
        raise InvalidInput("links is empty: name at least one link")
    name = f"inverse_osim({', '.join(map(repr, links))})"
    if name not in programs.recipes:
        frames = [frame_of(programs.mechanism.tree, link) for link in links]
        size = 6 * len(frames)
        equation = checked("inverse", lambda motion: inverse_osim(motion, frames))
        programs.add_recipe(
            name, Recipe("y", lambda m: {"inverse": (size, size)}, equation, INERTIA)
        )
    return name


def run_test_force(
    programs: Programs, link: str, wrench: Vec, y: Vec, guess: Guess
) -> ForceResponse:
    """See :meth:`Robot.apply_test_force`."""
    name = f"apply_test_force({link!r})"
    if name not in programs.recipes:
        frame = frame_of(programs.mechanism.tree, link)
        equation = checked(
            "ydd acceleration", lambda motion, f: response_to_force(motion, frame, f)
        )
        programs.add_recipe(
            name, Recipe("yf", lambda m: {"ydd": (m.m,), "acceleration": (6,)}, equation, INERTIA)
        )
    return ForceResponse(**programs.named(name, guess, y, wrench))
