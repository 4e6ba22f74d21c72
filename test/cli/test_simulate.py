"""``simulate``, ``plot``, ``workspace`` and ``demo``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.rh5 import FILES, kinds

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.bags import read_bag
from closed_loop_dynamics.cli.tables import Table, read_csv
from closed_loop_dynamics.simulation.plant import Physics, Plant

ROOT = Path(__file__).resolve().parents[2]
PNG = b"\x89PNG"


def simulated(run, tmp_path: Path, *words: object) -> Table:
    out = tmp_path / "sim.csv"
    outcome = run("simulate", "crank_leg", *words, "-o", out)
    assert outcome.status == 0, outcome.err
    return read_csv(str(out))


def test_a_free_fall_keeps_its_energy_and_its_loops(run, leg: cld.Robot, tmp_path: Path) -> None:
    words = ["--duration", "0.1", "--y0", "knee=0.8", "--no-stops"]
    table = simulated(run, tmp_path, *words)
    column = table.columns.index
    energy = table.values[:, column("energy.kinetic")] + table.values[:, column("energy.potential")]
    assert np.ptp(energy) < 1e-6
    assert table.values[-1, column("energy.kinetic")] > 0.1
    y = table.need(leg.names.independent, "position")
    q = table.need(leg.names.spanning, "position")
    np.testing.assert_allclose(leg.state(y).q, q, atol=1e-10)


def test_the_plant_does_the_same(run, leg: cld.Robot, tmp_path: Path) -> None:
    tau = np.array([1.0, -40.0, 0.2])
    words = ["--duration", "0.05", "--y0", "knee=0.8", "--tau", *tau, "--step", "0.0005"]
    table = simulated(run, tmp_path, *words, "--viscous", "knee=0.5")
    physics = Physics(step=5e-4, viscous={"knee": 0.5})
    plant = Plant(leg, physics, np.array([0.0, 0.8, 0.0]))
    plant.advance(tau, 0.05)
    last = table.need(leg.names.independent, "position")[-1]
    np.testing.assert_allclose(last, plant.y, atol=1e-12)
    np.testing.assert_allclose(table.times, np.arange(6) / 100.0, atol=1e-12)
    np.testing.assert_allclose(table.need(leg.names.actuator, "effort"), np.tile(tau, (6, 1)))


def test_holding_holds(run, leg: cld.Robot, tmp_path: Path) -> None:
    table = simulated(run, tmp_path, "--hold", "--y0", "knee=0.8", "--duration", "0.1")
    y = table.need(leg.names.independent, "position")
    np.testing.assert_allclose(y, np.tile([0.0, 0.8, 0.0], (len(y), 1)), atol=1e-9)


@pytest.mark.parametrize("feedback", [[], ["--feedback", "20"]])
def test_a_motion_is_followed(run, leg: cld.Robot, squat, tmp_path: Path, feedback) -> None:
    path, motion = squat
    table = simulated(run, tmp_path, "--follow", path, "--rate", "20", *feedback)
    np.testing.assert_allclose(table.times, motion[:, 0], atol=1e-9)
    y = table.need(leg.names.independent, "position")
    assert np.abs(y - motion[:, 1:4]).max() < (2e-2 if feedback else 1e-3)


def test_a_motion_that_starts_at_speed_is_followed(run, leg: cld.Robot, tmp_path: Path) -> None:
    """Feedforward alone: without the motion's velocity at the start it would drift away."""
    t = np.linspace(0.0, 0.2, 41)
    joints, w = leg.names.independent, 6.0
    middle, size = np.array([-0.3, 0.8, -0.3]), np.array([-0.1, 0.2, -0.1])
    parts = [middle + np.outer(np.sin(w * t), size), np.outer(w * np.cos(w * t), size)]
    parts.append(-w * w * (parts[0] - middle))
    names = [f"{j}{k}" for k in ("", ".velocity", ".acceleration") for j in joints]
    path = tmp_path / "swing.csv"
    numbers = np.hstack([t[:, None], *parts])
    np.savetxt(path, numbers, delimiter=",", header=",".join(["time", *names]), comments="")
    table = simulated(run, tmp_path, "--follow", path)
    assert np.abs(table.need(joints, "velocity")[0] - parts[1][0]).max() < 1e-12
    assert np.abs(table.need(joints, "position")[-1] - parts[0][-1]).max() < 1e-4


def test_the_velocity_at_the_start_can_be_given(run, leg: cld.Robot, tmp_path: Path) -> None:
    words = ["--y0", "knee=0.8", "--yd0", "knee=-1.5", "--duration", "0.01"]
    table = simulated(run, tmp_path, *words)
    y, yd = np.array([0.0, 0.8, 0.0]), np.array([0.0, -1.5, 0.0])
    for _ in range(10):
        y, yd = leg.step(y, yd, np.zeros(3), 1e-3)[:2]
    np.testing.assert_allclose(table.need(leg.names.independent, "velocity")[-1], yd, atol=1e-12)


def test_recorded_efforts_repeat_the_motion(run, leg: cld.Robot, squat, tmp_path: Path) -> None:
    path, motion = squat
    forces = tmp_path / "forces.csv"
    run("map", "crank_leg", "-i", path, "--rate", "1000", "-o", forces)
    table = simulated(run, tmp_path, "--efforts", forces, "--duration", "0.3")
    y = table.need(leg.names.independent, "position")[-1]
    at = int(np.argmin(np.abs(motion[:, 0] - 0.3)))
    np.testing.assert_allclose(y, motion[at, 1:4], atol=1e-2)


def test_a_floating_robot_falls_freely(run, tmp_path: Path) -> None:
    heavy = '<inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    urdf = (ROOT / "urdf" / "crank_leg.urdf").read_text(encoding="utf-8")
    base = '<link name="base_link">'
    (tmp_path / "flying.urdf").write_text(
        urdf.replace(base, f"{base}{heavy}</inertial>"), encoding="utf-8"
    )
    files = [tmp_path / "flying.urdf", ROOT / "config" / "crank_leg.yaml", "--floating-base"]
    start = ["--y0", "floating_base.z=1", "knee=0.5", "--duration", "0.1"]
    out = tmp_path / "sim.csv"
    outcome = run("simulate", *files, *start, "-o", out)
    assert outcome.status == 0, outcome.err
    table = read_csv(str(out))
    z = table.values[:, table.columns.index("floating_base.z")]
    np.testing.assert_allclose(z, 1.0 - 0.5 * 9.81 * table.times**2, atol=1e-9)
    np.testing.assert_allclose(table.values[:, table.columns.index("knee")], 0.5, atol=1e-9)


def test_a_bag_has_joint_states(run, leg: cld.Robot, tmp_path: Path) -> None:
    pytest.importorskip("rosbags", reason="rosbags is not installed (extra `bags`)")
    out = tmp_path / "sim.mcap"
    words = ["--hold", "--y0", "knee=0.8", "--duration", "0.02"]
    assert run("simulate", "crank_leg", *words, "-o", out).status == 0
    recording = read_bag(str(out))
    assert recording.topic == "/joint_states"
    table = recording.table
    assert len(table.values) == 3
    assert table.get(leg.names.spanning, "velocity") is not None
    efforts = table.get(leg.names.spanning, "effort")
    assert efforts is not None  # zero for joints without a drive
    np.testing.assert_array_equal(efforts[:, leg.names.spanning.index("knee")], 0.0)


def test_a_motion_that_fails_is_written_up_to_there(run, tmp_path: Path) -> None:
    out = tmp_path / "sim.csv"
    words = ["four_bar", "--tau", "crank=-30", "--no-stops", "-o", out]
    outcome = run("simulate", *words)
    assert outcome.status == 1 and "closed-loop simulate: at 0." in outcome.err
    assert 1 < len(read_csv(str(out)).values) < 201


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--y0", "knee=5"], 1, "initial position: knee = 5 is outside"),
        (["--hold", "--tau", "1", "2", "3"], 2, "not allowed with argument"),
        (["--feedback", "3"], 2, "--feedback goes with --follow"),
        (["--step", "-1"], 2, "-1 is not a positive number"),
        (["--viscous", "kne=1"], 2, "did you mean 'knee'?"),
        (["--viscous", "1"], 2, "write JOINT=VALUE"),
        (["--duration", "1e9"], 2, "rows are too many"),
    ],
)
def test_wrong_words(run, words: list[str], status: int, message: str) -> None:
    outcome = run("simulate", "crank_leg", *words)
    assert outcome.status == status and message in outcome.err


def test_what_was_written_and_which_stops_were_hit_is_told(run, tmp_path: Path) -> None:
    path = tmp_path / "fall.csv"
    outcome = run("simulate", "crank_leg", "--duration", "0.3", "--rate", "1000", "-o", path)
    assert outcome.status == 0 and outcome.out == f"wrote {path}: 301 rows\n"
    ankle = read_csv(str(path)).need(["ankle"], "position")[:, 0]
    first = int(np.argmax(ankle >= 0.6 - 1e-12))
    assert first > 0
    assert f"note: ankle hits its upper stop, 0.6, at {first / 1000:.4g} s" in outcome.err
    free = run("simulate", "crank_leg", "--duration", "0.3", "--no-stops", "-o", path)
    assert free.status == 0 and free.err == ""


# -- pictures -------------------------------------------------------------------------------------


def test_plot_draws_a_csv_file(run, squat, tmp_path: Path) -> None:
    path, _ = squat
    picture = tmp_path / "squat.png"
    assert run("plot", path, "--only", "knee", "-o", picture).status == 0
    assert picture.read_bytes().startswith(PNG)


def test_plot_refuses_what_it_cannot_draw(run, squat, tmp_path: Path) -> None:
    path, _ = squat
    outcome = run("plot", path, "--only", "kneee", "-o", tmp_path / "x.png")
    assert outcome.status == 1 and "did you mean 'knee'?" in outcome.err
    outcome = run("plot", path, "-o", tmp_path / "x.gif")
    assert outcome.status == 2 and "name it .png" in outcome.err
    outcome = run("plot", tmp_path / "squad.csv")
    assert outcome.status == 2 and "did you mean 'squat.csv'?" in outcome.err


def test_panels_hold_every_column_once_in_one_unit_and_eight_at_most(leg: cld.Robot) -> None:
    from closed_loop_dynamics.cli.commands.plot import _figure, _panels

    joints = ("hip", "knee_cylinder", "knee_cylinder.velocity", "hip.velocity", "hip.effort")
    others = ("energy.kinetic", "hip.fx", "hip.mz", "rod.axial", "toe.x", "residual")
    table = Table(("time", *joints, *others), np.ones((3, 12)), "x.csv")
    assert _panels(table, ["hip"], None) == [
        ("position [rad or m]", [1]),
        ("velocity [rad/s or m/s]", [4]),
        ("effort [N·m or N]", [5]),
    ]
    panels = _panels(table, None, leg.mechanism.tree)
    assert panels == [
        ("position [rad]", [1]),
        ("position [m]", [2]),
        ("velocity [m/s]", [3]),
        ("velocity [rad/s]", [4]),
        ("effort [N·m]", [5]),
        ("energy [J]", [6]),
        ("force [N]", [7]),
        ("moment [N·m]", [8]),
        ("force along [N]", [9]),
        ("place [m]", [10]),
        ("residual [m, rad]", [11]),
    ]
    figure = _figure(table, panels, "x")
    axes = [panel for panel in figure.axes if panel.lines]
    figure.draw_without_rendering()
    ends = [(a.get_window_extent().x0, a.yaxis.label.get_window_extent().x1) for a in axes]
    for column in (ends[::2], ends[1::2]):
        assert np.ptp(column, axis=0) == pytest.approx([0.0, 0.0], abs=0.5)  # [pixels]
    assert {panel.get_ylabel() for panel in axes} == {what for what, _ in panels}
    assert len(axes) == len(panels)
    many = Table(tuple(f"joint_{k}" for k in range(20)), np.zeros((3, 20)), "y.csv")
    assert [len(columns) for _, columns in _panels(many, None, None)] == [7, 7, 6]


def test_plot_asks_the_robot_which_joints_slide(run, tmp_path: Path) -> None:
    log, picture = tmp_path / "log.csv", tmp_path / "log.svg"
    log.write_text("time,hip,knee_cylinder\n0,0,0\n1,0.1,0.02\n")
    assert run("plot", log, "--robot", "crank_leg", "-o", picture).status == 0
    drawn = picture.read_text(encoding="utf-8")
    assert "position [rad]" in drawn and "position [m]" in drawn
    assert run("plot", log, "-o", picture).status == 0
    assert "position [rad or m]" in picture.read_text(encoding="utf-8")


def test_workspace_samples_are_those_of_the_api(leg: cld.Robot) -> None:
    from closed_loop_dynamics.cli.workspace_maps import sample

    y = np.array([-0.3, 0.0, 0.1])
    s = sample(leg, "knee", ["knee"], y, 5, margin=0.3)
    for k, knee in enumerate(s.axes[0]):
        point = np.array([-0.3, knee, 0.1])
        assert s.u[k, 0] == pytest.approx(leg.state(point).u[1], abs=1e-12)
        assert s.ratio[k, 0, 0] == pytest.approx(leg.actuator_jacobian(point)[1, 1], abs=1e-9)
        force = leg.inverse_dynamics(point, np.zeros(3), np.zeros(3))[1]
        assert s.force[k, 0] == pytest.approx(force, rel=1e-9)
    low, high = leg.submechanism("knee").reachable_interval()
    np.testing.assert_array_equal(s.allowed, (s.axes[0] >= low) & (s.axes[0] <= high))


def test_workspace_shows_where_a_loop_opens() -> None:
    from closed_loop_dynamics.cli.robot_argument import find_robot
    from closed_loop_dynamics.cli.workspace_maps import sample

    _, urdf, yaml = find_robot("four_bar")
    robot = cld.load(urdf, yaml)
    s = sample(robot, "four_bar", ["rocker"], np.zeros(1), 41, margin=1.0)
    for k, rocker in enumerate(s.axes[0]):
        try:
            robot.state([rocker])
            closes = True
        except cld.ClosureNotFound:
            closes = False
        assert np.isfinite(s.loop[k]) == closes
    assert not np.isfinite(s.loop).all() and not s.allowed.all() and s.allowed.any()


@pytest.mark.parametrize("words", [["crank_leg", "-s", "knee"], ["spu2_u"]])
def test_workspace_draws(run, tmp_path: Path, words: list[str]) -> None:
    picture = tmp_path / "w.png"
    outcome = run("workspace", *words, "--grid", "5", "-o", picture)
    assert outcome.status == 0 and "reachable" in outcome.out
    assert picture.read_bytes().startswith(PNG)


def test_workspace_has_units_dead_points_and_no_panels_that_say_nothing(leg: cld.Robot) -> None:
    from closed_loop_dynamics.cli.workspace_drawing import DEAD, draw
    from closed_loop_dynamics.cli.workspace_maps import sample

    s = sample(leg, "knee", ["knee"], np.zeros(3), 5)
    np.testing.assert_allclose(s.strength()[:, 0], 2500 * np.abs(s.ratio[:, 0, 0]))
    point = np.array([0.0, s.axes[0][2], 0.0])
    tau_y = leg.generalized_forces(point, np.zeros(3), np.zeros(3))
    assert s.load()[2, 0] == pytest.approx(tau_y[1], rel=1e-9)
    titles = {axes.get_title(): axes for axes in draw(s).axes if axes.lines}
    assert {"actuator position [m]", "transmission ratio du/dy [m/rad]"} <= {*titles}
    assert {"force that holds against gravity [N]", "strength at knee [N·m]"} <= {*titles}
    assert {axes.get_xlabel() for axes in titles.values()} == {"knee [rad]"}
    # a crank whose lever arm goes through zero between the first two points
    ratio = s.ratio - 0.75 * s.ratio[0] - 0.25 * s.ratio[1]
    dead = replace(s, ratio=ratio, loop=np.full(5, 0.5), actuation=np.full(5, 0.5))
    figure = draw(dead)
    assert "smallest singular value 0.5" in figure.get_suptitle()
    assert not [axes for axes in figure.axes if axes.get_title().startswith("smallest")]
    where = s.axes[0][0] + 0.25 * (s.axes[0][1] - s.axes[0][0])
    lines = [line for line in figure.axes[0].lines if line.get_color() == DEAD]
    assert [line.get_xdata()[0] for line in lines] == [pytest.approx(where)]


@kinds("reduced")
def test_workspace_of_a_torso(run, tmp_path: Path, name: str) -> None:
    picture = tmp_path / "torso.png"
    torso, actuator = (
        ("torso_joint", "BodyActL") if name == "reduced" else ("torso_tilt", "torso_left")
    )
    words = ["-s", torso, "--grid", "4", "-o", picture]
    outcome = run("workspace", *FILES[name], *words)
    assert outcome.status == 0 and actuator in outcome.out
    assert picture.read_bytes().startswith(PNG)


def test_workspace_wants_to_know_which_mechanism(run) -> None:
    outcome = run("workspace", "crank_leg")
    assert outcome.status == 2 and "with loops: knee, ankle" in outcome.err
    outcome = run("workspace", "crank_leg", "-s", "kne")
    assert outcome.status == 2 and "did you mean 'knee'?" in outcome.err
    outcome = run("workspace", "crank_leg", "-s", "knee", "--joints", "hip")
    assert outcome.status == 2 and "no independent joint of 'knee'" in outcome.err


def test_demo_is_the_demo(run, tmp_path: Path) -> None:
    picture = tmp_path / "demo.png"
    outcome = run("demo", "--offline", "--output", picture)
    assert outcome.status == 0 and "by the library alone" in outcome.out
    assert picture.read_bytes().startswith(PNG)
