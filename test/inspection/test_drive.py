"""Dead points of the drive, by the geometry of a cylinder: it drives nothing where its line meets
the hinge."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.optimize import brentq
from support.shipped import shipped_files

import closed_loop_dynamics as cld
from closed_loop_dynamics.inspection.drive import DRIVE_BAR, drives
from closed_loop_dynamics.motion.trajectory import Points, Spline, TrajectoryRefused
from closed_loop_dynamics.motion.trajectory_check import Checker, Rules
from closed_loop_dynamics.shipped import model_files

URDF, LOOPS = (p.read_text(encoding="utf-8") for p in model_files()["lambda_rrpr"][1:])


def cylinder(upper: float, lower: float = -0.9) -> cld.Robot:
    """The lambda mechanism with other limits of its hinge, and none of its cylinder."""
    urdf = URDF.replace('lower="-0.9" upper="0.9"', f'lower="{lower}" upper="{upper}"')
    urdf = urdf.replace('lower="-0.1" upper="0.07"', 'lower="-5" upper="5"')
    return cld.load(urdf, LOOPS)


@pytest.fixture(scope="module")
def dead() -> float:
    """Where the line of the cylinder meets the hinge, from the joint positions alone."""
    robot = cylinder(0.9)

    def lever(y: float) -> float:
        tilt, rod = robot.pose("cylinder_tilt_link", [y]), robot.pose("cylinder_rod", [y])
        foot, along = tilt[:3, 3], rod[:3, 3] - tilt[:3, 3]
        hinge = robot.pose("arm", [y])[:3, 3]
        return float(np.cross(along, hinge - foot)[1])

    return float(brentq(lever, -2.5, -0.9, xtol=1e-12))


def dead_points(robot: cld.Robot) -> list[tuple[str, str]]:
    found = [f for f in robot.report().findings if f.code == "drive-dead-point"]
    return [(f.severity, f.message) for f in found]


def test_a_dead_point_within_the_limits_is_an_error_that_says_where(dead: float) -> None:
    ((severity, message),) = dead_points(cylinder(0.9, lower=dead - 0.2))
    assert severity == "error" and "cylinder cannot move or hold hinge" in message
    (where,) = re.findall(r"hinge = (\S+):", message)
    assert float(where) == pytest.approx(dead, rel=1e-3)


def test_near_one_is_a_warning_and_away_from_one_nothing(dead: float) -> None:
    ((severity, message),) = dead_points(cylinder(0.9, lower=dead + 1e-3))
    assert severity == "warning" and "close to a dead point" in message
    assert dead_points(cylinder(0.9, lower=dead + 0.1)) == []


def test_the_margin_is_the_smallest_singular_value_over_its_median(dead: float) -> None:
    robot = cylinder(0.9, lower=dead - 0.2)
    (drive,) = drives(robot.programs)
    y = np.array([[dead + 1e-4], [dead - 1e-4], [0.2]])
    margins = drive.margins(drive.of(robot.actuator_jacobian(y)))
    assert margins[0] > 0.0 > margins[1] and np.max(np.abs(margins[:2])) < DRIVE_BAR
    ratio = np.abs(robot.actuator_jacobian(y)[:, 0, 0])
    np.testing.assert_allclose(np.abs(margins) / margins[2], ratio / ratio[2], rtol=1e-12)


def test_trajectories_keep_the_same_distance(dead: float) -> None:
    robot = cylinder(0.9, lower=dead - 0.2)
    checker = Checker(robot, Rules())

    def motion(start: float, end: float) -> Spline:
        rest = np.zeros((2, 1))
        return Spline(Points(np.array([0.0, 5.0]), np.array([[start], [end]]), rest, rest))

    for end in (dead + 1e-3, dead - 0.1):
        with pytest.raises(TrajectoryRefused, match="dead point of the drive of 'lambda_rrpr' at"):
            checker.check(motion(0.0, end), 0.0)
    checker.check(motion(0.0, dead + 0.3), 0.0)


def test_shipped_robots_keep_away_from_dead_points() -> None:
    for drive in drives(cld.load(*shipped_files("crank_leg")).programs):
        assert drive.nearest()[1] > 0.3
