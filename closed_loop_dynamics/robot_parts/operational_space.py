"""Responses to forces on links: programs that are made for the links a user names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from numpy.typing import ArrayLike

from ..arrays import Array
from ..dynamics.catalogue import INERTIA, Equation, Recipe
from ..dynamics.cluster_efpa import Frame, inverse_osim, response_to_force
from ..dynamics.motion import Motion
from ..engine.symbolic import ca
from ..errors import InvalidInput
from ..spatial import SX

if TYPE_CHECKING:
    from ..robot import Robot


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


def osim_program(robot: Robot, links: Sequence[str]) -> str:
    """Name of the program of ``inverse_osim`` for these links."""
    if not isinstance(links, (list, tuple)):
        raise InvalidInput(f"links is a list of link names, not {links!r}")
    if not links:
        raise InvalidInput("links is empty: name at least one link")
    name = f"inverse_osim({', '.join(map(repr, links))})"
    if name not in robot.recipes:
        frames = [robot.frame(link) for link in links]
        size = (6 * len(frames)) ** 2
        robot.add_recipe(name, Recipe("y", lambda m: size, _osim_equation(frames), INERTIA))
    return name


def _osim_equation(frames: list[Frame]) -> Equation:
    def equation(motion: Motion) -> tuple[list[SX], list[SX]]:
        matrix, checks = inverse_osim(motion, frames)
        return [ca.vec(matrix)], checks

    return equation


def run_test_force(
    robot: Robot, link: str, wrench: ArrayLike, y: ArrayLike, guess: ArrayLike | None
) -> ForceResponse:
    """See :meth:`Robot.apply_test_force`."""
    name = f"apply_test_force({link!r})"
    if name not in robot.recipes:
        frame = robot.frame(link)

        def equation(motion: Motion, wrench: SX) -> tuple[list[SX], list[SX]]:
            ydd, acceleration, checks = response_to_force(motion, frame, wrench)
            return [ydd, acceleration], checks

        robot.add_recipe(name, Recipe("yf", lambda m: m.m + 6, equation, INERTIA))
    flat = robot.run(name, guess, y, wrench)
    return ForceResponse(flat[..., : robot.m], flat[..., robot.m :])


def run_factors(robot: Robot, y: ArrayLike, guess: ArrayLike | None) -> MassMatrixFactors:
    """See :meth:`Robot.mass_matrix_factors`."""
    both = robot.run("mass_matrix_factors", guess, y)
    W, D = both[..., : robot.m**2], both[..., robot.m**2 :]
    shape = (*both.shape[:-1], robot.m, robot.m)
    return MassMatrixFactors(W.reshape(shape), D.reshape(shape))
