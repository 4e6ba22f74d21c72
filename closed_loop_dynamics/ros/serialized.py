"""What is said and heard at control rate, as bytes: from one to the next only numbers change.

To have rclpy make bytes of a message, or a message of bytes, takes longer than to compute what it
says. So a message is serialized once, and its numbers are written into the bytes from then on; what
is heard is read from its bytes likewise (see ``alike``).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from ..arrays import Array
from ..errors import InvalidInput
from ..motion.clock_steps import NANO
from .alike import HEADER, Alike, Span, text
from .conversions import efforts_from

STAMP = struct.Struct("=iI")


class JointStateBuffer:
    """A JointState, filled again and again.

    Attributes:
        position, velocity, effort: views of the numbers among the bytes; write into them.
    """

    def __init__(self, names: Sequence[str], *, effort: bool = True) -> None:
        rows = 1.0 + np.arange(3.0 * len(names)).reshape(3, len(names))
        message = JointState(name=list(names), position=rows[0].tolist(), velocity=rows[1].tolist())
        message.effort = rows[2].tolist() if effort else []
        self._bytes = bytearray(serialize_message(message))
        self.position, self.velocity = (_numbers_among(self._bytes, row) for row in rows[:2])
        self.effort = _numbers_among(self._bytes, rows[2]) if effort else np.zeros(0)

    def fill(
        self, nanosec: int, position: Array, velocity: Array, effort: Array | None = None
    ) -> bytes:
        """Write stamp and numbers; returns the serialized message."""
        STAMP.pack_into(self._bytes, HEADER, *divmod(nanosec, NANO))
        self.position[:] = position
        self.velocity[:] = velocity
        if effort is not None:
            self.effort[:] = effort
        return bytes(self._bytes)


def _numbers_among(data: bytearray, numbers: Array) -> Array:
    """A view of the place where these numbers are; zero from now on."""
    view: Array = np.frombuffer(data, count=len(numbers), offset=data.index(numbers.tobytes()))
    view[:] = 0.0
    return view


class EffortBuffer:
    """A Float64MultiArray of efforts, filled again and again.

    The label of its one dimension can carry the stamp of the state that the efforts answer; in
    lockstep this is how the simulator tells an answer from an echo (see ``simulator``). Labels
    differ in length, so these are serialized anew.
    """

    def __init__(self, count: int) -> None:
        marks = 1.0 + np.arange(float(count))
        self._dimension = MultiArrayDimension(label="actuators", size=count, stride=count)
        self._message = Float64MultiArray(data=marks.tolist())
        self._message.layout.dim = [self._dimension]
        self._bytes = bytearray(serialize_message(self._message))
        self._numbers = _numbers_among(self._bytes, marks)
        self._answering = False

    def fill(self, efforts: Array, answers: int | None = None) -> bytes:
        """Write efforts and, optionally, the stamp [ns] they answer; the serialized message."""
        if answers is not None:
            self._dimension.label, self._answering = str(answers), True
        if self._answering:
            self._message.data = efforts.tolist()
            return bytes(serialize_message(self._message))
        self._numbers[:] = efforts
        return bytes(self._bytes)


class EffortReader:
    """Reads effort commands from serialized messages."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._known: Alike | None = None

    def read(self, data: bytes) -> Array:
        """The efforts, (count,).

        Raises:
            InvalidInput: wrong length, not finite, or no message at all.
        """
        at = len(data) - 8 * self._count
        if self._known is not None and self._known.fits(data):
            numbers: Array = np.frombuffer(data, offset=at)
            if np.isfinite(numbers).all():
                return numbers
        try:
            message = deserialize_message(data, Float64MultiArray)
        except Exception as error:
            raise InvalidInput(f"not readable: {error}") from error
        efforts = efforts_from(message, self._count)
        if data[1] & 1 and data[at:] == efforts.tobytes():
            self._known = Alike.to(data, _words(data, len(message.layout.dim)))
        return efforts


def _words(data: bytes, dimensions: int) -> Iterator[Span]:
    """Everything but the numbers: the header, the dimensions, their offset, how many numbers."""
    at = HEADER + 4
    yield 0, at
    for _ in range(dimensions):
        word, at = text(data, at)
        yield word
        yield at, at + 8
        at += 8
    yield at, at + 8
