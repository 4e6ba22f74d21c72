"""Arrays as the package passes them about, and the conversion of what users pass in.

Samples are (size,), batches (N, size); everything is float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InvalidInput, did_you_mean

Array = NDArray[np.float64]
#: A vector (size,) as users pass it in, or a batch (N, size) of them; or numbers by name: columns.
Vec = ArrayLike | Mapping[str, ArrayLike]
#: Positions that select the assembly mode, or None for that of the reference configurations.
Guess = Vec | None
#: Link -> (6,) [moment; force] at its origin, in its frame.
Wrenches = Mapping[str, Vec] | None

#: Larger numbers are refused: the sine and cosine of the native code are exact up to here.
MAX_ANGLE = 1.0e8


class Length(int):
    """Length of a vector whose numbers have names, so that they may be given by name."""

    names: tuple[str, ...]

    @staticmethod
    def of(names: Sequence[str]) -> Length:
        """As many as there are names."""
        length = Length(len(names))
        length.names = tuple(names)
        return length


def as_finite_vectors(value: Any, name: str, size: int) -> Array:
    """Like :func:`as_vectors`, for code that does not check its inputs natively."""
    array = as_vectors(value, name, size)
    if not np.all(np.abs(array) <= MAX_ANGLE):
        raise InvalidInput(f"{name} is not finite or beyond {MAX_ANGLE:g}")
    return array


def as_one_vector(value: Any, name: str, size: int) -> Array:
    """Like :func:`as_finite_vectors`, for what is not computed for a batch."""
    vector = as_finite_vectors(value, name, size)
    if vector.ndim != 1:
        raise InvalidInput(f"{name} has shape {vector.shape}; one configuration at a time, please")
    return vector


def as_finite_numbers(value: Any, name: str, size: int) -> Array:
    """Like :func:`as_finite_vectors`, for what may be of any size: stiffness, weights."""
    array = as_vectors(value, name, size)
    if not np.all(np.isfinite(array)):
        raise InvalidInput(f"{name} is not finite")
    return array


def as_vectors(value: Any, name: str, size: int) -> Array:
    """``value`` as floats of shape (size,) or (N, size); InvalidInput otherwise.

    Of numbers by name all that ``size`` names are needed; a table may hold more.
    """
    if hasattr(value, "keys"):
        value = _by_name(value, name, getattr(size, "names", ()))
    if hasattr(value, "mask") and np.ma.is_masked(value):  # numpy.ma is imported if need be
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


def _by_name(table: Any, name: str, names: Sequence[str]) -> Any:
    """(len(names),), or (N, len(names)) when a column is (N,); pandas looks like a mapping."""
    known = [str(key) for key in table.keys()]  # noqa: SIM118  # a Series iterates over its values
    for each in names:
        if each not in known:
            raise InvalidInput(f"{name} lacks '{each}'; {did_you_mean(each, known)}")
    try:
        columns = np.broadcast_arrays(*(np.asarray(table[each]) for each in names))
    except ValueError:
        raise InvalidInput(f"{name}: columns of different length") from None
    return np.stack(columns, axis=-1) if names else table


def as_count(value: Any, name: str, least: int) -> int:
    """``value`` as a whole number of at least ``least``; InvalidInput otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
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
        return [a if a.ndim == 2 else np.broadcast_to(a, (count, len(a))) for a in arrays]
    return None


def row_by_row(
    what: str, compute: Callable[..., Array], arrays: Sequence[Array], size: int
) -> Array:
    """``compute(*arrays)`` (size,) of one sample, or (N, size) as :func:`as_rows` has them."""
    rows = as_rows(what, arrays)
    if rows is None:
        return compute(*arrays)
    found = [compute(*sample) for sample in zip(*rows, strict=True)]
    return np.array(found).reshape(len(rows[0]), size)
