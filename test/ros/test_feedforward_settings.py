"""From parameters to what counts as disobedience."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy")

from closed_loop_dynamics.inspection.drive import DRIVE_BAR
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.ros.feedforward_settings import SETTINGS, policy, rules
from closed_loop_dynamics.shipped import shipped_robot


def test_constraints_are_those_of_their_names() -> None:
    import closed_loop_dynamics as cld

    files = shipped_robot("crank_leg")
    robot = cld.load(files.urdf, files.submechanisms, prepare=())
    limits = Limits.of(robot.mechanism.tree, robot.names.independent)
    given = {spec.name: spec.default for spec in SETTINGS}
    for name in limits.names:
        given |= {f"constraints.{name}.trajectory": 0.0, f"constraints.{name}.goal": 0.0}
    first, second, *_ = limits.names
    given |= {
        f"constraints.{first}.trajectory": 0.3,
        f"constraints.{second}.goal": 0.04,
        "constraints.stopped_velocity_tolerance": 0.5,
        "constraints.goal_time": 6.0,
    }
    found = policy(given, limits)  # type: ignore[arg-type]  # a mapping is enough
    rest = len(limits.names) - 2
    np.testing.assert_array_equal(found.path, [0.3, *[given["path_tolerance"]] * (1 + rest)])
    np.testing.assert_array_equal(found.goal, [np.inf, 0.04, *[np.inf] * rest])
    assert (found.goal_time, found.stopped) == (6.0, 0.5)
    np.testing.assert_allclose(found.fastest, given["overspeed"] * limits.velocity)


def test_the_bar_for_dead_points_of_the_drive_is_a_parameter() -> None:
    given = {spec.name: spec.default for spec in SETTINGS}
    assert rules(given).min_drive_margin == DRIVE_BAR  # type: ignore[arg-type]
    assert rules(given | {"min_drive_margin": 0.2}).min_drive_margin == 0.2  # type: ignore[arg-type]
