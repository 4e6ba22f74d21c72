"""Lost rank of G_u is told from small ratios: tendons on small pulleys, and true dead points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import closed_loop_dynamics as cld
from closed_loop_dynamics.dynamics.actuation_rank import rank_margin
from closed_loop_dynamics.engine.symbolic import ca
from tools.robots import crank_leg

ROOT = Path(__file__).resolve().parents[2]
INERTIA = '<inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/>'


def finger_urdf(hinges: int, tendons: int) -> str:
    """A chain of hinges h0, h1, ... and tendons t0, t1, ... as sliders in the palm."""

    def body(name: str, kind: str, parent: str, axis: str) -> str:
        limit = '<limit lower="-9" upper="9" effort="500" velocity="9"/>'
        return (
            f'<link name="{name}_link"><inertial><origin xyz="0.02 0 0"/><mass value="0.05"/>'
            f'{INERTIA}</inertial></link><joint name="{name}" type="{kind}"><parent link="{parent}"'
            f'/><child link="{name}_link"/><origin xyz="0.04 0 0"/><axis xyz="{axis}"/>{limit}'
            "</joint>"
        )

    parents = ["palm", *(f"h{k}_link" for k in range(hinges - 1))]
    parts = [body(f"h{k}", "revolute", parent, "0 1 0") for k, parent in enumerate(parents)]
    parts += [body(f"t{k}", "prismatic", "palm", "1 0 0") for k in range(tendons)]
    return f'<robot name="finger"><link name="palm"/>{"".join(parts)}</robot>'


def finger_file(R: Any, kind: str = "TRANSMISSION") -> str:
    """u = R y, tendon by tendon."""
    tendons, hinges = np.shape(R)
    h, t = [f"h{k}" for k in range(hinges)], [f"t{k}" for k in range(tendons)]
    entry: dict[str, Any] = {
        "name": "finger",
        "type": kind,
        "jointnames_spanningtree": h + t,
        "jointnames_independent": h,
        "jointnames_active": t,
    }
    if kind == "TRANSMISSION":
        entry["couplings"] = [
            {"joint": t[k], "terms": {h[j]: float(r) for j, r in enumerate(row)}}
            for k, row in enumerate(R)
        ]
    return yaml.safe_dump({"submechanisms": [entry]})


def finger(R: Any) -> cld.Robot:
    return cld.load(finger_urdf(np.shape(R)[1], np.shape(R)[0]), finger_file(R))


def routed(hinges: int, redundant: bool = False) -> Any:
    """Each tendon passes all hinges before its own; a last one pulls all of them back."""
    R = np.tril(np.ones((hinges, hinges)))
    return np.vstack([R, -np.ones(hinges)]) if redundant else R


@pytest.mark.parametrize(
    "R",
    [
        0.004 * routed(3),
        0.01 * routed(4),
        0.004 * routed(4, redundant=True),
        1e-9 * routed(2),
        np.diag([1.0, 1e-4, 1e-4, 1e-4]) @ routed(4),
        routed(4) @ np.diag([1.0, 1e-4, 1e-4, 1e-4]),
    ],
    ids=["4 mm", "10 mm", "redundant", "nanometres", "mixed actuators", "mixed joints"],
)
def test_small_ratios_are_no_singularity(R: Any) -> None:
    robot = finger(R)
    rng = np.random.default_rng(3)
    y, yd, ydd = rng.normal(size=(3, robot.m))
    by_hand = np.linalg.pinv(R.T) @ robot.generalized_forces(y, yd, ydd)
    scale = np.abs(by_hand).max()
    tau_u = robot.inverse_dynamics(y, yd, ydd)
    np.testing.assert_allclose(tau_u, by_hand, rtol=1e-6, atol=1e-9 * scale)
    Y = robot.regressor(y, yd, ydd)
    np.testing.assert_allclose(Y @ robot.dynamic_parameters, tau_u, rtol=1e-6, atol=1e-9 * scale)
    shared = robot.actuation.distribute(y, robot.generalized_forces(y, yd, ydd))
    np.testing.assert_allclose(shared, tau_u, rtol=1e-6, atol=1e-9 * scale)
    back = robot.actuation.velocity_from_actuator(y, R @ yd)
    np.testing.assert_allclose(back, yd, rtol=1e-6)
    assert robot.actuation.undriven(y).shape == (0, robot.m)


@pytest.mark.parametrize(
    "R",
    [
        [[0.01, 0.02], [0.02, 0.04]],
        [[1.0, 1e-12], [0.0, 0.0]],
        [[0.01, 0.01], [0.02, 0.02], [-0.01, -0.01]],
        [[0.0]],
    ],
    ids=["parallel", "idle tendon", "redundant", "one"],
)
def test_constant_ratios_without_rank_are_refused(R: Any) -> None:
    robot = finger(R)
    y = np.ones(robot.m)
    with pytest.raises(cld.ActuationSingular, match="finger"):
        robot.inverse_dynamics(y, y, y)
    with pytest.raises(cld.ActuationSingular, match="finger"):
        robot.actuation.velocity_from_actuator(y, np.ones(robot.p))
    assert len(robot.actuation.undriven(y)) == 1


@pytest.mark.parametrize("redundant", [False, True])
def test_a_ratio_that_varies_is_small_or_singular(redundant: bool) -> None:
    """Tendons of 4 mm lever arm times cos y_k: dead at y_k = 90 degrees, whatever the others do."""
    R = 0.004 * routed(4, redundant)
    urdf, file = finger_urdf(*R.shape[::-1]), finger_file(R, "function")

    def pull(y: Any) -> list[Any]:
        u = ca.SX(R) @ ca.sin(y)
        return [u[k] for k in range(len(R))]

    robot = cld.load(urdf, file, closures={"finger": pull})
    rng = np.random.default_rng(4)
    y, yd, ydd = 0.5 * rng.normal(size=(3, 4))
    tau_y = robot.generalized_forces(y, yd, ydd)
    by_hand = np.linalg.pinv((R * np.cos(y)).T) @ tau_y
    np.testing.assert_allclose(robot.inverse_dynamics(y, yd, ydd), by_hand, rtol=1e-8)
    for k in range(4):
        dead = y.copy()
        dead[k] = 0.5 * np.pi
        with pytest.raises(cld.ActuationSingular):
            robot.inverse_dynamics(dead, yd, ydd)
        dead[k] -= 0.01
        assert np.isfinite(robot.inverse_dynamics(dead, yd, ydd)).all()


def test_two_dead_cranks_do_not_vouch_for_each_other() -> None:
    """Two rows that vanish together stay at right angles: their lengths must count, too."""
    urdf, file = finger_urdf(2, 2), finger_file(np.eye(2), "function")
    robot = cld.load(urdf, file, closures={"finger": lambda y: [ca.sin(y[0]), ca.sin(y[1])]})
    half = 0.5 * np.pi
    for y in ([half, half], [half, 0.0], [half - 1e-9, half - 1e-9]):
        with pytest.raises(cld.ActuationSingular):
            robot.inverse_dynamics(y, [0.0, 0.0], [1.0, 1.0])
    assert np.isfinite(robot.inverse_dynamics([half - 1e-5] * 2, [0.0, 0.0], [1.0, 1.0])).all()


def test_the_order_of_redundant_actuators_does_not_matter() -> None:
    """A cylinder (lengths of 6 cm) and a motor on the same knee, either one first."""
    urdf, file = crank_leg.generate()
    margins = []
    for active in ("knee_cylinder, knee", "knee, knee_cylinder"):
        listed = file.replace("active: [knee_cylinder]", f"active: [{active}]")
        assert listed != file
        mech = cld.load(urdf, listed).mechanism
        c = next(c for c, part in enumerate(mech.components) if len(part.active) == 2)
        G_u = 1e-7 * ca.SX([[0.3], [0.4]] if active.startswith("knee_") else [[0.4], [0.3]])
        margins.append(float(rank_margin(mech, c, G_u, ca.sumsqr(G_u))))
    assert margins[0] == pytest.approx(margins[1], rel=1e-12)


def test_a_platform_at_its_singularity_and_beside_it() -> None:
    """Six legs, turned by 90 degrees about the vertical (Hunt): refused there, not next to it."""
    robot = cld.load(ROOT / "urdf" / "six_ups.urdf", ROOT / "config" / "six_ups.yaml")
    zero = np.zeros(6)
    y = np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.5 * np.pi])
    with pytest.raises(cld.ActuationSingular):
        robot.inverse_dynamics(y, zero, zero)
    y[5] -= 1e-4
    tau_y = robot.generalized_forces(y, zero, zero)
    G_u = robot.actuator_jacobian(y)
    np.testing.assert_allclose(G_u.T @ robot.inverse_dynamics(y, zero, zero), tau_y, atol=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_rounding_of_large_ratios_does_not_hide_a_singularity(seed: int) -> None:
    """Redundant gears of ratio 1000: at y_0 = 0 both joints are driven by y_0 + y_1 / 3 alone."""
    a, b = 1000.0 * np.random.default_rng(seed).normal(size=(2, 3))

    def pull(y: Any) -> list[Any]:
        return [a[k] * (y[0] + y[1] / 3.0) + b[k] * y[0] ** 2 for k in range(3)]

    robot = cld.load(
        finger_urdf(2, 3), finger_file(np.ones((3, 2)), "function"), closures={"finger": pull}
    )
    with pytest.raises(cld.ActuationSingular):
        robot.inverse_dynamics([0.0, 0.3], [0.0, 0.0], [1.0, 2.0])
    assert np.isfinite(robot.inverse_dynamics([0.01, 0.3], [0.0, 0.0], [1.0, 2.0])).all()
