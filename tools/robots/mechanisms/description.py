"""What the library knows about one of its mechanisms, and the dimensions it is built from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

#: Planar mechanisms lie in x-z: look along +y. The others are seen from above, a little askew.
FRONT = (0.0, 0.0)
ABOVE = (28.0, 22.0)


def dim(default: Any, text: str) -> Any:
    """A dimension of a mechanism with its explanation; lengths in metres, angles as named."""
    return field(default=default, metadata={"text": text})


@dataclass(frozen=True)
class Example:
    """One entry of the library.

    Attributes:
        name, title: for code and for people.
        aliases: names in papers and products.
        type: the type string of its submechanism file.
        dimensions: the dataclass type of its parameters, all with defaults.
        build: dimensions as keywords -> (URDF text, YAML text).
        solver: what ``solver: auto`` takes: "analytical", "numerical" or "coupling".
        what, branches, singularities: paragraphs of its page.
        displaced: independent positions of the second drawing.
        view: azimuth and elevation of the drawings [degrees].
    """

    name: str
    title: str
    aliases: tuple[str, ...]
    type: str
    dimensions: Any
    build: Callable[..., tuple[str, str]]
    solver: str
    what: str
    branches: str
    singularities: str
    displaced: tuple[float, ...]
    view: tuple[float, float] = ABOVE

    def parameters(self) -> list[tuple[str, Any, str]]:
        """(name, default, explanation) of every dimension."""
        return [(f.name, f.default, f.metadata["text"]) for f in fields(self.dimensions)]
