"""JointStates read from their bytes, without the message in between (see ``alike``)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from ..arrays import Array
from ..motion.clock_steps import NANO
from .alike import HEADER, Alike, Span, text
from .conversions import JointStateReader, Measurement

#: Bytes of the stamp, which comes first.
STAMP = 8
#: Between two fields: the number of numbers, and what aligns them.
GAP = 8


def stamp_of(data: bytes) -> int:
    """Stamp of a serialized message with a header [ns]."""
    order = "<" if data[1] & 1 else ">"
    seconds, rest = struct.unpack_from(f"{order}iI", data, HEADER)
    return int(seconds) * NANO + int(rest)


class RawJointStateReader:
    """Reads the joints of a :class:`JointStateReader` from serialized messages."""

    def __init__(self, reader: JointStateReader) -> None:
        self._reader = reader
        self._known: Layout | None = None

    def read(self, data: bytes) -> Measurement:
        """The wanted joints.

        Raises:
            InvalidInput: see :meth:`JointStateReader.read`.
        """
        known = self._known
        if known is not None and known.fits(data):
            table = known.table(data)
            if np.isfinite(table).all():
                return Measurement(*table)
        message: Any = deserialize_message(data, JointState)
        seen = self._reader.read(message)
        self._known = Layout.of(data, message, self._reader.order)
        return seen


@dataclass(frozen=True, eq=False)
class Layout:
    """Of messages that have positions, velocities and efforts.

    Attributes:
        first: byte of the first number; all that follows is as long as numbers are.
        at: (3, k) places of the wanted numbers, counted from the first.
    """

    alike: Alike
    first: int
    at: NDArray[np.intp]

    @staticmethod
    def of(data: bytes, message: Any, order: NDArray[np.intp]) -> Layout | None:
        """The layout of a message that was read; None: it has not all three, or not there."""
        if not data[1] & 1:
            return None  # numbers the other way round
        count, size = len(message.position), len(data)
        first = size - 24 * count - 2 * GAP
        if not count or not (len(message.velocity) == len(message.effort) == count) or first < 0:
            return None
        counts = [first + k * (8 * count + GAP) - GAP for k in (1, 2)]
        spans = (*_words(data, len(message.name)), *((at, at + 4) for at in counts))
        at = order + (count + 1) * np.arange(3)[:, None]
        found = Layout(Alike.to(data, spans), first, at)
        fields = (message.position, message.velocity, message.effort)
        read = np.array([np.array(field, dtype=float)[order] for field in fields])
        return found if np.array_equal(found.table(data), read, equal_nan=True) else None

    def fits(self, data: bytes) -> bool:
        """A message differs in its stamp and its numbers only."""
        return self.alike.fits(data)

    def table(self, data: bytes) -> Array:
        """(3, k) positions, velocities and efforts."""
        return np.frombuffer(data, offset=self.first)[self.at]


def _words(data: bytes, names: int) -> Iterator[Span]:
    """The header, the frame's name, the joints' names and the first count."""
    yield 0, HEADER
    at = HEADER + STAMP
    for k in range(1 + names):
        if k == 1:  # how many names there are
            yield at, at + 4
            at += 4
        word, at = text(data, at)
        yield word
    yield at, at + 4
