"""The demo: the foot goes where it says, both ways to run it work."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.command_line import main
from closed_loop_dynamics.cli.demo.recording import UpAndDown
from closed_loop_dynamics.shipped import shipped_robot


def test_the_foot_goes_up_and_down_level_and_below_the_hip() -> None:
    leg = shipped_robot("rh5_leg")
    robot = cld.load(leg.urdf, leg.submechanisms)
    motion = UpAndDown.of(leg.sample, robot)
    start, points = motion.start, motion.points
    poses = [robot.pose("foot", y) for y in (start, *points.positions)]
    assert np.ptp([pose[2, 3] for pose in poses]) == pytest.approx(0.15, abs=1e-3)
    assert max(np.abs(pose[:3, :3] - np.eye(3)).max() for pose in poses) < 1e-9
    assert max(np.abs(pose[:2, 3]).max() for pose in poses) < 1e-9
    np.testing.assert_array_equal(points.positions[-1], start)
    assert np.all(np.diff(points.times) > 0.0)


def expect_a_leg_that_tracks(output: str, picture: Path) -> None:
    errors = re.findall(r"^  \w+ .* rad +\S+ +(\S+) rad$", output, re.MULTILINE)
    assert len(errors) == 6 and max(map(float, errors)) < 1e-3, output
    gap = re.search(r"largest gap of a loop +(\S+) m", output)
    assert gap and float(gap[1]) < 1e-8
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_offline_demo_tracks_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "demo.png"
    assert main(["demo", "--offline", "--output", str(picture)]) == 0
    output = capsys.readouterr().out
    expect_a_leg_that_tracks(output, picture)
    assert "by the library alone" in output


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
    expect_a_leg_that_tracks(run.stdout, picture)
    assert "control rate" in run.stdout
    told = re.search(
        r"supervisor +(?:off +.*\n +)?holding +activated\n +tracking +.*\n +holding +(.*)",
        run.stdout,
    )
    assert told and told[1] == "the motion has ended"
