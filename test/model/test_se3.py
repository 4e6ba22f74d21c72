"""Poses, quaternions and twists against scipy, matrix exponentials and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from closed_loop_dynamics import se3
from closed_loop_dynamics.errors import InvalidInput

ANGLES = [0.0, 1e-12, 1e-8, 1e-5, 9e-3, 1.1e-2, 0.3, 2.0, np.pi - 1e-6]
RNG = np.random.default_rng(11)


def quaternions(n=20):
    return Rotation.random(n, random_state=3).as_quat()


def twists(angle, n=20):
    """[angular; linear] with turns by ``angle``."""
    axes = RNG.normal(size=(n, 3))
    axes *= angle / np.linalg.norm(axes, axis=1, keepdims=True)
    return np.concatenate([axes, RNG.normal(size=(n, 3))], axis=1)


def matrix(pose):
    return se3.pose(Rotation.from_quat(pose[3:]).as_matrix(), pose[:3])


def hat(twist):
    """(4, 4) of a twist in se(3)."""
    result = np.zeros((4, 4))
    result[:3, :3] = np.cross(np.eye(3), twist[:3]).T @ -np.eye(3)
    result[:3, 3] = twist[3:]
    return result


def test_hat_is_the_cross_product():
    w, v = RNG.normal(size=(2, 3))
    np.testing.assert_allclose(hat([*w, 0, 0, 0])[:3, :3] @ v, np.cross(w, v), atol=1e-15)


def test_angles_of_urdf_are_fixed_axes_and_zero_is_exact():
    for rpy in RNG.uniform(-4, 4, (20, 3)):
        expected = Rotation.from_euler("xyz", rpy).as_matrix()
        np.testing.assert_allclose(se3.rpy_rotation(rpy), expected, atol=1e-15)
    np.testing.assert_array_equal(se3.origin_pose([1, 2, 3], [0, 0, 0])[:3, :3], np.eye(3))


@pytest.mark.parametrize("angle", ANGLES)
def test_rotation_about_an_axis(angle):
    for axis in Rotation.random(5, random_state=4).apply([0.0, 0.0, 1.0]):
        expected = Rotation.from_rotvec(angle * axis).as_matrix()
        np.testing.assert_allclose(se3.axis_rotation(axis, angle), expected, atol=1e-15)


def test_inverse_undoes_a_pose():
    T = se3.origin_pose([1, 2, 3], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(se3.inverse(T) @ T, np.eye(4), atol=1e-15)


def test_unit_survives_numbers_whose_squares_do_not():
    for scale in (1e-300, 1.0, 1e300):
        np.testing.assert_allclose(se3.unit([3 * scale, 0, 4 * scale]), [0.6, 0, 0.8], rtol=1e-15)
    assert se3.unit([0.0, 0.0]) is None


def test_products_and_rotations_are_those_of_scipy():
    a, b, v = quaternions(), quaternions()[::-1], RNG.normal(size=(20, 3))
    product = (Rotation.from_quat(a) * Rotation.from_quat(b)).as_matrix()
    ours = Rotation.from_quat(se3.product(a, b)).as_matrix()
    np.testing.assert_allclose(ours, product, atol=1e-14)
    np.testing.assert_allclose(se3.rotate(a, v), Rotation.from_quat(a).apply(v), atol=1e-14)
    back = se3.rotate(se3.conjugate(a), se3.rotate(a, v))
    np.testing.assert_allclose(back, v, atol=1e-14)


def test_lengths_multiply():
    a, b = RNG.normal(size=(2, 4))
    length = np.linalg.norm(se3.product(a, b))
    assert length == pytest.approx(np.linalg.norm(a) * np.linalg.norm(b), rel=1e-14)


@pytest.mark.parametrize("angle", [*ANGLES, 5.0])
def test_move_is_the_exponential_of_a_twist(angle):
    poses = np.concatenate([RNG.normal(size=(20, 3)), quaternions()], axis=1)
    for pose, twist in zip(poses, twists(angle), strict=True):
        expected = matrix(pose) @ expm(hat(twist))
        np.testing.assert_allclose(matrix(se3.move(pose, twist)), expected, atol=5e-14)


@pytest.mark.parametrize("angle", ANGLES)
def test_logarithm_inverts_move_to_full_relative_accuracy(angle):
    origin = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    given = twists(angle)
    moved = se3.move(np.broadcast_to(origin, (20, 7)), given)
    found = se3.logarithm(moved[:, 3:], moved[:, :3])
    scale = max(angle, 1e-300)
    np.testing.assert_allclose(found[:, :3] / scale, given[:, :3] / scale, atol=1e-9)
    np.testing.assert_allclose(found[:, 3:], given[:, 3:], atol=1e-9 if angle > 3 else 1e-13)
    np.testing.assert_allclose(se3.logarithm(-moved[:, 3:], moved[:, :3]), found, atol=1e-9)
    one = [se3.logarithm(each[3:], each[:3]) for each in moved]
    np.testing.assert_array_equal(one, found)


def test_a_small_twist_is_the_rate_of_the_pose():
    """pose exp(h twist) leaves a pose at the velocity R v and the quaternion rate q (w, 0) / 2."""
    h = 1e-6
    for quaternion, twist in zip(quaternions(), twists(1.0), strict=True):
        pose = np.concatenate([[1.0, 2.0, 3.0], quaternion])
        rate = (se3.move(pose, h * twist) - se3.move(pose, -h * twist)) / (2 * h)
        turning = 0.5 * se3.product(quaternion, np.append(twist[:3], 0.0))
        expected = np.concatenate([se3.rotate(quaternion, twist[3:]), turning])
        np.testing.assert_allclose(rate, expected, atol=1e-9)


def test_quaternions_without_direction_are_refused():
    with pytest.raises(InvalidInput, match="no length"):
        se3.unit_quaternion(np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1e-7]]))
    np.testing.assert_allclose(se3.unit_quaternion(np.array([0, 0, 3.0, 4.0])), [0, 0, 0.6, 0.8])
