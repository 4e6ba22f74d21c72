"""The foot of Kumar and Mueller 2019 goes where it says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.trajectory import Setpoint, Spline
from tools.reproduce.foot_motion import FOOT, FootKinematics, Stroke, foot_motion
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
