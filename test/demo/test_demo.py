"""The demo: the foot goes where it says, both ways to run it work."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.command_line import main
from closed_loop_dynamics.cli.demo.foot_motion import FOOT, FootKinematics, Stroke, foot_motion
from closed_loop_dynamics.motion.trajectory import Setpoint, Spline
from tools.robots import rh5_leg


@cache
def leg() -> cld.Robot:
    return cld.load(*rh5_leg.generate())


def test_foot_rises_by_its_height_and_stays_level_below_the_hip() -> None:
    stroke = Stroke()
    start, points = foot_motion(leg(), stroke)
    zero = np.zeros(leg().m)
    spline = Spline(points, 0.0, Setpoint(0.0, start, zero, zero))
    poses = [leg().pose(FOOT, spline.sample(t).y) for t in np.linspace(0.0, stroke.duration, 101)]
    heights = np.array([pose[2, 3] for pose in poses])
    assert np.ptp(heights) == pytest.approx(0.15, abs=1e-6)
    assert max(np.abs(pose[:3, :3] - np.eye(3)).max() for pose in poses) < 1e-5
    assert max(np.abs(pose[:2, 3]).max() for pose in poses) < 1e-5


def test_velocities_and_accelerations_are_derivatives_of_the_positions() -> None:
    start, points = foot_motion(leg(), Stroke(times=1))
    zero = np.zeros(leg().m)
    spline = Spline(points, 0.0, Setpoint(0.0, start, zero, zero))
    times = np.linspace(0.1, 1.9, 40)
    y_after, _, _ = spline.table(times + 1e-5)
    y_before, _, _ = spline.table(times - 1e-5)
    _, yd, ydd = spline.table(times)
    np.testing.assert_allclose((y_after - y_before) / 2e-5, yd, atol=1e-6)
    # Between its points the spline must do nothing that the points do not say.
    assert np.abs(ydd).max() < 1.2 * np.abs(points.accelerations).max()


def test_a_foot_out_of_reach_is_an_error() -> None:
    with pytest.raises(ValueError, match="cannot reach"):
        FootKinematics(leg()).solve(-0.2, np.array([0.0, 0.0, -0.3, 0.6, 0.0, -0.3]))


def test_offline_demo_prints_a_table_and_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--offline", "--output", str(tmp_path / "demo.png")]) == 0
    assert "forward after inverse dynamics" in capsys.readouterr().out
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_demo_without_rclpy_says_so_and_goes_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["demo", "--output", str(tmp_path / "demo.png")]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "rclpy is not installed (extra `ros`): this is the demo without ROS"


@pytest.mark.ros
@pytest.mark.slow
def test_demo_on_real_middleware_tracks_and_draws(tmp_path: Path) -> None:
    pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")
    picture = tmp_path / "demo.png"
    run = subprocess.run(
        [sys.executable, "-m", "closed_loop_dynamics", "demo", "--output", str(picture)],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    errors = re.findall(r"^  \w+ .* rad +\S+ +(\S+) rad$", run.stdout, re.MULTILINE)
    assert len(errors) == 6 and max(map(float, errors)) < 1e-3, run.stdout
    gap = re.search(r"largest gap of a loop +(\S+) m", run.stdout)
    assert gap and float(gap[1]) < 1e-8
    assert "control rate" in run.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
