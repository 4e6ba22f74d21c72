"""What programs are made of, and the conversion of what users pass to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from .emitter import MAX_ANGLE

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SolverUse:
    """Solver number ``solver`` of the unit, its parameters at these places of the user inputs."""

    solver: int
    parameters: tuple[int, ...]


@dataclass(frozen=True)
class ProgramSource:
    """What a program is made of.

    Attributes:
        name: for messages and the cache.
        input_names, input_sizes: the user's vectors.
        output_size: length of the user's output block.
        build: traces the body (only called when nothing usable is cached).
        on_failure: called with the index of a failed check (or -1 - k for the k-th solver, when
            even the rescue's solution was refused) and the inputs; gives the outputs by other
            means, or the exception to raise.
        solvers: the Newton loops that run before the body.
    """

    name: str
    input_names: tuple[str, ...]
    input_sizes: tuple[int, ...]
    output_size: int
    build: Callable[[], Any]
    on_failure: Callable[[int, tuple[Array, ...]], Exception | Array]
    solvers: tuple[SolverUse, ...] = ()


class Rescue(Protocol):
    """Finds the unknowns of the program's ``k``-th solver when the short way failed, or raises.

    ``p`` are its parameters, ``first`` is the program's first input vector.
    """

    def __call__(self, k: int, p: Array, first: Array, /) -> Array: ...


def as_finite_vectors(value: Any, name: str, size: int) -> Array:
    """Like :func:`as_vectors`, for code that does not check its inputs natively."""
    array = as_vectors(value, name, size)
    if not np.all(np.abs(array) <= MAX_ANGLE):
        raise InvalidInput(f"{name} is not finite or beyond {MAX_ANGLE:g}")
    return array


def as_finite_numbers(value: Any, name: str, size: int) -> Array:
    """Like :func:`as_finite_vectors`, for what may be of any size: stiffness, weights."""
    array = as_vectors(value, name, size)
    if not np.all(np.isfinite(array)):
        raise InvalidInput(f"{name} is not finite")
    return array


def as_vectors(value: Any, name: str, size: int) -> Array:
    """``value`` as floats of shape (size,) or (N, size); InvalidInput otherwise."""
    if np.ma.is_masked(value):
        raise InvalidInput(f"{name} has masked entries; fill them in or leave the sample out")
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"of type {array.dtype}")
        array = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} is not a vector of real numbers ({error})") from None
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise InvalidInput(
            f"{name} has shape {np.shape(value)}; expected ({size},) or (N, {size}) for a batch"
        )
    return array


def as_count(value: Any, name: str, least: int) -> int:
    """``value`` as a whole number of at least ``least``; InvalidInput otherwise."""
    if not isinstance(value, (int, np.integer)) or value < least:
        raise InvalidInput(f"{name} must be a whole number of at least {least}: {value!r}")
    return int(value)


def as_rows(what: str, arrays: Sequence[Array]) -> list[Array] | None:
    """All arrays with as many rows as those of them that are batches; None when none is.

    Raises:
        InvalidInput: batches of different length, in the call named ``what``.
    """
    counts = {len(a) for a in arrays if a.ndim == 2}
    if len(counts) > 1:
        raise InvalidInput(f"{what}: batches of different length {sorted(counts)}")
    for count in counts:
        return [np.broadcast_to(a, (count, a.shape[-1])) for a in arrays]
    return None
