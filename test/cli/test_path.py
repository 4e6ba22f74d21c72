"""``path``: the way of links; ``map --reverse``: from encoders to all joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support import jansen

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.link_reach import reach_in_task_space, reach_of_link
from closed_loop_dynamics.cli.tables import read_csv
from closed_loop_dynamics.model.joint_limits import Limits


def test_a_way_is_that_of_the_poses(run, leg: cld.Robot, tmp_path: Path) -> None:
    out = tmp_path / "way.csv"
    words = ("--link", "foot", "--joint", "knee", "--y", "hip=0.2", "--point", "0.1", "0", "0")
    outcome = run("path", "crank_leg", *words, "--grid", "21", "-o", out)
    assert outcome.status == 0, outcome.err
    table = read_csv(str(out))
    y = table.need(leg.names.independent, "position")
    assert len(y) == 21 and np.all(y[:, 0] == 0.2) and np.ptp(y[:, 1]) > 1.0
    at = [table.columns.index(f"foot.{axis}") for axis in "xyz"]
    expected = [(leg.pose("foot", each) @ [0.1, 0.0, 0.0, 1.0])[:3] for each in y]
    np.testing.assert_allclose(table.values[:, at], expected, atol=1e-12)


def test_a_motion_gives_times_and_a_picture(run, squat, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra `plot`)")
    path, table = squat
    out, picture = tmp_path / "ways.csv", tmp_path / "ways.svg"
    words = ("--link", "foot", "shank", "-i", path, "-o", out, "--plot", picture)
    assert run("path", "crank_leg", *words).status == 0
    np.testing.assert_array_equal(read_csv(str(out)).times, table[:, 0])
    drawn = picture.read_text(encoding="utf-8")
    assert "shank" in drawn and "z [m]" in drawn and "y [m]" not in drawn  # the leg is planar


def test_between_the_rows_of_a_motion_the_way_is_that_of_the_loops(
    run, leg: cld.Robot, tmp_path: Path
) -> None:
    motion, way, mapped = tmp_path / "squat.csv", tmp_path / "way.csv", tmp_path / "mapped.csv"
    motion.write_text("time,hip,knee,ankle\n0,0,0.2,0\n1,-0.5,1.0,-0.5\n2,0,0.2,0\n")
    words = ("-i", motion, "--rest", "--rate", "20")
    assert run("path", "crank_leg", "--link", "foot", *words, "-o", way).status == 0
    assert run("map", "crank_leg", *words, "-o", mapped).status == 0
    table, actuators = read_csv(str(way)), read_csv(str(mapped))
    np.testing.assert_array_equal(table.times, actuators.times)
    assert len(table.values) == 41
    u = leg.state(table.need(leg.names.independent, "position")).u
    np.testing.assert_allclose(actuators.need(leg.names.actuator, "position"), u, atol=1e-12)
    outcome = run("path", "crank_leg", "--link", "foot", "--joint", "knee", "--rate", "20")
    assert outcome.status == 2 and "give --input" in outcome.err


def test_unknown_links_and_joints_get_a_hint(run) -> None:
    outcome = run("path", "crank_leg", "--link", "foott", "--joint", "knee")
    assert outcome.status == 2 and "did you mean 'foot'" in outcome.err
    outcome = run("path", "crank_leg", "--link", "foot")
    assert outcome.status == 2 and "which joint moves" in outcome.err
    outcome = run("path", "crank_leg", "--link", "foot", "--joint", "knee_cylinder")
    assert "no independent joint; independent: hip, knee, ankle" in outcome.err


def test_map_reverse_undoes_map(run, leg: cld.Robot, squat, tmp_path: Path) -> None:
    path, table = squat
    there, back = tmp_path / "actuators.csv", tmp_path / "joints.csv"
    assert run("map", "crank_leg", "-i", path, "-o", there).status == 0
    outcome = run("map", "crank_leg", "-i", there, "--reverse", "-o", back)
    assert outcome.status == 0 and outcome.err == ""
    found, names = read_csv(str(back)), leg.names
    np.testing.assert_array_equal(found.times, table[:, 0])
    y, yd, ydd = table[:, 1:4], table[:, 4:7], table[:, 7:10]
    state = leg.state(y, yd)
    np.testing.assert_allclose(found.need(names.spanning, "position"), state.q, atol=1e-9)
    np.testing.assert_allclose(found.need(names.spanning, "velocity"), state.qd, atol=1e-8)
    tau_y = leg.generalized_forces(y, yd, ydd)
    np.testing.assert_allclose(found.need(names.independent, "effort"), tau_y, atol=1e-7)
    assert run("map", "crank_leg", "-i", there, "--reverse", "--rate", "10").status == 2


def test_the_toe_curve_of_jansens_leg(run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra `plot`)")
    model, loops = tmp_path / "jansen.urdf", tmp_path / "loops.yaml"
    model.write_text(jansen.urdf(), encoding="utf-8")
    loops.write_text(jansen.LOOPS, encoding="utf-8")
    out, picture = tmp_path / "toe.csv", tmp_path / "toe.png"
    outcome = run("path", model, loops, "--link", "toe", "-o", out, "--plot", picture)
    assert outcome.status == 0, outcome.err
    table = read_csv(str(out))
    at = [table.columns.index(f"toe.{axis}") for axis in "xz"]
    expected = [jansen.points(crank)["toe"] for crank in table.need(["crank"], "position")[:, 0]]
    np.testing.assert_allclose(table.values[:, at], expected, atol=1e-10)
    assert np.ptp(table.values[:, at[0]]) > 0.06 and picture.stat().st_size > 5000
    robot = cld.load(model, loops, prepare=())
    reached = reach_of_link(robot, "toe", 50)
    cranks = robot.random_independent(np.random.default_rng(0), 50)[:, 0]
    expected = [jansen.points(crank)["toe"] for crank in cranks]
    np.testing.assert_allclose(reached.points[:, [0, 2]], expected, atol=1e-10)
    picture = tmp_path / "reach.png"
    words = ("--link", "toe", "--samples", "50", "-o", picture)
    outcome = run("workspace", model, loops, *words)
    assert outcome.status == 0 and "50 of 50 random positions" in outcome.out
    assert picture.stat().st_size > 5000
    outcome = run("workspace", model, loops, "--link", "toes", "-o", picture)
    assert outcome.status == 2 and "did you mean 'toe'" in outcome.err


def test_the_platform_gets_to_where_its_limbs_allow(run, tmp_path: Path) -> None:
    robot = cld.load("irsbot2", prepare=())
    task, limits = robot.task_space(), Limits.of(robot.mechanism.tree, robot.names.actuator)
    reached = reach_in_task_space(robot, 40)
    assert reached.names == tuple(f"{axis} [m]" for axis in task.axes) and len(reached.points) > 20
    for x in reached.points:
        assert limits.outside(task.inverse_kinematics(x).u[None]) is None
    outcome = run("workspace", "crank_leg", "--x")
    assert outcome.status == 1 and "task_space" in outcome.err
