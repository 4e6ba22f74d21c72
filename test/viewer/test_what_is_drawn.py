"""What is drawn on and around the robot: cuts, loads, curves, tables, the first look."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.drawn import drawn_at

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.motion_file import motion_of
from closed_loop_dynamics.cli.robot_argument import find_robot
from closed_loop_dynamics.cli.tables import Table
from closed_loop_dynamics.model.visual import BOX, CYLINDER, SPHERE
from closed_loop_dynamics.viewer.drawing import draw_robot
from closed_loop_dynamics.viewer.loads import LoadArrows
from closed_loop_dynamics.viewer.playback import from_file
from closed_loop_dynamics.viewer.plots import Plots
from closed_loop_dynamics.viewer.scene import VIEW, quaternions, set_stage
from closed_loop_dynamics.viewer.shapes import Shape
from closed_loop_dynamics.viewer.snapshot import Camera
from closed_loop_dynamics.viewer.window import Look, Window
from tools.robots import crank_leg


def test_the_line_of_now_is_vertical_and_leaves_the_curves_alone(
    server: Any, leg: cld.Robot
) -> None:
    plots, x = Plots(server, leg), np.linspace(0.0, 1.0, 5)
    plots.show(x, np.column_stack([x, 2.0 * x, -x]), "time [s]")
    for at in (0.3, 0.0, 1.0):
        plots.mark(at)
        for chart, slopes in zip(plots._charts.values(), ((1.0, -1.0), (2.0,)), strict=True):
            abscissa, *curves, now = chart.data
            np.testing.assert_array_equal(abscissa[np.isfinite(now)], [at, at])
            assert np.all(np.diff(abscissa) >= 0.0)
            for curve, slope in zip(curves, slopes, strict=True):
                np.testing.assert_allclose(curve, slope * abscissa, atol=1e-12)


def test_quaternions_are_those_of_the_rotations() -> None:
    R = Rotation.random(200, random_state=1).as_matrix()
    R[:4] = np.eye(3), *(np.diag(signs) for signs in ((1, -1, -1), (-1, 1, -1), (-1, -1, 1)))
    found = Rotation.from_quat(np.roll(quaternions(R), -1, axis=1)).as_matrix()
    np.testing.assert_allclose(found, R, rtol=0, atol=1e-15)
    assert quaternions(R[:0]).shape == (0, 4)


def test_the_scene_is_told_only_what_has_moved(
    server: Any, leg: cld.Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, told = Look(server, leg), []
    handles = sys.modules[type(look.scene.frames[0]).__module__]
    monkeypatch.setattr(handles, "_set_pose_vector", lambda _, value, *rest: told.append(value))
    look.scene.show(look.first)
    assert not told
    for joint in ("ankle", "hip"):
        moved = look.home.copy()
        moved[leg.names.independent.index(joint)] += 0.1
        shot = look.camera.standing(moved)
        look.scene.show(look.first)
        told.clear()
        look.scene.show(shot)
        # A joint turns or shifts one node, whatever it carries.
        joints = np.sum(np.abs(shot.q - look.first.q) > 1e-9)
        cuts = np.any(np.abs(np.subtract(shot.cuts, look.first.cuts)) > 1e-9, axis=(1, 2)).sum()
        assert len(told) == joints + cuts > 0


def test_nodes_lie_in_those_of_their_parents(server: Any, leg: cld.Robot) -> None:
    look = Look(server, leg)
    shot = look.camera.standing(np.array([-0.4, 0.8, -0.4]))
    look.scene.show(shot)
    for body, pose in enumerate(shot.poses):
        np.testing.assert_allclose(drawn_at(look.scene, leg, body), pose, rtol=0, atol=1e-8)


def test_a_chart_names_the_eight_largest_of_many_actuators(server: Any) -> None:
    robot = cld.load(*find_robot("rh5_humanoid")[1:])
    plots, rng = Plots(server, robot), np.random.default_rng(0)
    for _ in range(2):
        tau = rng.normal(size=(3, robot.p))
        plots.show(np.arange(3.0), tau, "time [s]")
        for unit, chart in plots._charts.items():
            peaks = {robot.names.actuator[k]: np.abs(tau[:, k]).max() for k in plots._groups[unit]}
            named = {series["label"] for series in chart.series} - {"x", "now"}
            assert named == {*sorted(peaks, key=lambda name: -peaks[name])[:8]}
            assert len({series.get("stroke") for series in chart.series}) == len(chart.series)
            assert len(chart.data) == len(chart.series)


def test_percent_of_a_limit_is_told_where_there_is_one(server: Any) -> None:
    urdf, loops = crank_leg.generate()
    for effort, percents in (("80", 3), ("0", 1)):  # 0: not given
        robot = cld.load(re.sub(r'effort="[48]0(\.0)?"', f'effort="{effort}"', urdf), loops)
        look = Look(server, robot)
        table = Window(server, look).panel.force_table(look.first, look.scales)
        assert len(re.findall(r"\d %<", table)) == percents
        assert ("or largest" in table) == (effort == "0")


def test_cut_points_are_smaller_than_the_links_they_join(server: Any, leg: cld.Robot) -> None:
    shortest = 0.051  # of the ankle's links; the whole leg is 0.9 m
    radii = [ball.radius for ball in Look(server, leg).scene._cuts]
    assert len(radii) == 2 and min(radii) == pytest.approx(0.2 * shortest, rel=0.01)


def test_signs_have_the_size_of_a_robot_whose_joints_meet_in_one_point(server: Any) -> None:
    urdf = (
        '<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0.02 0 0"/>'
        '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '</link><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
        "</robot>"
    )
    assert Look(server, cld.load(urdf)).scene.size == pytest.approx(0.02)


@pytest.mark.parametrize("size", [(0.3, 0.3, 1.8), (1.5, 0.4, 0.3), (0.4, 2.0, 0.1)])
def test_the_whole_robot_is_seen_between_the_panels(server: Any, size: tuple[float, ...]) -> None:
    points = np.array(np.meshgrid(*([0.0, s] for s in size))).reshape(3, -1).T
    set_stage(server, points)
    camera = server.initial_camera
    eye, forward = np.array(camera.position), np.array(camera.look_at) - np.array(camera.position)
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    seen = points - eye
    half = np.tan(0.5 * camera.fov) * (seen @ forward)
    tall = np.abs(seen @ np.cross(right, forward) / half).max()
    wide = np.abs(seen @ right / half).max()
    # a window of 1280 x 720 leaves 620 pixels between the panels
    assert tall < 0.9 and wide < 620 / 720 and max(tall, wide) > 0.7


def test_arrows_are_the_forces_in_the_pins(server: Any, leg: cld.Robot) -> None:
    t = np.linspace(0.0, 1.0, 21)
    wave = np.outer(np.sin(2 * np.pi * t), [0.3, 0.6, -0.2]) + np.array([0.0, 0.8, 0.0])
    table = Table(("time", "hip", "knee", "ankle"), np.column_stack([t, wave]), "wave")
    shot = from_file(leg, motion_of(leg, table)).snapshot(Camera(leg), 7)
    assert shot.rates is not None and np.abs(shot.rates[0]).max() > 0.1
    arrows, colors, text = LoadArrows(leg, 1.0).of(shot)
    loads = leg.internal_loads(shot.y, *shot.rates)
    along = arrows[:, 1] - arrows[:, 0]
    for k, pin in enumerate(loads.pins):
        if pin.cut:
            continue
        pose = leg.pose(pin.on, shot.y)
        np.testing.assert_allclose(arrows[k, 0], pose[:3, 3], atol=1e-9)
        force = pose[:3, :3] @ loads.wrenches[k, 3:]
        np.testing.assert_allclose(np.cross(along[k], force), 0.0, atol=1e-9 * loads.forces.max())
        assert along[k] @ force > 0.0
    for arrow, (a, b) in zip(arrows[-len(shot.cuts) :], shot.cuts, strict=True):
        np.testing.assert_allclose(arrow[0], 0.5 * (a + b), atol=1e-9)
    # the foot: what its joint and its rod exert is its mass times acceleration minus weight
    rod = next(k for k, pin in enumerate(loads.pins) if pin.cut and "foot" in (pin.by, pin.on))
    sign = 1.0 if loads.pins[rod].on == "foot" else -1.0
    unit = along / np.linalg.norm(along, axis=1)[:, None] * loads.forces[:, None]
    total = unit[loads.names.index("ankle")] + sign * unit[rod]
    foot = leg.mechanism.tree.joint_index("ankle")
    mass = leg.mechanism.tree.bodies[foot].mass
    h, speeds = 1e-5, []
    for s in (-h, 0.0, h):
        y = shot.y + s * shot.rates[0] + 0.5 * s * s * shot.rates[1]
        T = leg.pose("foot", y)
        com = leg.mechanism.tree.bodies[foot].first_moment / mass
        speeds.append(T[:3, :3] @ com + T[:3, 3])
    gravity = np.array(leg.mechanism.gravity)
    acceleration = (speeds[2] - 2 * speeds[1] + speeds[0]) / h**2
    np.testing.assert_allclose(total, mass * (acceleration - gravity), rtol=2e-3, atol=0.05)
    largest = int(np.argmax(loads.forces))
    assert colors[largest].tolist() == [214, 40, 30] and loads.names[largest] in text


def test_loads_are_shown_when_asked_for(server: Any, leg: cld.Robot) -> None:
    window = Window(server, Look(server, leg))
    assert window.look.scene._loads is None
    window.panel.loads.value = True
    window.step(1.0, 0.02)
    assert window.look.scene._loads.points.shape == (9, 2, 3)
    assert "largest force" in window.panel._loads.content
    window.panel.loads.value = False
    window.step(2.0, 0.02)
    assert window.look.scene._loads is None and window.panel._loads.content == ""


def test_on_paper_what_is_nearer_covers_what_is_behind() -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    pose = np.eye(4)
    pose[:3, 3] = VIEW  # towards the reader
    red = Shape(SPHERE, pose, (0.2,), (200, 0, 0))
    box = Shape(BOX, np.eye(4), (1.0, 1.0, 1.0), (0, 0, 200))
    rod = Shape(CYLINDER, np.eye(4), (0.1, 2.0), (0, 200, 0))
    figure = draw_robot({-1: [red], 0: [box, rod]}, np.eye(4)[None])
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)
    rows, columns = (np.array(s) // 2 for s in pixels.shape[:2])
    assert np.argmax(pixels[rows, columns]) == 0 and pixels[rows, columns, 2] == 0
    plain = pixels.max(axis=-1) > pixels.min(axis=-1)  # not white
    counts = np.bincount(np.argmax(pixels[plain], axis=-1), minlength=3)
    assert counts[2] > counts[1] > 0 and counts[0] > 0  # the box hides the middle of the rod
