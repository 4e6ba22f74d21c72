"""Serialized messages that are the same but for their numbers: they are read where those are.

A sender's messages differ in a stamp and in numbers; names and sizes stay. To make Python objects
of all that takes longer than the dynamics of the robot. So the first message of its kind is read as
usual, and whatever is like it to the byte has its numbers in the same places. Bytes that only
align others do not count: nobody sets them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

#: Bytes before the first field of a serialized message, from which others are aligned.
HEADER = 4

#: (begin, end) of some bytes.
Span = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Alike:
    """What is the same in all of these messages.

    Attributes:
        mask: all bits of the bytes that count, as one integer.
        same: those bytes.
    """

    size: int
    mask: int
    same: int

    @staticmethod
    def to(data: bytes, spans: Iterable[Span]) -> Alike:
        """Messages that have the same bytes there, and as many."""
        mask = bytearray(len(data))
        for begin, end in spans:
            mask[begin:end] = b"\xff" * (end - begin)
        bits = _number(mask)
        return Alike(len(data), bits, bits & _number(data))

    def fits(self, data: bytes) -> bool:
        """It is one of them."""
        return len(data) == self.size and _number(data) & self.mask == self.same


def text(data: bytes, at: int) -> tuple[Span, int]:
    """A string, its length included, and where the next field of four bytes begins."""
    end = at + 4 + struct.unpack_from("<I", data, at)[0]
    return (at, end), end + (HEADER - end) % 4


def _number(data: bytes | bytearray) -> int:
    return int.from_bytes(data, "little")
