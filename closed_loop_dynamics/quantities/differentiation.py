"""Programs differentiated when asked for, and the links of a robot as programs of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..actuation.undriven import require_actuators
from ..arrays import Array, Guess, Vec
from ..dynamics.catalogue import ACTUATION, Recipe
from ..dynamics.differentiated import Against, Along, Differentiated, Jacobian
from ..dynamics.link_motion import link_motion
from ..dynamics.traceable import Traceable
from ..errors import InvalidInput, did_you_mean
from ..programs import Programs
from .links import frame_of

KINDS: dict[str, Callable[[Traceable], Differentiated]] = {
    "jacobian": Jacobian,
    "jvp": Along,
    "vjp": Against,
}
#: What is known of a link: see ``dynamics/link_motion.py``.
LINK = "link"


class LinkDerivatives(NamedTuple):
    """Of the pose and the Jacobian of a link.

    Attributes:
        dR_dy: (3, 3, m); dp_dy: (3, m), in the root frame; dJ_dy: (6, m, m), last axis that of y.
    """

    dR_dy: Array
    dp_dy: Array
    dJ_dy: Array


class CenterOfMassDerivatives(NamedTuple):
    """Of the centre of mass and its velocity, each (3, m).

    Attributes:
        dcom_dy: which is dvelocity_dyd too; dvelocity_dy.
    """

    dcom_dy: Array
    dvelocity_dy: Array


def known(programs: Programs, name: str, link: str | None = None) -> str:
    """The name of a program, made if it is about a link."""
    if name == LINK:
        if link is None:
            raise InvalidInput(f"'{LINK}' is about a link; say which: link=...")
        frame = frame_of(programs.mechanism.tree, link)
        recipe = Recipe(
            "y",
            lambda m: {"R": (3, 3), "p": (3,), "J": (6, m.m)},
            lambda motion: (link_motion(motion, frame), []),
        )
        return programs.add_recipe(f"link({link!r})", recipe)
    if not isinstance(name, str) or name not in programs.recipes:
        raise InvalidInput(f"no program '{name}'; {did_you_mean(name, (*programs.recipes, LINK))}")
    if link is not None:
        raise InvalidInput(f"'{name}' is not about a link; '{LINK}' is")
    if programs.recipes[name].checks == ACTUATION:
        require_actuators(programs)
    return name


def derived(programs: Programs, kind: str, name: str) -> str:
    """The name of the program ``name`` differentiated; ``kind`` is one of ``KINDS``."""
    return programs.add_recipe(f"{kind}({name})", KINDS[kind](programs.recipes[name]))


def jvp(
    programs: Programs,
    name: str,
    at: Sequence[Vec],
    along: Sequence[Vec],
    link: str | None,
    guess: Guess,
) -> Any:
    """See :meth:`Robot.jvp`."""
    name = known(programs, name, link)
    at, along = (
        _vectors(programs, name, words, given) for words, given in (("at", at), ("along", along))
    )
    found = programs.named(derived(programs, "jvp", name), guess, *at, *along)
    return next(iter(found.values())) if len(found) == 1 else found


def vjp(
    programs: Programs,
    name: str,
    at: Sequence[Vec],
    weights: Vec | Mapping[str, Vec],
    link: str | None,
    guess: Guess,
) -> tuple[Array, ...]:
    """See :meth:`Robot.vjp`."""
    name = known(programs, name, link)
    at = _vectors(programs, name, "at", at)
    if isinstance(weights, Mapping):
        weights = _flat(programs, name, weights)
    return tuple(programs.named(derived(programs, "vjp", name), guess, *at, weights).values())


def _vectors(programs: Programs, name: str, word: str, given: Sequence[Vec]) -> list[Vec]:
    """One for each vector that the program takes."""
    vectors = tuple(programs.recipes[name].vectors(programs.mechanism))
    try:
        found = list(given)
    except TypeError:
        found = []
    if len(found) != len(vectors) or isinstance(given, (str, Mapping)):
        raise InvalidInput(
            f"'{word}' of '{name}' is a tuple of {len(vectors)} ({', '.join(vectors)}), not {given}"
        )
    return found


def _flat(programs: Programs, name: str, weights: Mapping[str, Vec]) -> Array:
    """Weights of named outputs as one vector (..., size); those not given are zero."""
    shapes = programs.recipes[name].outputs(programs.mechanism).shapes
    for given in weights:
        if given not in shapes:
            raise InvalidInput(f"'{name}' gives no '{given}'; {did_you_mean(given, shapes)}")
    parts = []
    for output, shape in shapes.items():
        try:
            part = np.asarray(weights.get(output, np.zeros(shape)), dtype=float)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"weights of '{output}' are no numbers ({error})") from None
        leading = part.shape[: part.ndim - len(shape)]
        if part.shape[len(leading) :] != shape:
            raise InvalidInput(f"weights of '{output}' have shape {part.shape}, not {shape}")
        parts.append(part.reshape(*leading, -1))
    try:
        leading = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    except ValueError:
        raise InvalidInput(f"weights of '{name}': batches of different length") from None
    return np.concatenate([np.broadcast_to(p, (*leading, p.shape[-1])) for p in parts], axis=-1)


def link_derivatives(programs: Programs, link: str, y: Vec, guess: Guess) -> LinkDerivatives:
    """See :meth:`Robot.link_derivatives`."""
    program = derived(programs, "jacobian", known(programs, LINK, link))
    return LinkDerivatives(*programs.named(program, guess, y).values())


def center_of_mass_derivatives(
    programs: Programs, y: Vec, yd: Vec, guess: Guess
) -> CenterOfMassDerivatives:
    """See :meth:`Robot.center_of_mass_derivatives`."""
    found = programs.named(derived(programs, "jacobian", "centroidal"), guess, y, yd)
    return CenterOfMassDerivatives(found["dcenter_of_mass/dy"], found["dvelocity/dy"])
