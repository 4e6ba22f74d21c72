"""Ten seconds of free flight at 1 kHz: momentum and energy stay, or change as gravity says."""

from __future__ import annotations

import numpy as np
import pytest

import closed_loop_dynamics as cld

Array = np.ndarray
BAR = 1e-8


def fly(robot: cld.Robot, y: Array, yd: Array) -> dict[str, float]:
    """Worst drift of energy, angular and linear momentum, relative to their scales, over 10 s."""
    g = np.array(robot.mechanism.gravity)
    start, h0 = sum(robot.energy(y, yd)), robot.centroidal_momentum(y, yd)
    worst, scale = np.zeros(3), np.full(3, 1e-300)
    for k in range(100):
        y, yd = robot.step(y, yd, np.zeros(robot.p), 1e-3, steps=100)
        energy, h = robot.energy(y, yd), robot.centroidal_momentum(y, yd)
        fallen = robot.total_mass * g * (k + 1) / 10
        drift = abs(sum(energy) - start), h[:3] - h0[:3], h[3:] - h0[3:] - fallen
        worst = np.maximum(worst, [np.max(np.abs(d)) for d in drift])
        sizes = energy.kinetic, np.linalg.norm(h[:3]), np.linalg.norm(h[3:])
        scale = np.maximum(scale, sizes)
    assert robot.state(y).residual <= 1e-10
    return dict(zip(("energy", "angular", "linear"), worst / scale, strict=True))


def neutral(robot: cld.Robot, joints: list[float]) -> Array:
    return np.array([0.3, -0.1, 1.0, 0.1, -0.2, 0.3, 0.9, *joints])


def test_a_spinning_crank_under_gravity(spinning_crank: cld.Robot) -> None:
    """The loop turns several times at 6 rad/s while the base tumbles at 2 rad/s."""
    y = neutral(spinning_crank, [0.0])
    drift = fly(spinning_crank, y, np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.4, 6.0]))
    assert max(drift.values()) <= BAR, drift


def test_a_leg_without_gravity(weightless_leg: cld.Robot) -> None:
    """Energy is kinetic only: nothing large hides its drift."""
    y = neutral(weightless_leg, [-0.9, 0.62, -0.45])
    yd = np.array([0.09, -0.17, -0.22, 1.0, -0.7, 0.4, 0.19, -0.11, -0.1])
    drift = fly(weightless_leg, y, yd)
    assert max(drift.values()) <= BAR, drift


def test_a_leg_on_the_moon(flying_leg: cld.Robot) -> None:
    y = neutral(flying_leg, [0.0, 0.0, 0.0, 0.6, 0.0, 0.0])
    yd = np.array([0.2, 0.3, 1.0, 1.0, -0.7, 0.4, 0.1, -0.05, 0.1, 0.1, -0.05, 0.05])
    drift = fly(flying_leg, y, yd)
    assert max(drift.values()) <= BAR, drift


def test_a_random_robot(random_flyer: cld.Robot) -> None:
    rng = np.random.default_rng(2)
    y = neutral(random_flyer, [0.0] * (random_flyer.m - 6))
    yd = np.concatenate(
        [[0.3, -0.5, 0.4, 1.0, -0.5, 0.2], 0.05 * rng.normal(size=random_flyer.m - 6)]
    )
    drift = fly(random_flyer, y, yd)
    assert max(drift.values()) <= BAR, drift


def test_internal_forces_change_no_momentum(flying_leg: cld.Robot) -> None:
    y = neutral(flying_leg, [0.0, 0.0, 0.0, 0.6, 0.0, 0.0])
    yd = np.array([0.2, 0.3, 1.0, 1.0, -0.7, 0.4, 0.1, -0.05, 0.1, 0.1, -0.05, 0.05])
    before, energy = flying_leg.centroidal_momentum(y, yd), sum(flying_leg.energy(y, yd))
    tau = np.array([1.0, -0.5, 20.0, 15.0, -10.0, 10.0])
    y, yd = flying_leg.step(y, yd, tau, 1e-3, steps=300, friction=cld.Friction({"knee": 0.5}))
    fallen = flying_leg.total_mass * np.array(flying_leg.mechanism.gravity) * 0.3
    after = flying_leg.centroidal_momentum(y, yd) - [0, 0, 0, *fallen]
    assert abs(sum(flying_leg.energy(y, yd)) - energy) > 0.1
    np.testing.assert_allclose(after, before, atol=1e-9)


def test_a_wrench_feeds_the_momentum(flying_leg: cld.Robot) -> None:
    """dh/dt of a wrench on a link, moved to the centre of mass and turned into world axes."""
    y = neutral(flying_leg, [0.1, 0.0, -0.2, 0.6, 0.1, -0.1])
    yd, wrench, h = np.linspace(-1.0, 1.0, 12), np.array([0.5, -1.0, 2.0, 8.0, -3.0, 5.0]), 1e-5
    link = flying_leg.mechanism.tree.bodies[-1].link
    tau = np.zeros(flying_leg.p)
    rates = []
    for push in ({link: wrench}, None):
        ahead, behind = (flying_leg.step(y, yd, tau, s, push) for s in (h, -h))
        momenta = [flying_leg.centroidal_momentum(*end) for end in (ahead, behind)]
        rates.append((momenta[0] - momenta[1]) / (2 * h))
    T, com = flying_leg.pose(link, y), flying_leg.center_of_mass(y)
    moment, force = T[:3, :3] @ wrench[:3], T[:3, :3] @ wrench[3:]
    expected = np.concatenate([moment + np.cross(T[:3, 3] - com, force), force])
    np.testing.assert_allclose(rates[0] - rates[1], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("gravity", [(0.0, 0.0), (0.0, 0.0, np.nan), "down"])
def test_gravity_is_checked(gravity: object) -> None:
    urdf = '<robot name="r"><link name="base"/></robot>'
    with pytest.raises(cld.InvalidInput, match="gravity"):
        cld.load(urdf, gravity=gravity)  # type: ignore[arg-type]
