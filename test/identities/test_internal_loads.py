"""Loads inside a mechanism: by hand where that is possible, and the ways of asking for them."""

from __future__ import annotations

import numpy as np
import pytest
from support.four_bar import joint, link
from support.shipped import shipped

import closed_loop_dynamics as cld

MASS, GRAVITY = 5.0, 9.81


def held_arm(wall: float) -> cld.Robot:
    """A horizontal arm of 1 m with its mass at the tip, on a cylinder from (0, ``wall``).

    Gravity pulls along -y; all but the tip weighs nothing.
    """
    along = np.array([1.0, -wall]) / np.hypot(1.0, wall)
    parts = [
        '<link name="base_link"/>',
        link("arm_link", (1.0, 0.0), MASS),
        link("barrel_link", mass=0.0),
        link("rod_link", mass=0.0),
        joint("arm", "revolute", "base_link", (0.0, 0.0), limits=(-0.6, 0.6)),
        joint("barrel", "revolute", "base_link", (0.0, wall), limits=(-2.0, 2.0)),
        joint("rod", "prismatic", "barrel_link", (0.0, 0.0), (*along, 0.0)),
    ]
    yaml = f"""
submechanisms:
- name: lift
  type: NUMERICAL
  jointnames_spanningtree: [arm, barrel, rod]
  jointnames_independent: [arm]
  jointnames_active: [rod]
  loop_constraints:
  - predecessor_body: rod_link
    successor_body: arm_link
    predecessor_frame: {{xyz: [1.0, {-wall}, 0.0]}}
    successor_frame: {{xyz: [1.0, 0.0, 0.0]}}
    cut: revolute
    axis: [0, 0, 1]
"""
    text = f'<robot name="held_arm">{"".join(parts)}</robot>'
    return cld.load(text, yaml, gravity=(0.0, -GRAVITY, 0.0), prepare=())


@pytest.mark.parametrize(("wall", "sign"), [(1.0, 1.0), (-1.0, -1.0)])
def test_a_rope_is_in_tension_and_a_strut_in_compression(wall: float, sign: float) -> None:
    loads = held_arm(wall).internal_loads([0.0])
    weight = MASS * GRAVITY
    assert loads.rods == ("barrel_link+rod_link",)
    assert loads["barrel_link+rod_link"] == pytest.approx(sign * np.sqrt(2.0) * weight)
    # The cut lifts the tip and pulls it to the wall, or pushes it away; the hinge holds the rest.
    assert loads["rod_link~arm_link"][3:5] == pytest.approx([-sign * weight, weight])
    assert loads["arm"][3:5] == pytest.approx([sign * weight, 0.0], abs=1e-9)


def test_a_planar_loop_cut_in_space_shares_what_goes_across_its_plane() -> None:
    robot = held_arm(1.0)
    across = robot.internal_loads([0.0], wrenches={"arm_link": [0.0, 0.0, 0.0, 0.0, 0.0, 10.0]})
    cut, arm = (across.names.index(name) for name in ("rod_link~arm_link", "arm"))
    # In the plane all is determined; the force across it and the moments in it are not.
    expected = [True, True, False, False, False, True]
    assert across.undetermined[cut].tolist() == expected
    assert across.undetermined[arm].tolist() == expected
    assert not across.axial_undetermined.any()
    # Any share holds the arm: those of hinge and cut add up to what pushes.
    assert across["arm"][5] + across["rod_link~arm_link"][5] == pytest.approx(-10.0)
    weightless = robot.internal_loads([0.0])
    in_plane = ~np.array(expected)
    assert across["arm"][in_plane] == pytest.approx(weightless["arm"][in_plane])


def test_batches_are_the_samples() -> None:
    robot, rng = shipped("rh5_leg"), np.random.default_rng(1)
    y, yd, ydd = robot.random_independent(rng, 4), *rng.normal(size=(2, 4, robot.m))
    wrenches = {"foot": rng.normal(size=(4, 6))}
    batch = robot.internal_loads(y, yd, ydd, wrenches=wrenches)
    for i in range(4):
        one = robot.internal_loads(y[i], yd[i], ydd[i], wrenches={"foot": wrenches["foot"][i]})
        np.testing.assert_allclose(batch.wrenches[i], one.wrenches, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(batch.axial[i], one.axial, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(batch.undetermined[i], one.undetermined)


def test_forces_alone_cause_the_motion_whose_loads_are_given() -> None:
    robot, y, yd = shipped("crank_leg"), [0.1, 0.5, 0.1], [0.3, -0.5, 0.2]
    tau_u = np.array([3.0, -20.0, 0.4])
    ydd = robot.forward_dynamics(y, yd, tau_u)
    by_forces, by_motion = (
        robot.internal_loads(y, yd, None, tau_u),
        robot.internal_loads(y, yd, ydd),
    )
    np.testing.assert_allclose(by_forces.wrenches, by_motion.wrenches, rtol=1e-8, atol=1e-8)
    at_rest = robot.internal_loads(y)
    np.testing.assert_allclose(at_rest.tau_u, robot.inverse_dynamics(y, [0.0] * 3, [0.0] * 3))


def test_forces_that_contradict_the_motion_are_refused() -> None:
    robot, y, rest = shipped("crank_leg"), [0.1, 0.5, 0.1], [0.0] * 3
    tau_u = robot.inverse_dynamics(y, rest, rest)
    robot.internal_loads(y, rest, rest, tau_u)
    with pytest.raises(cld.InvalidInput, match=r"missing at 'hip'.*leave tau_u out"):
        robot.internal_loads(y, rest, rest, tau_u + np.eye(3)[0])
    with pytest.raises(cld.InvalidInput, match="did you mean 'knee'"):
        robot.internal_loads(y)["knees"]


def test_a_payload_is_carried_by_the_pins() -> None:
    robot, y = shipped("crank_leg"), [0.1, 0.5, 0.1]
    empty = robot.internal_loads(y)
    loaded = robot.internal_loads(y, payload={"foot": cld.Payload(2.0)})
    hip = loaded.names.index("hip")
    assert loaded.forces[hip] - empty.forces[hip] == pytest.approx(2.0 * GRAVITY)


def test_rods_are_the_links_that_only_push_and_pull() -> None:
    expected = {
        "crank_leg": {"ankle_push_rod", "knee_cylinder_barrel+knee_cylinder_rod"},
        "six_ups": {f"leg_{k}_u_2_link+leg_{k}_rod" for k in range(6)},
        "geared_chain": set[str](),
    }
    for name, rods in expected.items():
        robot = shipped(name)
        assert (
            set(robot.internal_loads(robot.random_independent(np.random.default_rng(0))).rods)
            == rods
        )
