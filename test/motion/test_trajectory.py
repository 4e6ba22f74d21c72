"""Splines by the rules of joint_trajectory_controller."""

from __future__ import annotations

import numpy as np
import pytest

from closed_loop_dynamics.motion.trajectory import (
    Points,
    Setpoint,
    Spline,
    TrajectoryRefused,
    cycloidal,
)


def polynomial(coefficients: list[float]) -> list[np.polynomial.Polynomial]:
    p = np.polynomial.Polynomial(coefficients)
    return [p, p.deriv(), p.deriv(2)]


@pytest.mark.parametrize("order", [1, 3, 5])
def test_spline_reproduces_the_polynomial_of_its_order(order: int) -> None:
    p, v, a = polynomial([0.3, -0.7, 0.4, 0.9, -0.2, 0.1][: order + 1])
    times = np.array([0.5, 0.9, 2.0])
    points = Points.of(
        times,
        [[p(t)] for t in times],
        [[v(t)] for t in times] if order >= 3 else None,
        [[a(t)] for t in times] if order >= 5 else None,
    )
    spline = Spline(points, start=10.0)
    for t in np.linspace(0.5, 1.999, 50):
        m = spline.sample(10.0 + t)
        np.testing.assert_allclose([m.y[0], m.yd[0], m.ydd[0]], [p(t), v(t), a(t)], atol=1e-9)


def test_velocity_and_acceleration_are_derivatives_of_position() -> None:
    spline = Spline(cycloidal([0.0, 1.0], [1.0, -1.0], 2.0, count=7), before=rest(0.0, [0.0, 1.0]))
    h = 1e-6
    for t in np.linspace(0.01, 1.99, 37):
        low, mid, high = (spline.sample(t + k * h) for k in (-1, 0, 1))
        np.testing.assert_allclose((high.y - low.y) / (2 * h), mid.yd, atol=1e-6)
        np.testing.assert_allclose((high.yd - low.yd) / (2 * h), mid.ydd, atol=1e-5)


def test_segments_of_one_trajectory_may_be_of_different_order() -> None:
    points = Points.of([1.0, 2.0, 3.0], [[0.0], [1.0], [1.0]], [[], [0.0], [0.0]])
    spline = Spline(points)
    assert spline.sample(1.5).y[0] == pytest.approx(0.5)
    assert spline.sample(1.5).yd[0] == pytest.approx(1.0)
    assert spline.sample(2.5).yd[0] == pytest.approx(0.0)


def test_lead_in_starts_at_the_running_motion() -> None:
    before = Setpoint(4.0, np.array([0.2]), np.array([0.5]), np.array([-1.0]))
    spline = Spline(Points.of([1.0], [[1.0]], [[0.0]], [[0.0]]), start=4.0, before=before)
    m = spline.sample(4.0)
    np.testing.assert_allclose([m.y[0], m.yd[0], m.ydd[0]], [0.2, 0.5, -1.0])
    assert spline.sample(4.999999).y[0] == pytest.approx(1.0, abs=1e-6)


def test_trajectory_that_began_in_the_past_is_joined_under_way() -> None:
    points = Points.of([0.0, 1.0], [[0.0], [1.0]])
    spline = Spline(points, start=4.0, before=rest(4.5, [0.3]))
    assert spline.sample(4.5).y[0] == pytest.approx(0.5)


def test_rests_at_the_end() -> None:
    spline = Spline(Points.of([0.0, 1.0], [[0.0], [1.0]]))
    m = spline.sample(7.0)
    assert (m.y[0], m.yd[0], m.ydd[0]) == (1.0, 0.0, 0.0)


def test_cycloidal_motion_is_at_rest_at_both_ends() -> None:
    points = cycloidal([0.0], [2.0], 3.0)
    assert points.positions[-1, 0] == pytest.approx(2.0)
    np.testing.assert_allclose(points.velocities[-1], 0.0, atol=1e-12)
    np.testing.assert_allclose(points.accelerations[-1], 0.0, atol=1e-12)
    spline = Spline(points, before=rest(0.0, [0.0]))
    assert spline.sample(1.5).y[0] == pytest.approx(1.0)


def test_grid_has_all_points_and_is_bounded() -> None:
    spline = Spline(Points.of([0.0, 0.123, 1000.0, 1000.2], [[0.0], [0.1], [0.2], [0.3]]))
    times = spline.grid(0.01)
    assert set(spline.times) <= set(times) and np.all(np.diff(times) > 0.0)
    assert len(times) == 13 + 1000 + 20 + 1
    end = times[times >= 1000.0]
    assert np.diff(end).max() < 0.0101  # a long rest does not make the rest of it coarse


def test_endless_grid_is_refused() -> None:
    spline = Spline(Points.of(np.arange(201) * 100.0, np.zeros((201, 1))))
    with pytest.raises(TrajectoryRefused, match=r"200000 samples .* more than 100000"):
        spline.grid(0.01)


def test_table_is_made_of_samples() -> None:
    rng = np.random.default_rng(4)
    points = Points.of([0.0, 0.4, 1.0], *(rng.normal(size=(3, 2)) for _ in range(3)))
    for spline in (Spline(points, 5.0), Spline.resting(np.array([1.0, 2.0]), 5.0)):
        times = np.array([4.0, 5.0, 5.2, 5.4, 5.9, 6.0, 7.0])
        for t, *row in zip(times, *spline.table(times), strict=True):
            motion = spline.sample(float(t))
            np.testing.assert_allclose(row, [motion.y, motion.yd, motion.ydd], rtol=1e-13)


@pytest.mark.parametrize(
    ("times", "positions", "velocities", "accelerations", "reason"),
    [
        ([], [], None, None, "no points"),
        ([1.0, 1.0], [[0.0], [0.0]], None, None, "times must increase"),
        ([2.0, 1.0], [[0.0], [0.0]], None, None, "times must increase"),
        ([-1.0, 1.0], [[0.0], [0.0]], None, None, "negative"),
        ([np.nan], [[0.0]], None, None, "time is not finite"),
        ([1.0], [[np.nan]], None, None, "positions that are not finite"),
        ([1.0], [[0.0]], [[np.inf]], None, "velocities that are not finite"),
        ([1.0, 2.0], [[], [0.0]], None, None, "point 0 has no positions"),
        ([1.0, 2.0], [[0.0], []], None, None, "point 1 has no positions"),
        ([1.0, 2.0], [[0.0], [0.0, 1.0]], None, None, "point 1 has 2 positions for 1 joints"),
        ([1.0], [[0.0]], [[0.0, 1.0]], None, "point 0 has 2 velocities"),
        ([1.0], [[0.0]], None, [[0.0]], "accelerations, no velocities"),
    ],
)
def test_bad_points_are_refused_with_the_reason(
    times: list[float],
    positions: list[list[float]],
    velocities: list[list[float]] | None,
    accelerations: list[list[float]] | None,
    reason: str,
) -> None:
    with pytest.raises(TrajectoryRefused, match=reason):
        Points.of(times, positions, velocities, accelerations)


def rest(time: float, y: list[float]) -> Setpoint:
    return Setpoint(time, np.array(y), np.zeros(len(y)), np.zeros(len(y)))


def test_short_segments_are_looked_into() -> None:
    rest = np.zeros(1)
    points = Points.of([0.5, 0.501], [[0.0], [0.4]], [rest, rest], [rest, rest])
    spline = Spline(points, 0.0, Setpoint(0.0, rest, rest, rest))
    fastest = max(abs(spline.sample(float(t)).yd[0]) for t in spline.grid(0.01))
    assert fastest > 500.0  # 15/8 of the mean speed
