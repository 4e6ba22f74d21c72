"""The viewer without a browser: what sliders, player and messages do to the scene."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.drawn import drawn_at

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.mistakes import FileProblem
from closed_loop_dynamics.cli.motion_file import motion_of
from closed_loop_dynamics.cli.tables import Table, read_csv
from closed_loop_dynamics.viewer.export import as_html, force_curves
from closed_loop_dynamics.viewer.live import Listener
from closed_loop_dynamics.viewer.playback import Playback, from_file, sweep
from closed_loop_dynamics.viewer.window import Look, Window, short_mode
from tools.robots import crank_leg


@pytest.fixture
def look(server: Any, leg: cld.Robot) -> Look:
    return Look(server, leg)


def motion(leg: cld.Robot, seconds: float = 1.0) -> Playback:
    times = np.linspace(0.0, seconds, 21)
    wave = np.sin(2 * np.pi * times / seconds)
    values = np.column_stack([times, 0.3 * wave, 0.8 + 0.6 * wave, -0.2 * wave])
    return from_file(leg, motion_of(leg, Table(("time", "hip", "knee", "ankle"), values, "wave")))


def drag(window: Window, joint: str, value: float) -> None:
    """What viser does when a person moves a slider."""
    window.panel.sliders[joint].value = value
    window.panel._moved.append(joint)


def place(window: Window, joint: str) -> np.ndarray:
    body = window.robot.mechanism.tree.joint_index(joint)
    return drawn_at(window.look.scene, window.robot, body)[:3, 3]


def test_slider_moves_the_links_that_depend_on_it(server: Any, look: Look) -> None:
    window = Window(server, look)
    before = place(window, "knee_cylinder")
    drag(window, "knee", 1.0)
    window.step(1.0, 0.02)
    after = place(window, "knee_cylinder")
    assert np.linalg.norm(after - before) > 0.01
    expected = look.robot.pose("knee_cylinder_rod", [0.0, 1.0, 0.0])[:3, 3]
    np.testing.assert_allclose(after, expected, atol=1e-9)
    assert window.panel.status_text == "all loops are closed"


def test_out_of_reach_stays_at_the_last_good_state_and_says_so(server: Any, look: Look) -> None:
    window = Window(server, look)
    drag(window, "ankle", 0.3)
    window.step(1.0, 0.02)
    good = window.snapshot
    drag(window, "ankle", 2.5)
    window.step(2.0, 0.02)
    assert window.snapshot is good
    assert window.panel.status_text.startswith("out of reach")
    assert "ankle" in window.panel.status_text
    window.step(2.5, 0.02)
    assert window.panel.sliders["ankle"].value == 2.5
    window.step(3.0, 0.02)
    assert window.panel.sliders["ankle"].value == pytest.approx(0.3)


def test_actuators_have_the_colour_of_their_force(server: Any, look: Look) -> None:
    window = Window(server, look)
    drag(window, "knee", 1.5)
    window.step(1.0, 0.02)
    k = look.robot.names.actuator.index("knee_cylinder")
    (red, _, blue), force = look.scene.actuators[k][0].color, window.snapshot.tau[k]
    assert abs(force) > 1.0 and (red > blue) == (force > 0)
    assert f"{force:.1f} N" in window._forces.content


def test_limit_of_an_actuator_is_told(server: Any, look: Look, leg: cld.Robot) -> None:
    window = Window(server, look)
    drag(window, "knee", 1.9)
    window.step(1.0, 0.02)
    assert "past a limit" in window.panel.status_text
    assert "knee_cylinder" in window.panel.status_text


def test_player_plays_pauses_scrubs_and_repeats(server: Any, look: Look, leg: cld.Robot) -> None:
    shown = motion(leg)
    window = Window(server, look, shown)
    window.step(1.0, 0.25)
    np.testing.assert_allclose(window.snapshot.y[1], 1.4, atol=0.01)
    np.testing.assert_allclose(window.panel.sliders["knee"].value, window.snapshot.y[1])
    k = shown.frame(0.25)
    np.testing.assert_array_equal(window.snapshot.tau, shown.tau[k])
    assert window.player is not None
    window.player.play(False)
    window.step(1.1, 0.25)
    assert window.player.time == pytest.approx(0.25)
    window.player.play(True)
    window.step(1.2, 1.0)  # past the end: starts anew
    assert window.player.time == pytest.approx(0.25)
    drag(window, "hip", 0.1)
    window.step(1.3, 0.02)
    assert not window.player.playing and window.snapshot.y[0] == pytest.approx(0.1)


def test_live_messages_move_the_robot_and_bad_ones_do_not(server: Any, look: Look) -> None:
    listener = Listener()
    window = Window(server, look, listener=listener)
    listener.hear(
        SimpleNamespace(name=look.robot.names.independent, position=[0.1, 0.9, 0.2], effort=[])
    )
    window.step(window._heard + 0.1, 0.02)
    np.testing.assert_allclose(window.snapshot.y, [0.1, 0.9, 0.2])
    listener.hear(SimpleNamespace(name=["hip"], position=[0.5], effort=[]))
    window.step(window._heard + 0.1, 0.02)
    assert "missing" in window.panel.status_text and window.snapshot.y[0] == 0.1
    window.step(window._heard + 3.0, 0.02)
    assert "no joint states" in window.panel.status_text


def test_forces_of_a_trajectory_are_inverse_dynamics(leg: cld.Robot, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("time,hip,knee,ankle\n0,0,0.2,0\n0.5,0.1,0.9,-0.2\n1,0,0.2,0\n")
    table = motion_of(leg, read_csv(str(path)))
    shown = from_file(leg, table)
    assert len(shown.times) == 51 and shown.duration == 1.0
    k = shown.frame(0.5)
    expected = leg.inverse_dynamics(table.y[1], table.yd[1], table.ydd[1])
    np.testing.assert_allclose(shown.tau[k], expected, atol=1e-6)


def test_row_out_of_reach_is_named(leg: cld.Robot, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("time,hip,knee,ankle\n0,0,0.2,0\n0.5,0,0.2,2.5\n1,0,0.2,0\n")
    with pytest.raises(FileProblem, match=r"row 2 \(line 3\).*ankle"):
        from_file(leg, motion_of(leg, read_csv(str(path))))


def test_free_base_rests_and_its_joints_move(server: Any) -> None:
    robot = cld.load(*crank_leg.generate(), floating_base=True)
    window = Window(server, Look(server, robot))
    assert list(window.panel.sliders) == ["hip", "knee", "ankle"]
    drag(window, "knee", 1.0)
    window.step(1.0, 0.02)
    np.testing.assert_allclose(window.snapshot.y, [0, 0, 0, 0, 0, 0, 1, 0, 1.0, 0])
    assert window.snapshot.tau is not None and window.panel.status_text == "all loops are closed"


def test_sweep_moves_every_joint_through_its_range(look: Look) -> None:
    shown = sweep(look.camera, look.ranges)
    for k, (low, high) in enumerate(look.ranges.values()):
        assert shown.y[:, k].min() == pytest.approx(low, abs=0.02)
        assert shown.y[:, k].max() == pytest.approx(high, abs=0.02)


def test_export_needs_nothing_from_elsewhere(server: Any, look: Look, leg: cld.Robot) -> None:
    page = as_html(server, look, motion(leg), "crank <leg>")
    assert "crank &lt;leg&gt;" in page and "__VISER_EMBED_DATA__" in page
    for word in (
        'src="http',
        "src='http",
        'href="http',
        "href='http",
        "@import",
        "//cdn",
        "//unpkg",
    ):
        assert word not in page


def test_export_has_the_force_curves(server: Any, look: Look, leg: cld.Robot) -> None:
    shown = motion(leg)
    assert shown.tau is not None
    page = force_curves(leg, shown)
    assert page.count("<svg") == 2 and page.count("<path") == leg.p  # N and N·m
    (text,) = re.findall(r"const tau = (\[.*?\]\]),", page)
    np.testing.assert_allclose(np.array(json.loads(text))[-1], shown.tau[-1], rtol=5e-3)
    assert page in as_html(server, look, shown, "leg")


def test_forces_without_a_value_leave_gaps(leg: cld.Robot) -> None:
    shown = motion(leg)
    tau = np.array(shown.tau)
    tau[len(tau) // 2, 0] = np.nan
    page = force_curves(leg, replace(shown, tau=tau))
    assert "null" in page and "NaN" not in page.replace("isNaN", "")
    assert [d.count("M") for d in re.findall(r'<path d="(.*?)"', page)] == [2, 1, 1]
    assert force_curves(leg, replace(shown, tau=None)) == ""
    assert force_curves(leg, replace(shown, tau=np.full_like(tau, np.nan))) == ""


def test_modes_of_equal_legs_are_named_once() -> None:
    assert short_mode("leg1.rod_out leg1.up leg2.rod_out leg2.up") == "rod_out up (all 2 legs)"
    assert short_mode("leg1.rod_out leg2.rod_in") == "leg1.rod_out leg2.rod_in"
    assert short_mode("elbow_up") == "elbow_up" and short_mode("current") == "as reference"


def test_pages_cannot_share_the_view_through_a_relay(server: Any) -> None:
    assert server.request_share_url() is None
