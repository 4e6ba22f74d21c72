"""``map``: trajectories to actuators, CSV and bags."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.rh5 import FILES, kinds

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.bags import (
    STATES,
    TRAJECTORY,
    Recording,
    read_bag,
    read_recording,
    write_bag,
)
from closed_loop_dynamics.cli.tables import Table, column, read_csv
from closed_loop_dynamics.motion.trajectory import Points, Spline

KINDS = ("position", "velocity", "acceleration", "effort")


def needs_rosbags() -> None:
    pytest.importorskip("rosbags", reason="rosbags is not installed (extra `bags`)")


def expected(robot: cld.Robot, table: np.ndarray) -> dict[str, np.ndarray]:
    y, yd, ydd = table[:, 1:4], table[:, 4:7], table[:, 7:10]
    state = robot.state(y, yd, ydd)
    tau = robot.inverse_dynamics(y, yd, ydd)
    return dict(zip(KINDS, (state.u, state.ud, state.udd, tau), strict=True))


def assert_equals(table: Table, robot: cld.Robot, wanted: dict[str, np.ndarray]) -> None:
    for kind, values in wanted.items():
        found = table.get(robot.names.actuator, kind)
        assert found is not None
        np.testing.assert_allclose(found, values, rtol=1e-12, atol=1e-12)


def test_csv_is_mapped_as_the_api_does(run, leg: cld.Robot, squat, tmp_path: Path) -> None:
    path, table = squat
    out = tmp_path / "actuators.csv"
    outcome = run("map", "crank_leg", "-i", path, "-o", out)
    assert outcome.status == 0 and outcome.err == ""
    mapped = read_csv(str(out))
    assert_equals(mapped, leg, expected(leg, table))
    np.testing.assert_array_equal(mapped.times, table[:, 0])


def test_mapped_positions_lead_back_to_the_trajectory(run, leg: cld.Robot, squat, tmp_path) -> None:
    path, table = squat
    out = tmp_path / "actuators.csv"
    run("map", "crank_leg", "-i", path, "-o", out)
    u = read_csv(str(out)).need(leg.names.actuator, "position")
    np.testing.assert_allclose(leg.independent_from_actuator(u), table[:, 1:4], atol=1e-9)


def test_written_numbers_are_read_bit_by_bit(run, leg: cld.Robot, squat, tmp_path: Path) -> None:
    path, _ = squat
    out = tmp_path / "a.csv"
    run("map", "crank_leg", "-i", path, "-o", out)
    text = run("map", "crank_leg", "-i", path).out
    assert out.read_text(encoding="utf-8") == text
    first = read_csv(str(out)).values
    again = [[float(repr(float(v))) for v in row] for row in first]
    np.testing.assert_array_equal(first, again)


def positions_only(path: Path, table: np.ndarray) -> Path:
    rows = [",".join(repr(float(v)) for v in row[:4]) for row in table]
    path.write_text("\n".join(["time,hip,knee,ankle", *rows]), encoding="utf-8")
    return path


def test_missing_derivatives_come_from_a_spline(run, leg, tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 201)
    s = np.sin(3.0 * t)
    shape = np.array([-0.3, 0.5, -0.2])
    blocks = (np.outer(f, shape) for f in (0.5 + 0.5 * s, 1.5 * np.cos(3 * t), -4.5 * s))
    table = np.hstack([t[:, None], *blocks])
    path = positions_only(tmp_path / "p.csv", table)
    out = tmp_path / "o.csv"
    assert run("map", "crank_leg", "-i", path, "-o", out).status == 0
    mapped, wanted = read_csv(str(out)), expected(leg, table)
    for kind, tolerance in (("velocity", 1e-5), ("effort", 2e-2)):
        found = mapped.need(leg.names.actuator, kind)
        inside = slice(3, -3)  # the ends of an interpolating spline are less exact
        np.testing.assert_allclose(found[inside], wanted[kind][inside], atol=tolerance)


def test_rate_samples_in_between_by_the_controllers_rules(run, leg, squat, tmp_path: Path) -> None:
    path, table = squat
    out = tmp_path / "o.csv"
    run("map", "crank_leg", "-i", path, "--rate", "100", "-o", out)
    mapped = read_csv(str(out))
    np.testing.assert_allclose(mapped.times, np.arange(101) / 100.0, atol=1e-12)
    points = Points(table[:, 0], table[:, 1:4], table[:, 4:7], table[:, 7:10])
    y, yd, ydd = Spline(points).table(np.arange(100) / 100.0)
    u = leg.state(y, yd, ydd).u
    np.testing.assert_allclose(mapped.need(leg.names.actuator, "position")[:-1], u, atol=1e-10)


@pytest.mark.parametrize("message", ["trajectory", "states"])
def test_mcap_in_and_out(run, leg: cld.Robot, squat, tmp_path: Path, message: str) -> None:
    needs_rosbags()
    _, table = squat
    kind = TRAJECTORY if message == "trajectory" else STATES
    joints = leg.names.independent
    kinds = KINDS[:3] if message == "trajectory" else KINDS[:2]
    columns = ("time", *(column(j, k) for k in kinds for j in joints))
    start = 1_700_000_000_123_456_789
    source = Table(columns, table[:, : len(columns)], start=start)
    write_bag(str(tmp_path / "in.mcap"), Recording(source, "/command", kind))
    outcome = run("map", "crank_leg", "-i", tmp_path / "in.mcap", "-o", tmp_path / "out.mcap")
    assert outcome.status == 0, outcome.err
    result = read_bag(str(tmp_path / "out.mcap"))
    assert result.message_type == kind and result.table.start == start
    np.testing.assert_allclose(result.table.times, table[:, 0], atol=1e-9)
    wanted = expected(leg, table)
    if message == "states":  # JointState has no accelerations: they come from a spline
        wanted = {"position": wanted["position"], "velocity": wanted["velocity"]}
    assert_equals(result.table, leg, wanted)
    assert run("map", "crank_leg", "-i", tmp_path / "in.mcap").out.startswith("time,hip,")


def recorded(leg: cld.Robot, table: np.ndarray, kinds: dict[str, np.ndarray | float]) -> Table:
    """Positions of the squat, and other kinds (N, 3) or one number for all."""
    joints, columns, values = leg.names.independent, ["time"], [table[:, :1]]
    for kind, numbers in {"position": table[:, 1:4], **kinds}.items():
        columns += [column(joint, kind) for joint in joints]
        values.append(np.broadcast_to(numbers, (len(table), 3)))
    return Table(tuple(columns), np.hstack(values))


def test_states_without_velocities_and_efforts_are_understood(run, leg, squat, tmp_path) -> None:
    """joint_state_broadcaster sends NaN where there is no such interface."""
    needs_rosbags()
    outputs = []
    for others in ({}, {"velocity": np.nan, "effort": np.nan}):
        bag = str(tmp_path / "in.mcap")
        source = recorded(leg, squat[1], others)
        write_bag(bag, Recording(source, "/joint_states", STATES))
        outcome = run("map", "crank_leg", "-i", bag)
        assert outcome.status == 0, outcome.err
        outputs.append(outcome.out)
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("velocity", "message"),
    [
        ([[0.0, np.nan, 0.0]], "the column 'knee.velocity' is missing"),
        (np.array([*np.zeros((20, 3)), [0.0, np.nan, 0.0]]), "column knee.velocity: nan is not"),
    ],
)
def test_states_with_some_velocities_are_refused(run, leg, squat, tmp_path, velocity, message):
    needs_rosbags()
    bag = str(tmp_path / "in.mcap")
    source = recorded(leg, squat[1], {"velocity": velocity})
    write_bag(bag, Recording(source, "/joint_states", STATES))
    outcome = run("map", "crank_leg", "-i", bag)
    assert outcome.status == 1 and message in outcome.err


def test_positions_that_are_missing_stay_a_mistake(run, leg, squat, tmp_path: Path) -> None:
    needs_rosbags()
    bag, table = str(tmp_path / "in.mcap"), squat[1].copy()
    table[:, 2] = np.nan
    write_bag(bag, Recording(recorded(leg, table, {}), "/joint_states", STATES))
    outcome = run("map", "crank_leg", "-i", bag)
    assert outcome.status == 1 and "column knee: nan is not a finite number" in outcome.err


def test_a_bag_can_be_a_rosbag2_folder(run, leg: cld.Robot, squat, tmp_path: Path) -> None:
    needs_rosbags()
    path, table = squat
    words = ["-o", tmp_path / "folder.mcap", "--message", "trajectory", "--output-topic", "/u"]
    assert run("map", "crank_leg", "-i", path, *words).status == 0
    recording = read_bag(str(tmp_path / "folder.mcap"), "u")
    write_bag(str(tmp_path / "bag"), recording)
    assert (tmp_path / "bag" / "metadata.yaml").is_file()
    assert_equals(read_bag(str(tmp_path / "bag")).table, leg, expected(leg, table))


@kinds("reduced")
def test_files_of_an_upper_body(run, tmp_path: Path, name: str) -> None:
    robot = cld.load(*FILES[name])
    times = np.linspace(0.0, 1.0, 6)
    rng = np.random.default_rng(1)
    a, b = 0.5 * robot.random_independent(rng, 2)
    y = a + np.outer(times, b - a)
    names = [column(j, k) for k in KINDS[:3] for j in robot.names.independent]
    rows = np.hstack([times[:, None], y, np.tile(b - a, (6, 1)), np.zeros_like(y)])
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    lines = [",".join(["time", *names]), *(",".join(map(repr, r.tolist())) for r in rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    outcome = run("map", *FILES[name], "-i", path, "-o", out, "--limits", "ignore")
    assert outcome.status == 0, outcome.err
    tau = robot.inverse_dynamics(y, np.tile(b - a, (6, 1)), np.zeros_like(y))
    found = read_csv(str(out)).need(robot.names.actuator, "effort")
    np.testing.assert_allclose(found, tau, rtol=1e-10, atol=1e-10)


ODD = ("time", "energy.kinetic", "knee.velocity")


@pytest.mark.parametrize("ending", ["csv", "mcap"])
def test_joints_may_be_called_like_our_columns(run, tmp_path: Path, ending: str) -> None:
    """A chain of joints `time`, `energy.kinetic` and `knee.velocity`, there and back."""
    links = "".join(
        f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
        f'iyz="0" izz="1"/></inertial></link><joint name="{name}" type="continuous">'
        f'<parent link="l{k - 1}"/><child link="l{k}"/><axis xyz="0 1 0"/></joint>'
        for k, name in enumerate(ODD, start=1)
    )
    urdf = tmp_path / "odd.urdf"
    urdf.write_text(f'<robot name="odd"><link name="l0"/>{links}</robot>', encoding="utf-8")
    fall, mapped = tmp_path / f"fall.{ending}", tmp_path / f"mapped.{ending}"
    y0 = ["--y0", *(f"{name}={value}" for name, value in zip(ODD, (0.3, -0.4, 0.5), strict=True))]
    outcome = run("simulate", urdf, *y0, "--duration", "0.1", "-o", fall)
    assert outcome.status == 0, outcome.err
    outcome = run("map", urdf, "-i", fall, "-o", mapped)
    assert outcome.status == 0, outcome.err
    there, back = (read_recording(str(file), None).table for file in (fall, mapped))
    for kind in ("position", "velocity"):
        np.testing.assert_allclose(back.need(ODD, kind), there.need(ODD, kind), atol=1e-12)
    np.testing.assert_allclose(there.need(ODD, "position")[0], [0.3, -0.4, 0.5])


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hip,knee,ankle\n0,0,0\n", "the column 'time' is missing"),
        ("time,hip,knee,ankle\n0,0,0,0\n0,0,0,0\n", "row 2 (line 3), column time: 0 s follows 0 s"),
        ("time,knee_cylinder\n0,0\n", "the column 'hip' is missing"),
        (
            "time,hip,knee,ankle,hip.acceleration,knee.acceleration,ankle.acceleration\n"
            "0,0,0,0,0,0,0\n",
            "accelerations are given without velocities",
        ),
    ],
)
def test_wrong_trajectories(run, text: str, message: str) -> None:
    outcome = run("map", "crank_leg", "-i", "-", stdin=text)
    assert outcome.status == 1 and message in outcome.err and outcome.out == ""


def test_limits_are_minded_as_asked(run) -> None:
    text = "time,hip,knee,ankle\n0,0,0,0\n1,0,1.9,0\n"
    warned = run("map", "crank_leg", "-i", "-", stdin=text)
    assert warned.status == 0
    assert "row 2 (line 3), 1 s: knee = 1.9 is outside [-0.05, 1.8]" in warned.err
    refused = run("map", "crank_leg", "-i", "-", "--limits", "error", stdin=text)
    assert refused.status == 1 and refused.out == ""
    assert run("map", "crank_leg", "-i", "-", "--limits", "ignore", stdin=text).err == ""


def test_an_unreachable_row_is_named(run) -> None:
    text = "time,rocker\n0,0\n1,0.1\n2,-1.5\n3,0\n"
    outcome = run("map", "four_bar", "-i", "-", stdin=text)
    assert outcome.status == 1 and "row 3 (line 4), column rocker" in outcome.err


def test_bags_that_cannot_be_used(run, squat, tmp_path: Path) -> None:
    needs_rosbags()
    path, _ = squat
    junk = tmp_path / "junk.mcap"
    junk.write_bytes(b"this is no bag")
    outcome = run("map", "crank_leg", "-i", junk)
    assert outcome.status == 1 and "not a readable bag" in outcome.err
    good = tmp_path / "good.mcap"
    run("map", "crank_leg", "-i", path, "-o", good)
    outcome = run("map", "crank_leg", "-i", good, "--topic", "/actuator_comand")
    assert outcome.status == 1 and "did you mean '/actuator_command'?" in outcome.err
    outcome = run("map", "crank_leg", "-i", good)
    assert outcome.status == 1 and "the column 'knee' is missing" in outcome.err
    outcome = run("map", "crank_leg", "-i", path, "--topic", "/x")
    assert outcome.status == 2 and "--topic is for bags" in outcome.err


def test_without_rosbags_the_extra_is_named(run, squat, tmp_path, monkeypatch) -> None:
    import sys

    path, _ = squat
    for name in [name for name in sys.modules if name.split(".")[0] == "rosbags"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rosbags", None)
    outcome = run("map", "crank_leg", "-i", path, "-o", tmp_path / "x.mcap")
    assert outcome.status == 1 and ".[bags]" in outcome.err


def test_positions_alone_begin_and_end_at_rest_when_asked(run, leg: cld.Robot, tmp_path) -> None:
    """The squat of the tutorial starts at 0.14 rad/s without --rest."""
    path, out = tmp_path / "squat.csv", tmp_path / "u.csv"
    rows = [[-0.2, 0.4, -0.2], [-0.3, 0.6, -0.3], [-0.5, 1.0, -0.5], [-0.2, 0.4, -0.2]]
    lines = [",".join(map(str, (0.5 * k, *row))) for k, row in enumerate(rows)]
    path.write_text("time,hip,knee,ankle\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assert run("map", "crank_leg", "-i", path, "--rate", "100", "-o", out).status == 0
    moving = read_csv(str(out)).need(leg.names.actuator, "velocity")
    assert np.max(np.abs(moving[[0, -1]])) > 0.05
    assert run("map", "crank_leg", "-i", path, "--rest", "--rate", "100", "-o", out).status == 0
    table = read_csv(str(out))
    u, ud, udd, _ = (table.need(leg.names.actuator, kind) for kind in KINDS)
    assert np.all(ud[[0, -1]] == 0.0) and np.all(udd[[0, -1]] == 0.0)
    for k, row in enumerate(rows):
        np.testing.assert_allclose(u[50 * k], leg.state(row).u, atol=1e-9)
    np.testing.assert_allclose(np.gradient(u[:, 0], 0.01)[1:-1], ud[1:-1, 0], atol=5e-3)
    outcome = run("map", "crank_leg", "-i", out, "--reverse", "--rest")
    assert outcome.status == 2 and "--rest" in outcome.err
    text = path.read_text(encoding="utf-8").replace("ankle", "ankle,knee.velocity", 1)
    path.write_text(text.replace("-0.2\n", "-0.2,0\n").replace("-0.3\n", "-0.3,0\n")
                    .replace("-0.5\n", "-0.5,0\n"), encoding="utf-8")  # fmt: skip
    outcome = run("map", "crank_leg", "-i", path, "--rest")
    assert outcome.status != 0


def test_retime_writes_a_motion_that_map_takes(run, leg: cld.Robot, tmp_path) -> None:
    pytest.importorskip("toppra", reason="toppra is not installed (extra `retime`)")
    path, fast = tmp_path / "path.csv", tmp_path / "fast.csv"
    path.write_text("hip,knee,ankle\n-0.2,0.4,-0.2\n-0.5,0.9,-0.4\n-0.7,1.4,-0.7\n")
    outcome = run("retime", "crank_leg", "-i", path, "--rate", "500", "-o", fast)
    assert outcome.status == 0 and "s from rest to rest" in outcome.err
    table = read_csv(str(fast))
    assert table.times is not None and 0.05 < table.times[-1] < 1.0
    ends = table.need(leg.names.independent, "position")[[0, -1]]
    np.testing.assert_allclose(ends, [[-0.2, 0.4, -0.2], [-0.7, 1.4, -0.7]], atol=1e-9)
    assert run("map", "crank_leg", "-i", fast, "-o", tmp_path / "u.csv").err.count("effort") == 0
    path.write_text("hip,knee,ankle\n-0.2,0.4,-0.2\n-0.2,0.4,-0.2\n")
    outcome = run("retime", "crank_leg", "-i", path)
    assert outcome.status == 1 and "two different points" in outcome.err
