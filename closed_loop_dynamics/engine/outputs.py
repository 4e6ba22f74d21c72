"""Named outputs of a program: which numbers of its flat result are what, and of which shape."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..arrays import Array
from .symbolic import ca

Shape = tuple[int, ...]


class Views(Mapping[str, Array]):
    """The parts of one flat vector (..., size) by name, each in its shape; nothing is copied.

    A part is cut out when it is asked for: who wants one pays for one.
    """

    __slots__ = ("_flat", "_places")

    def __init__(self, flat: Array, places: Mapping[str, tuple[int, int, Shape]]) -> None:
        self._flat, self._places = flat, places

    def __getitem__(self, name: str) -> Array:
        start, stop, shape = self._places[name]
        flat = self._flat
        part: Array = flat[start:stop] if flat.ndim == 1 else flat[..., start:stop]
        if len(shape) == 1:
            return part
        result: Array = part.reshape((*flat.shape[:-1], *shape))[()]  # [()]: a number has no axes
        return result

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return repr(dict(self))


class Outputs:
    """Arrays of declared shapes behind each other in one flat vector, each row by row.

    Attributes:
        shapes: name -> shape, in order; () is a number.
        size: length of the flat vector.
    """

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self.shapes = dict(shapes)
        self.size = 0
        self._places: dict[str, tuple[int, int, Shape]] = {}
        for name, shape in self.shapes.items():
            start, self.size = self.size, self.size + math.prod(shape)
            self._places[name] = start, self.size, shape
        self._only = next(iter(self.shapes.values())) if len(self.shapes) == 1 else None

    def pack(self, traced: Mapping[str, Any]) -> list[Any]:
        """The flat vector, in parts: SX matrices whose rows are those of the declared arrays.

        Raises:
            ValueError: names or sizes are not those declared.
        """
        found = {name: value.numel() for name, value in traced.items()}
        declared = {name: math.prod(shape) for name, shape in self.shapes.items()}
        if found != declared:
            raise ValueError(f"outputs {found} traced, {declared} declared")
        return [ca.densify(ca.vec(traced[name].T)) for name in self.shapes]

    def views(self, flat: Array) -> Views:
        """``flat`` (..., size) by name."""
        return Views(flat, self._places)

    def parts(self, flat: Array) -> list[Array]:
        """``flat`` (..., size) cut up, in order, each part in its shape."""
        leading = flat.shape[:-1]
        return [
            flat[..., start:stop].reshape(leading + shape)
            for start, stop, shape in self._places.values()
        ]

    def only(self, flat: Array) -> Array:
        """``flat`` (..., size) in the shape of the one output there is."""
        shape = self._only
        if shape is None:
            raise ValueError(f"several outputs: {', '.join(self.shapes)}")
        return flat if len(shape) == 1 else flat.reshape((*flat.shape[:-1], *shape))
