"""JointStates read from their bytes, without the message in between.

Messages of one sender differ in their stamp and their numbers; names and sizes stay. To make Python
objects of all that takes longer than the dynamics of the robot. So the first message of its kind is
read as usual, and where its numbers are among the bytes is remembered for the next ones: for as
long as everything else is the same, to the byte. Others are read as usual, too. Bytes that only
align others do not count: nobody sets them.
"""

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
from .conversions import JointStateReader, Measurement

#: Bytes before the names: the header of a serialized message, and the stamp.
HEADER, STAMP = 4, 8
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
        mask: all bits of the bytes that are the same in all of these messages, as one integer.
        same: those bytes.
        at: (3, k) places of the wanted numbers, counted from the first.
    """

    size: int
    first: int
    mask: int
    same: int
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
        mask = bytearray(size)
        for begin, end in (*_words(data, len(message.name)), *((at, at + 4) for at in counts)):
            mask[begin:end] = b"\xff" * (end - begin)
        bits, at = _number(mask), order + (count + 1) * np.arange(3)[:, None]
        found = Layout(size, first, bits, bits & _number(data), at)
        fields = (message.position, message.velocity, message.effort)
        read = np.array([np.array(field, dtype=float)[order] for field in fields])
        return found if np.array_equal(found.table(data), read, equal_nan=True) else None

    def fits(self, data: bytes) -> bool:
        """A message differs in its stamp and its numbers only."""
        return len(data) == self.size and _number(data) & self.mask == self.same

    def table(self, data: bytes) -> Array:
        """(3, k) positions, velocities and efforts."""
        return np.frombuffer(data, offset=self.first)[self.at]


def _words(data: bytes, names: int) -> Iterator[tuple[int, int]]:
    """(begin, end) of the header, the frame's name, the joints' names and the first count."""
    yield 0, HEADER
    at = HEADER + STAMP
    for k in range(1 + names):
        if k == 1:  # how many names there are
            yield at, at + 4
            at += 4
        end = at + 4 + struct.unpack_from("<I", data, at)[0]
        yield at, end
        at = end + (HEADER - end) % 4
    yield at, at + 4


def _number(data: bytes | bytearray) -> int:
    return int.from_bytes(data, "little")
