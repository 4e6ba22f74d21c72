"""Messages as bytes: what rclpy reads out of them, and what it writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from closed_loop_dynamics.errors import InvalidInput
from closed_loop_dynamics.ros.conversions import answered_stamp
from closed_loop_dynamics.ros.serialized import EffortBuffer, EffortReader, JointStateBuffer

pytestmark = pytest.mark.ros
NAMES = ("hip", "knee", "ankle_pitch")


@pytest.mark.parametrize("count", [0, 1, 2, 3])
@pytest.mark.parametrize("effort", [True, False])
def test_joint_states_are_as_if_rclpy_had_serialized_them(count: int, effort: bool) -> None:
    buffer = JointStateBuffer(NAMES[:count], effort=effort)
    rng = np.random.default_rng(count)
    for stamp in (1_500_000_000, 2_000_000_001, 0):
        rows = rng.normal(size=(3, count))
        said = buffer.fill(stamp, *rows[: 2 + effort])
        message = JointState(name=list(NAMES[:count]), position=rows[0].tolist())
        message.velocity = rows[1].tolist()
        message.effort = rows[2].tolist() if effort else []
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        assert deserialize_message(said, JointState) == message


def test_efforts_that_are_not_given_stay() -> None:
    buffer = JointStateBuffer(NAMES)
    first = buffer.fill(1, np.arange(3.0), np.arange(3.0) + 3, np.arange(3.0) + 6)
    again = deserialize_message(buffer.fill(2, np.ones(3), np.zeros(3)), JointState)
    assert list(again.position) == [1.0] * 3 and list(again.effort) == [6.0, 7.0, 8.0]
    assert list(deserialize_message(first, JointState).position) == [0.0, 1.0, 2.0]


def test_efforts_carry_the_stamp_they_answer() -> None:
    def heard(said: bytes) -> tuple[int | None, list[float]]:
        message = deserialize_message(said, Float64MultiArray)
        return answered_stamp(message), list(message.data)

    buffer = EffortBuffer(2)
    assert heard(buffer.fill(np.array([1.0, 2.0]))) == (None, [1.0, 2.0])
    assert heard(buffer.fill(np.array([3.0, 4.0]), answers=123)) == (123, [3.0, 4.0])
    assert heard(buffer.fill(np.array([5.0, 6.0]), answers=4567)) == (4567, [5.0, 6.0])
    assert heard(buffer.fill(np.zeros(2))) == (4567, [0.0, 0.0])  # no answer to newer states
    assert answered_stamp(Float64MultiArray(data=[1.0])) is None


def test_efforts_are_read_from_the_bytes_of_any_sender(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, read = EffortReader(2), []

    def spying(data: bytes, kind: Any) -> Any:
        read.append(data)
        return deserialize_message(data, kind)

    monkeypatch.setattr("closed_loop_dynamics.ros.serialized.deserialize_message", spying)
    ours = EffortBuffer(2)
    rng = np.random.default_rng(0)
    for sender in (ours.fill, lambda e: serialize_message(Float64MultiArray(data=e.tolist()))):
        read.clear()
        for _ in range(5):
            efforts = rng.normal(size=2)
            np.testing.assert_array_equal(reader.read(bytes(sender(efforts))), efforts)
        assert len(read) == 1  # only the first one by rclpy


def test_bytes_that_only_align_efforts_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fast DDS leaves in them what was there before."""
    reader, read = EffortReader(2), []
    data = EffortBuffer(2).fill(np.array([1.0, 2.0]))
    reader.read(data)
    stale, sent = bytearray(data), deserialize_message(data, Float64MultiArray)
    for k in range(4, len(data) - 16):  # whatever does not change what is read may change
        stale[k] ^= 0xFF
        try:
            same = deserialize_message(bytes(stale), Float64MultiArray) == sent
        except Exception:  # a length that is too long
            same = False
        if not same:
            stale[k] ^= 0xFF
    assert stale != data
    monkeypatch.setattr("closed_loop_dynamics.ros.serialized.deserialize_message", read.append)
    np.testing.assert_array_equal(reader.read(bytes(stale)), [1.0, 2.0])
    assert not read


@pytest.mark.parametrize(
    ("data", "reason"),
    [([1.0], "1 efforts for 2"), ([1.0, np.nan], "finite"), ([1.0] * 3, "3 efforts for 2")],
)
@pytest.mark.parametrize("known", [True, False])
def test_bad_efforts_are_refused(data: list[float], reason: str, known: bool) -> None:
    reader = EffortReader(2)
    if known:
        reader.read(bytes(serialize_message(Float64MultiArray(data=[1.0, 2.0]))))
    with pytest.raises(InvalidInput, match=reason):
        reader.read(bytes(serialize_message(Float64MultiArray(data=data))))
    with pytest.raises(InvalidInput):
        reader.read(b"\0\1\0\0" + b"\xff" * 13)
    np.testing.assert_array_equal(
        reader.read(bytes(serialize_message(Float64MultiArray(data=[3.0, 4.0])))), [3.0, 4.0]
    )
