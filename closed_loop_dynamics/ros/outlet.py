"""Publishing that keeps nobody else waiting.

rclpy holds Python's interpreter lock from the first to the last line of ``publish``: where the
middleware has to wait, for a lock of a peer that was killed say, every thread of the process waits
with it. The same call of the same library, made by ctypes, gives the lock back for as long as it
takes. Only the thread that publishes waits then.
"""

from __future__ import annotations

import ctypes
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.serialization import serialize_message

RCLError = rclpy_implementation.RCLError


class SerializedMessage(ctypes.Structure):
    """rcl_serialized_message_t, which is rcutils_uint8_array_t."""

    _fields_ = (
        ("buffer", ctypes.c_char_p),
        ("buffer_length", ctypes.c_size_t),
        ("buffer_capacity", ctypes.c_size_t),
        ("allocator", ctypes.c_void_p * 5),
    )


def _library() -> Any:
    """The rcl that rclpy has loaded; None: it is not found under its name."""
    try:
        rcl = ctypes.CDLL("librcl.so")
    except OSError:
        return None
    rcl.rcl_publish_serialized_message.argtypes = [ctypes.c_void_p] * 3
    rcl.rcl_publish_serialized_message.restype = ctypes.c_int
    return rcl


RCL = _library()


class Outlet:
    """A publisher of rclpy (a lifecycle publisher is silent while its node is not active).

    Attributes:
        topic_name: resolved.
    """

    def __init__(self, publisher: Any) -> None:
        self.publisher = publisher
        self.topic_name: str = publisher.topic_name

    def publish(self, message: Any) -> None:
        """Publish a message, or its bytes; other threads go on meanwhile.

        Raises:
            RCLError: the middleware refuses.
        """
        if RCL is None:
            self.publisher.publish(message)
        elif getattr(self.publisher, "is_activated", True):
            self._publish(message if isinstance(message, bytes) else serialize_message(message))

    @property
    def heard(self) -> bool:
        """Somebody listens."""
        return bool(self.publisher.get_subscription_count())

    def _publish(self, data: bytes) -> None:
        letter = SerializedMessage(data, len(data), len(data))
        handle = self.publisher.handle
        with handle:  # it is not destroyed meanwhile
            failed = RCL.rcl_publish_serialized_message(
                handle.pointer, ctypes.addressof(letter), None
            )
        if failed:
            RCL.rcutils_reset_error()
            raise RCLError(f"failed to publish {self.topic_name}: rcl returns {failed}")
