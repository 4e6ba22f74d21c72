"""Named outputs of a program: which numbers of its flat result are what, and of which shape."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from ..arrays import Array
from .symbolic import ca

Shape = tuple[int, ...]


class Outputs:
    """Arrays of declared shapes behind each other in one flat vector, each row by row.

    Attributes:
        shapes: name -> shape, in order; () is a number.
        size: length of the flat vector.
    """

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self.shapes = dict(shapes)
        ends = itertools.accumulate(map(math.prod, self.shapes.values()), initial=0)
        places = itertools.pairwise(ends)
        self._places = [
            (name, start, stop, shape)
            for (name, shape), (start, stop) in zip(self.shapes.items(), places, strict=True)
        ]
        self.size = sum(map(math.prod, self.shapes.values()))
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

    def views(self, flat: Array) -> dict[str, Array]:
        """Name -> its part of ``flat`` (..., size) in its shape; nothing is copied."""
        leading, views = flat.shape[:-1], {}
        for name, start, stop, shape in self._places:
            part = flat[..., start:stop] if leading else flat[start:stop]
            # [()] makes a number of an array without axes.
            views[name] = part if len(shape) == 1 else part.reshape((*leading, *shape))[()]
        return views

    def only(self, flat: Array) -> Array:
        """``flat`` (..., size) in the shape of the one output there is."""
        shape = self._only
        if shape is None:
            raise ValueError(f"several outputs: {', '.join(self.shapes)}")
        return flat if len(shape) == 1 else flat.reshape((*flat.shape[:-1], *shape))
