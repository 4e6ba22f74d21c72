"""Platform trajectories become joint motions, or are refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest
from support.manipulators import robot_of

from closed_loop_dynamics.motion.task_trajectory import TaskCommands, TaskSpline
from closed_loop_dynamics.motion.trajectory import Setpoint, Spline, TrajectoryRefused, cycloidal
from closed_loop_dynamics.motion.trajectory_check import Checker, Rules


@pytest.fixture(scope="module")
def commands() -> TaskCommands:
    found = TaskCommands.of(robot_of("irsbot2"))
    assert found is not None
    return found


def _to(commands: TaskCommands, change: tuple[float, float], duration: float = 1.0) -> TaskSpline:
    start = commands.task.reference
    before = Setpoint(0.0, np.zeros(2), np.zeros(2), np.zeros(2))
    goal = start + np.array(change)
    return commands.spline(cycloidal(start, goal, duration), 0.0, before)


def test_the_platform_goes_straight_and_the_joints_follow(commands: TaskCommands) -> None:
    spline = _to(commands, (0.1, 0.05))
    robot, task = commands.robot, commands.task
    table = Checker(robot, Rules()).check(spline, 0.0)
    for k in (0, 30, 50, len(table.times) - 1):
        motion = spline.sample(float(table.times[k]))
        x = task.coordinates(robot.pose(task.platform, motion.y))
        np.testing.assert_allclose(x, motion.x, atol=1e-10)
        along = (x - task.reference) @ np.array([0.05, -0.1])  # nothing beside the straight line
        assert abs(along) < 1e-10
        np.testing.assert_allclose(
            table.tau[k], task.inverse_dynamics(motion.x, motion.xd, motion.xdd), atol=1e-8
        )


def test_a_motion_of_joints_is_taken_over_without_a_jump(commands: TaskCommands) -> None:
    rng = np.random.default_rng(1)
    running = Setpoint(0.5, *(0.1 * rng.normal(size=(3, 2))))
    back = commands.joints(commands.platform(running))
    for name in ("y", "yd", "ydd"):
        np.testing.assert_allclose(getattr(back, name), getattr(running, name), atol=1e-10)
    spline = commands.spline(cycloidal((0.0, 0.0), (0.05, -0.6), 1.0), 0.5, running)
    np.testing.assert_allclose(spline.sample(0.5).y, running.y, atol=1e-10)
    np.testing.assert_allclose(spline.sample(0.5).yd, running.yd, atol=1e-10)


@pytest.mark.parametrize(
    ("change", "duration", "reason"),
    [
        ((0.0, -0.3), 2.0, r"not reachable at \d\.\d+ s: limb 'right_arm'"),
        ((0.0, 0.31), 2.0, r"_arm = .* is outside \[-1, 1\]"),
        ((0.1, 0.0), 0.02, r"speed .* of .* is above its limit"),
        ((0.15, 0.0), 0.08, r"effort .* of .*_arm is above its limit 300"),
    ],
)
def test_impossible_platform_motions_are_refused(
    commands: TaskCommands, change: tuple[float, float], duration: float, reason: str
) -> None:
    with pytest.raises(TrajectoryRefused, match=reason):
        Checker(commands.robot, Rules()).check(_to(commands, change, duration), 0.0)


def test_singularities_of_limbs_are_kept_at_a_distance(commands: TaskCommands) -> None:
    spline = _to(commands, (0.0, -0.168), 2.0)
    times = Checker(commands.robot, Rules()).check(spline, 0.0).times
    spline.refuse_singular(times, 1e-3)
    with pytest.raises(TrajectoryRefused, match=r"limb '.*_arm' is too near a singularity at 1"):
        spline.refuse_singular(times, 0.07)


def test_robots_without_a_platform_have_no_task_commands(leg: object) -> None:
    assert TaskCommands.of(leg) is None  # type: ignore[arg-type]


def test_a_joint_spline_stays_what_it_is(commands: TaskCommands) -> None:
    assert not isinstance(Spline.resting(np.zeros(2), 0.0), TaskSpline)
