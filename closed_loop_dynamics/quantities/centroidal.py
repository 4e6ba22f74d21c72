"""The robot as a whole: mass, centre of mass, momentum about it, energy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..arrays import Array, Guess, Vec
from ..errors import SingularInertia
from ..model.tree import Tree
from ..programs import Programs


class Energy(NamedTuple):
    """Energy of the whole robot [J]; of a batch, arrays (N,)."""

    kinetic: Any
    potential: Any


def total_mass(tree: Tree) -> float:
    """Mass of all moving links [kg]."""
    return float(sum(body.mass for body in tree.bodies))


def center_of_mass(programs: Programs, y: Vec, guess: Guess) -> Array:
    """(..., 3) see :meth:`Robot.center_of_mass`."""
    _check_mass(programs)
    return programs.run("center_of_mass", guess, y)


def centroidal(programs: Programs, y: Vec, yd: Vec, guess: Guess) -> Mapping[str, Array]:
    """Everything of the program "centroidal", by name."""
    _check_mass(programs)
    return programs.named("centroidal", guess, y, yd)


def centroidal_matrix(programs: Programs, y: Vec, guess: Guess) -> Array:
    """A_G (..., 6, m): centroidal momentum = A_G yd."""
    _check_mass(programs)
    return programs.run("centroidal_matrix", guess, y)


def _check_mass(programs: Programs) -> None:
    if total_mass(programs.mechanism.tree) <= 0.0:
        raise SingularInertia("no moving link has mass: there is no centre of mass")
