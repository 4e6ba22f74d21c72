"""ROS 2 bags (MCAP, SQLite) as tables and back, through the package ``rosbags``; no ROS needed.

Read are ``trajectory_msgs/JointTrajectory`` and ``sensor_msgs/JointState``; both become a
:class:`Table` with the columns of a CSV file.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import did_you_mean
from .arguments import STANDARD, Arguments, InputFile
from .mistakes import FileProblem, UsageError, need, no_file
from .output import is_bag, take_place, target, tell, write
from .tables import (
    ACCELERATION,
    EFFORT,
    KINDS,
    POSITION,
    REMARK,
    TIME,
    VELOCITY,
    Table,
    column,
    meaning,
    read_csv,
)

NANO = 1_000_000_000
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
STATES = "sensor_msgs/msg/JointState"
_ACCEPTED = (TRAJECTORY, STATES)
_FIELDS = {
    TRAJECTORY: {
        POSITION: "positions",
        VELOCITY: "velocities",
        ACCELERATION: "accelerations",
        EFFORT: "effort",
    },
    STATES: {POSITION: "position", VELOCITY: "velocity", EFFORT: "effort"},
}


@dataclass(frozen=True, eq=False)
class Recording:
    """One topic of a bag.

    Attributes:
        message_type: TRAJECTORY or STATES.
    """

    table: Table
    topic: str
    message_type: str


def _store() -> Any:
    typesys = need("rosbags.typesys", "reading and writing bags")
    return typesys.get_typestore(typesys.Stores.ROS2_JAZZY)


# -- reading --------------------------------------------------------------------------------------


def add_input_arguments(parser: Arguments, *, required: bool) -> None:
    """``--input`` and ``--topic``."""
    parser.add_argument(
        "-i",
        "--input",
        type=InputFile,
        required=required,
        metavar="FILE",
        help="CSV or bag; - reads CSV from a pipe",
    )
    parser.add_argument("--topic", help="of a bag; default: the only one with joints")


def read_recording(path: str, topic: str | None) -> Recording:
    """A CSV file or a topic of a bag."""
    if is_bag(path):
        return read_bag(path, topic)
    if topic is not None:
        raise UsageError(f"--topic is for bags; '{path}' is none")
    return Recording(read_csv(path), "", STATES)


def read_bag(path: str, topic: str | None = None) -> Recording:
    """The joints of one topic.

    Args:
        topic: which one; None takes the only one with joints.

    Raises:
        FileProblem: unreadable, no such topic, or messages that do not fit together.
    """
    if not Path(path).expanduser().exists():
        raise no_file(Path(path))
    reader_type = need("rosbags.rosbag2", "reading bags").Reader
    errors = need("rosbags.rosbag2.errors", "reading bags").ReaderError
    store = _store()
    try:
        with reader_type(Path(path).expanduser()) as reader:
            chosen = _topic(path, reader.topics, topic)
            kind = reader.topics[chosen].msgtype
            connections = [c for c in reader.connections if c.topic == chosen]
            messages = [
                (stamp, store.deserialize_cdr(data, kind))
                for _, stamp, data in reader.messages(connections=connections)
            ]
    except (errors, FileNotFoundError, AssertionError, ValueError, KeyError) as error:
        raise FileProblem(f"{path}: not a readable bag ({error})") from None
    if not messages:
        raise FileProblem(f"{path}: the topic {chosen} has no messages")
    source = f"{path} {chosen}"
    read = _from_trajectory if kind == TRAJECTORY else _from_states
    return Recording(read(source, messages), chosen, kind)


def _topic(path: str, topics: Any, wanted: str | None) -> str:
    usable = [name for name, info in topics.items() if info.msgtype in _ACCEPTED]
    if wanted is not None:
        name = wanted if wanted.startswith("/") or wanted in topics else f"/{wanted}"
        if name not in topics:
            raise FileProblem(f"{path}: no topic '{wanted}'; {did_you_mean(name, topics)}")
        if name not in usable:
            raise FileProblem(
                f"{path}: the topic {name} holds {topics[name].msgtype}; needed is one of "
                f"{', '.join(_ACCEPTED)}"
            )
        return name
    if len(usable) != 1:
        listed = ", ".join(f"{name} ({topics[name].msgtype})" for name in usable or topics)
        problem = "several topics have" if usable else "no topic has"
        remedy = "choose one with --topic" if usable else f"needed is one of {', '.join(_ACCEPTED)}"
        raise FileProblem(f"{path}: {problem} joints: {listed or 'it is empty'}; {remedy}")
    return str(usable[0])


def _from_trajectory(source: str, messages: list[tuple[int, Any]]) -> Table:
    if len(messages) > 1:
        raise FileProblem(
            f"{source}: {len(messages)} trajectories in one topic; keep one (ros2 bag convert)"
        )
    message = messages[0][1]
    if not message.points:
        raise FileProblem(f"{source}: the trajectory has no points")
    times = np.array([_nanoseconds(point.time_from_start) / NANO for point in message.points])
    blocks = _blocks(source, message.joint_names, message.points, _FIELDS[TRAJECTORY], "point")
    return _table(source, times, blocks, _nanoseconds(message.header.stamp))


def _from_states(source: str, messages: list[tuple[int, Any]]) -> Table:
    names = list(messages[0][1].name)
    for k, (_, message) in enumerate(messages):
        if list(message.name) != names:
            raise FileProblem(
                f"{source}: message {k + 1} names other joints than the first one; record the "
                "publishers on topics of their own"
            )
    stamps = [_nanoseconds(message.header.stamp) or received for received, message in messages]
    times = np.array([(stamp - stamps[0]) / NANO for stamp in stamps])
    blocks = _blocks(source, names, [m for _, m in messages], _FIELDS[STATES], "message")
    return _table(source, times, (_given(*block) for block in blocks), stamps[0])


def _given(names: list[str], values: Array) -> tuple[list[str], Array]:
    """Without columns of NaN: so joint_state_broadcaster says that it has no such interface."""
    empty = np.asarray(np.isnan(values).all(axis=0))
    given = [k for k, name in enumerate(names) if meaning(name)[1] == POSITION or not empty[k]]
    return [names[k] for k in given], values[:, given]


def _blocks(
    source: str, names: Sequence[str], rows: Sequence[Any], fields: dict[str, str], what: str
) -> Iterator[tuple[list[str], Array]]:
    """Columns of every kind that the messages fill in; all rows must fill in the same ones."""
    for kind, field in fields.items():
        values = [np.asarray(getattr(row, field), dtype=float) for row in rows]
        if not any(map(len, values)):
            continue
        for k, value in enumerate(values):
            if len(value) != len(names):
                raise FileProblem(
                    f"{source}: {what} {k + 1} has {len(value)} {field} for {len(names)} joints"
                )
        yield [column(name, kind) for name in names], np.array(values)


def _table(source: str, times: Array, blocks: Any, start: int) -> Table:
    columns, values = [TIME], [times[:, None]]
    for names, numbers in blocks:
        columns += names
        values.append(numbers)
    if len(set(columns)) < len(columns):
        raise FileProblem(f"{source}: a joint is named twice")
    return Table(tuple(columns), np.hstack(values), source, start=start)


def _nanoseconds(stamp: Any) -> int:
    return int(stamp.sec) * NANO + int(stamp.nanosec)


def ros_topic(name: str) -> str:
    """A full topic name, or UsageError."""
    if not re.fullmatch(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", name):
        raise UsageError(f"'{name}' is no topic name; write it like /arm/actuator_command")
    return f"/{name.lstrip('/')}"


# -- writing --------------------------------------------------------------------------------------


def write_bag(output: str, recording: Recording) -> None:
    """Write a topic: ``x.mcap`` becomes one file, a name without suffix a rosbag2 folder."""
    rosbag2 = need("rosbags.rosbag2", "writing bags")
    path = target(output)
    store, kind = _store(), recording.message_type
    make = _trajectory_messages if kind == TRAJECTORY else _state_messages
    messages = make(store.types, recording.table)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        bag = Path(folder) / (path.stem or "bag")
        plugin = rosbag2.StoragePlugin.MCAP
        with rosbag2.Writer(bag, version=9, storage_plugin=plugin) as writer:
            connection = writer.add_connection(recording.topic, kind, typestore=store)
            for stamp, message in messages:
                writer.write(connection, stamp, store.serialize_cdr(message, kind))
        if path.suffix:
            (file,) = bag.glob("*.mcap")
            take_place(file, path)
        else:
            shutil.move(bag, path)


def write_result(options: argparse.Namespace, table: Table, topic: str, message_type: str) -> None:
    """Write many rows where and as the command line says: as messages if that is a bag."""
    if options.output != STANDARD and is_bag(options.output):
        write_bag(options.output, Recording(table, topic, message_type))
        tell(options.output, table)
    else:
        write(table, options.output, options.format, single=False)


def _joints(table: Table) -> list[str]:
    found = map(meaning, table.columns)
    return list(dict.fromkeys(joint for joint, kind in found if kind != REMARK))


def _by_kind(table: Table, joints: list[str]) -> dict[str, Array]:
    """Kind -> (N, joints); joints without such a column have 0 efforts, others NaN."""
    at = {meaning(name): k for k, name in enumerate(table.columns)}
    found = {}
    for kind in {kind for _, kind in at}.intersection(KINDS):
        found[kind] = np.full((len(table.values), len(joints)), 0.0 if kind == EFFORT else np.nan)
        for i, joint in enumerate(joints):
            if (joint, kind) in at:
                found[kind][:, i] = table.values[:, at[joint, kind]]
    return found


def _header(types: Any, stamp: int) -> Any:
    time = types["builtin_interfaces/msg/Time"](sec=stamp // NANO, nanosec=stamp % NANO)
    return types["std_msgs/msg/Header"](stamp=time, frame_id="")


def _state_messages(types: Any, table: Table) -> Iterator[tuple[int, Any]]:
    joints = _joints(table)
    for time, values in _rows(table, joints, STATES):
        stamp = table.start + round(float(time) * NANO)
        yield stamp, types[STATES](header=_header(types, stamp), name=joints, **values)


def _trajectory_messages(types: Any, table: Table) -> Iterator[tuple[int, Any]]:
    joints = _joints(table)
    point_type = types["trajectory_msgs/msg/JointTrajectoryPoint"]
    duration_type = types["builtin_interfaces/msg/Duration"]
    points = []
    for time, values in _rows(table, joints, TRAJECTORY):
        sec, nanosec = divmod(round(float(time) * NANO), NANO)
        points.append(point_type(time_from_start=duration_type(sec=sec, nanosec=nanosec), **values))
    header = _header(types, table.start)
    yield table.start, types[TRAJECTORY](header=header, joint_names=joints, points=points)


def _rows(
    table: Table, joints: list[str], message_type: str
) -> Iterator[tuple[float, dict[str, Array]]]:
    """Time and field -> numbers; fields that the table has no columns for stay empty."""
    kinds, fields, empty = _by_kind(table, joints), _FIELDS[message_type], np.zeros(0)
    for k, time in enumerate(table.values[:, table.columns.index(TIME)]):
        yield time, {f: kinds[kind][k] if kind in kinds else empty for kind, f in fields.items()}
