"""Messages that are read from their bytes say what they say otherwise."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from closed_loop_dynamics.errors import InvalidInput
from closed_loop_dynamics.ros.conversions import JointStateReader, Measurement
from closed_loop_dynamics.ros.raw_joint_states import Layout, RawJointStateReader

pytestmark = pytest.mark.ros

WANTED = ("b", "a")
NAN = float("nan")


def message(names: tuple[str, ...], frame: str = "", **fields: list[float]) -> JointState:
    found = JointState(name=list(names), **fields)
    found.header.frame_id = frame
    return found


def expect_same(seen: Measurement, wanted: Measurement) -> None:
    for field in ("position", "velocity", "effort"):
        a, b = getattr(seen, field), getattr(wanted, field)
        assert (a is None) == (b is None)
        if b is not None:
            np.testing.assert_array_equal(a, b)


def test_whatever_comes_in_whatever_order_is_read_as_usual() -> None:
    """Names of all lengths, frames, orders, fields that are missing; each twice, and mixed."""
    raw, rng = RawJointStateReader(JointStateReader(WANTED)), np.random.default_rng(0)
    kinds = [
        (names, frame, fields)
        for names in (("a", "b"), ("b", "a"), ("gripper", "a", "b"), ("a", "joint_of_a_hand", "b"))
        for frame in ("", "base", "base_link")
        for fields in (3, 2, 1)
    ]
    for k in [*rng.integers(0, len(kinds), 300), *np.repeat(np.arange(len(kinds)), 3)]:
        names, frame, fields = kinds[k]
        numbers = rng.normal(size=(fields, len(names))).tolist()
        given = ("position", "velocity", "effort")[:fields]
        sent = message(names, frame, **dict(zip(given, numbers, strict=True)))
        sent.header.stamp.sec, sent.header.stamp.nanosec = rng.integers(0, 10**9, 2).tolist()
        expect_same(raw.read(serialize_message(sent)), JointStateReader(WANTED).read(sent))


def test_the_quick_way_is_taken_and_only_where_nothing_else_has_changed() -> None:
    sent = message(("a", "b"), position=[1.0, 2.0], velocity=[3.0, 4.0], effort=[5.0, 6.0])
    data = serialize_message(sent)
    layout = Layout.of(data, sent, np.array([1, 0]))
    assert layout is not None
    np.testing.assert_array_equal(layout.table(data), [[2.0, 1.0], [4.0, 3.0], [6.0, 5.0]])
    sent.position = [7.0, 8.0]
    sent.header.stamp.sec = 77
    assert layout.fits(serialize_message(sent))
    sent.name = ["a", "c"]
    assert not layout.fits(serialize_message(sent))
    sent.name, sent.header.frame_id = ["a", "b"], "x"
    assert not layout.fits(serialize_message(sent))


def test_bytes_that_only_align_others_do_not_count() -> None:
    """Fast DDS leaves in them what was there before."""
    fields = {"position": [1.0, 2.0], "velocity": [3.0, 4.0], "effort": [5.0, 6.0]}
    sent = message(("a", "joint_b"), "base", **fields)
    data = serialize_message(sent)
    layout = Layout.of(data, sent, np.array([1, 0]))
    assert layout is not None
    stale = bytearray(data)
    for k in range(4, len(data)):  # whatever does not change what is read may change
        stale[k] ^= 0xFF
        try:
            read = deserialize_message(bytes(stale), JointState)
        except Exception:  # a length that is too long
            read = None
        if read != sent:
            stale[k] ^= 0xFF
    assert stale != data and layout.fits(bytes(stale))


@pytest.mark.parametrize("bad", [NAN, float("inf")])
def test_numbers_that_are_not_finite_are_refused_as_usual(bad: float) -> None:
    raw = RawJointStateReader(JointStateReader(WANTED))
    good = {"position": [1.0, 2.0], "velocity": [3.0, 4.0], "effort": [5.0, 6.0]}
    raw.read(serialize_message(message(("a", "b"), **good)))
    with pytest.raises(InvalidInput, match="a velocity is not finite"):
        raw.read(serialize_message(message(("a", "b"), **{**good, "velocity": [0.0, bad]})))
    nothing = raw.read(serialize_message(message(("a", "b"), **{**good, "effort": [NAN, NAN]})))
    assert nothing.effort is None
