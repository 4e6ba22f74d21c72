"""What a task space refuses, and what it says: files, vectors, poses, singularities."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.manipulators import files, robot_of, task_of

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import ClosureNotFound, InvalidInput, SubmechanismError
from closed_loop_dynamics.model import read_submechanisms, read_urdf
from closed_loop_dynamics.model.poses import body_poses, link_pose
from closed_loop_dynamics.model.tree import Tree
from tools.robots.mechanisms import parallelogram

TASK = "  task_space: {platform: tool_tip, axes: [x, z]}\n"


@cache
def _tree() -> Tree:
    return read_urdf(files("irsbot2")[0])


def _read(task_space: str) -> None:
    text = files("irsbot2")[1].read_text(encoding="utf-8")
    assert TASK in text
    read_submechanisms(text.replace(TASK, task_space), _tree())


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("{platform: tol_tip, axes: [x]}", "task_space.platform", "did you mean 'tool_tip'"),
        ("{platform: base_link, axes: [x]}", "task_space.platform", "fixed to the root"),
        ("{platform: tool_tip, axes: [x, w]}", "task_space.axes[1]", "'w' is not an axis"),
        ("{platform: tool_tip, axes: [rol]}", "task_space.axes[0]", "did you mean 'roll'"),
        ("{platform: tool_tip, axes: [x, x]}", "task_space.axes[1]", "listed twice"),
        ("{platform: tool_tip, axes: []}", "task_space.axes", "at least one axis"),
        ("{platform: tool_tip}", "task_space", "no 'axes'"),
        ("{axes: [x, z]}", "task_space", "no 'platform'"),
        ("{platform: tool_tip, axis: [x]}", "task_space", "did you mean 'axes'"),
        ("tool_tip", "task_space", "platform: tool"),
    ],
)
def test_a_wrong_task_space_is_refused_with_its_place(line: str, place: str, message: str) -> None:
    with pytest.raises(SubmechanismError) as caught:
        _read(f"  task_space: {line}\n")
    assert f"submechanisms[0].{place}" in str(caught.value)
    assert message in str(caught.value)


def _loaded(name: str, old: str, new: str) -> cld.Robot:
    urdf, yaml = files(name)
    text = yaml.read_text(encoding="utf-8")
    assert old in text
    return cld.load(urdf, text.replace(old, new), solver="numerical")


def test_a_file_without_task_space_says_what_to_add() -> None:
    robot = _loaded("six_ups", "  task_space", "# ")
    with pytest.raises(SubmechanismError, match="add `task_space: "):
        robot.task_space()


def test_the_number_of_axes_must_fit_the_mechanism() -> None:
    robot = _loaded("six_ups", '[x, "y", z, roll, pitch, yaw]', '[x, "y", z]')
    with pytest.raises(SubmechanismError, match=r"3 axes .* has 6 degrees of freedom"):
        robot.task_space()


def test_axes_that_a_limb_cannot_follow_are_named() -> None:
    robot = _loaded("irsbot2", "[x, z]", "[x, yaw]")
    with pytest.raises(SubmechanismError, match="cannot move the platform along 'yaw'"):
        robot.task_space()


def test_a_platform_that_moves_aside_is_refused_where_it_does() -> None:
    """The coupler of a parallelogram translates along a circle: x alone does not describe it."""
    line = "  task_space: {platform: coupler_link, axes: [x]}\n"
    inclined, yaml = parallelogram.build()
    with pytest.raises(SubmechanismError, match="cannot move the platform along 'x'"):
        cld.load(inclined, yaml + line).task_space()
    upright, yaml = parallelogram.build(angle=90.0)  # along x only to first order
    task = cld.load(upright, yaml + line).task_space()
    task.inverse_kinematics(task.reference + 1e-6)
    with pytest.raises(ClosureNotFound, match="other degrees of freedom than its task_space says"):
        task.inverse_kinematics(task.reference + 0.01)


def test_a_joint_on_the_platform_is_refused() -> None:
    robot = _loaded("six_ups", "platform: platform", "platform: y_link")
    with pytest.raises(SubmechanismError, match="hangs on the platform"):
        robot.task_space()


def test_unknown_scheme_and_tolerance() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'nested'"):
        robot_of("irsbot2").task_space("nestd")
    with pytest.raises(InvalidInput, match="tolerance 1 is not between"):
        robot_of("irsbot2").task_space(tolerance=1.0)


@pytest.mark.parametrize("bad", [[0.0], [0.0, np.nan], [0.0, "a"], np.zeros((2, 2, 2)), None])
def test_vectors_are_checked(bad: object) -> None:
    task = task_of("irsbot2")
    with pytest.raises(InvalidInput, match="x"):
        task.inverse_kinematics(bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        task.inverse_dynamics(task.reference, bad, [0.0, 0.0])  # type: ignore[arg-type]


def test_batches_must_agree() -> None:
    task = task_of("irsbot2")
    with pytest.raises(InvalidInput, match="different length"):
        task.inverse_kinematics(np.zeros((3, 2)), np.zeros((4, 2)))


def test_poses_are_checked() -> None:
    task = task_of("irsbot2")
    pose = task.pose(task.reference)
    np.testing.assert_allclose(task.coordinates(pose), task.reference, atol=1e-14)
    turned = pose.copy()
    turned[:2, :2] = [[0.0, -1.0], [1.0, 0.0]]
    with pytest.raises(InvalidInput, match="y, roll, pitch, yaw must stay"):
        task.coordinates(turned)
    with pytest.raises(InvalidInput, match="not a rigid pose"):
        task.coordinates(2.0 * pose)
    with pytest.raises(InvalidInput, match=r"\(4, 4\)"):
        task.coordinates(pose[:3])


def test_a_pose_out_of_reach_names_the_limb_and_leaves_the_task_usable() -> None:
    task = task_of("irsbot2")
    before = task.inverse_dynamics(task.reference, [0.1, 0.2], [1.0, -1.0])
    with pytest.raises(ClosureNotFound, match="limb 'right_arm' of 'irsbot2' cannot follow"):
        task.inverse_kinematics(task.reference - np.array([0.0, 0.3]))
    with pytest.raises(ClosureNotFound):
        task.inverse_dynamics(task.reference - np.array([0.0, 0.3]), [0.0, 0.0], [0.0, 0.0])
    after = task.inverse_dynamics(task.reference, [0.1, 0.2], [1.0, -1.0])
    np.testing.assert_allclose(after, before, rtol=1e-12)


@pytest.mark.parametrize("name", ["irsbot2", "delta", "six_ups"])
def test_a_pose_out_of_reach_tells_the_sample_and_how_far_the_way_went(name: str) -> None:
    task, tree = task_of(name), robot_of(name).mechanism.tree
    x = task.reference.copy()
    x[-1 if name == "irsbot2" else 0] -= 3.0
    with pytest.raises(ClosureNotFound) as caught:
        task.inverse_kinematics(np.array([task.reference, x]))
    error = caught.value
    assert error.sample == 1
    q = dict(zip(robot_of(name).names.spanning, error.last_good_q, strict=True))
    last = task.coordinates(link_pose(tree, body_poses(tree, q), task.platform))
    part = (last - task.reference) @ (x - task.reference) / 9.0
    np.testing.assert_allclose(last, task.reference + part * (x - task.reference), atol=1e-8)
    assert 0.01 < part < 1.0
    assert error.residual == pytest.approx(3.0 * (1.0 - part), rel=1e-5)
    inside = task.reference + (1.0 - 1e-3) * (last - task.reference)
    near = task.inverse_kinematics(inside).q  # the same assembly, all limbs closed
    np.testing.assert_allclose(error.last_good_q, near, atol=0.2)
    with pytest.raises(ClosureNotFound):
        task.inverse_kinematics(task.reference + (1.0 + 1e-3) * (last - task.reference))


def test_an_empty_batch_has_an_empty_answer() -> None:
    task, robot = task_of("irsbot2"), robot_of("irsbot2")
    nothing = np.zeros((0, 2))
    state, one = task.inverse_kinematics(nothing), task.inverse_kinematics(task.reference)
    for name in ("x", "q", "qd", "qdd", "u", "ud", "udd", "theta", "iterations"):
        assert getattr(state, name).shape == (0, *getattr(one, name).shape)
    assert state.platform_residual.shape == state.loop_residual.shape == (0,)
    assert task.inverse_dynamics(nothing, nothing, nothing).shape == (0, robot.p)


def test_a_guess_must_be_a_state() -> None:
    task = task_of("irsbot2")
    with pytest.raises(InvalidInput, match="guess is not one state"):
        task.inverse_kinematics(task.reference, guess=np.zeros(3))  # type: ignore[arg-type]


def test_the_six_ups_ends_before_its_angles_do() -> None:
    task = task_of("six_ups")
    with pytest.raises((InvalidInput, ClosureNotFound)):
        task.inverse_kinematics(task.reference + np.array([0.0, 0.0, 0.0, 0.0, 0.5 * np.pi, 0.0]))


def test_lost_actuation_is_an_exception() -> None:
    """Turned by 90 degrees the six lines of a Stewart platform form one complex (Hunt)."""
    task = task_of("six_ups")
    turn = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    singular = [task.conditioning(task.reference + a * turn).actuation for a in (0.0, 0.5, 1.0)]
    assert singular[0] > singular[1] > singular[2]
    x = task.reference + 0.5 * np.pi * turn
    with pytest.raises(cld.errors.ActuationSingular, match="cannot hold the platform"):
        task.inverse_dynamics(x, np.zeros(6), np.zeros(6))
