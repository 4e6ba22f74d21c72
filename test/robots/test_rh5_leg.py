"""The generated RH5-style leg: its files are current, and its loops close all over its range."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import closed_loop_dynamics as cld
from tools.robots.rh5_leg import Dimensions, generate

URDF, SUBMECHANISMS = generate()
ENDS = (  # end of a rod, the link it is held by
    ("hip_cylinder_rod", "thigh"),
    ("knee_cylinder_rod", "shank"),
    ("ankle_left_cylinder_rod", "ankle_left_hinge_link"),
    ("ankle_right_cylinder_rod", "ankle_right_hinge_link"),
)
INDEPENDENT = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_roll", "ankle_pitch")
Array = NDArray[np.float64]


@cache
def leg() -> cld.Robot:
    return cld.load(URDF, SUBMECHANISMS)


def limits(names: tuple[str, ...]) -> Array:
    model = pin.buildModelFromXML(URDF)
    at = [model.joints[model.getJointId(name)].idx_q for name in names]
    return np.array([model.lowerPositionLimit[at], model.upperPositionLimit[at]])


@cache
def samples() -> Array:
    """All corners of the range of the independent joints, and as many places inside as it takes."""
    low, high = limits(INDEPENDENT)
    corners = np.array(list(product(*zip(low, high, strict=True))))
    inside = np.random.default_rng(5).uniform(low, high, (500, len(low)))
    return np.vstack([corners, inside])


def test_leg_has_18_joints_6_independent_and_6_driven() -> None:
    assert (leg().n, leg().m, leg().p) == (18, 6, 6)
    assert leg().names.independent == INDEPENDENT


def test_every_loop_is_solved_in_closed_form() -> None:
    assert len(leg().branches) == 3
    assert not leg().mechanism.numerical


def test_linter_has_nothing_to_complain_about() -> None:
    report = leg().report()
    assert not report.errors and not report.warnings, str(report)


def test_loops_are_closed_at_zero_in_an_independent_reading_of_the_urdf() -> None:
    model = pin.buildModelFromXML(URDF)
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    at = {name: data.oMf[model.getFrameId(name)].translation for pair in ENDS for name in pair}
    d = Dimensions()
    hip, knee = (np.array([p.x, 0.0, p.z]) for p in (d.hip.lever, d.knee.lever))
    np.testing.assert_allclose(at["hip_cylinder_rod"], at["thigh"] + hip, atol=1e-11)
    np.testing.assert_allclose(at["knee_cylinder_rod"], at["shank"] + knee, atol=1e-11)
    for rod, hinge in ENDS[2:]:
        np.testing.assert_allclose(at[rod], at[hinge], atol=1e-11)


def test_loops_stay_closed_over_the_whole_range() -> None:
    model = pin.buildModelFromXML(URDF)
    data = model.createData()
    frames = [tuple(map(model.getFrameId, pair)) for pair in ENDS]
    order = [model.joints[model.getJointId(name)].idx_q for name in leg().names.spanning]
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    points = [data.oMf[link].actInv(data.oMf[rod].translation) for rod, link in frames]
    for sample in leg().state(samples()).q:
        q = np.empty(model.nq)
        q[order] = sample
        pin.framesForwardKinematics(model, data, q)
        for (rod, link), point in zip(frames, points, strict=True):
            gap = data.oMf[rod].translation - data.oMf[link].act(point)
            assert np.linalg.norm(gap) < 1e-11
        for rod, link in frames[2:]:  # the second hinge of the fork stays normal to the rod
            turn = data.oMf[link].rotation[:, 1] @ data.oMf[rod].rotation[:, 2]
            assert abs(turn) < 1e-11


def test_every_joint_stays_within_its_limits_and_every_loop_clear_of_dead_points() -> None:
    state = leg().state(samples())
    low, high = limits(leg().names.spanning)
    assert ((state.q >= low - 1e-9) & (state.q <= high + 1e-9)).all()
    assert np.min(state.singularity) > 0.2
    lever = np.linalg.svd(leg().actuator_jacobian(samples()), compute_uv=False)
    assert lever.min() > 0.03  # [m]: no cylinder ever loses its lever arm


def test_forward_dynamics_inverts_inverse_dynamics_at_speed() -> None:
    rng = np.random.default_rng(6)
    y = samples()
    yd, ydd = rng.normal(size=(2, *y.shape))
    tau = leg().inverse_dynamics(y, yd, ydd)
    np.testing.assert_allclose(leg().forward_dynamics(y, yd, tau), ydd, atol=1e-10)


def test_dimensions_are_parameters() -> None:
    other = cld.load(*generate(Dimensions(thigh=0.45, shank=0.42)))
    assert (other.n, other.m, other.p) == (18, 6, 6)
    drop = leg().pose("foot", np.zeros(6)) - other.pose("foot", np.zeros(6))
    assert drop[2, 3] == pytest.approx(0.07)
