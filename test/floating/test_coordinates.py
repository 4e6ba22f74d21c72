"""Where a mechanism keeps its numbers when one of its joints is a free flyer."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from support.flying import with_pelvis

import closed_loop_dynamics as cld
from tools.robots import crank_leg

BASE = ("x", "y", "z", "qx", "qy", "qz", "qw")
TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")


def test_sizes_are_sums_over_the_joints(flying_leg: cld.Robot) -> None:
    mech = flying_leg.mechanism
    flyer, *others = (mech.joint(b) for b in range(len(mech.tree.bodies)))
    assert (flyer.n_q, flyer.n_v) == (7, 6)
    assert {(joint.n_q, joint.n_v) for joint in others} == {(1, 1)}
    assert mech.n_y == mech.m + 1 == len(mech.independent) + 6
    assert mech.n_q == mech.n + 1 == len(mech.spanning) + 6


def test_every_number_has_one_place_and_one_name(flying_leg: cld.Robot) -> None:
    mech = flying_leg.mechanism
    names = flying_leg.names.independent
    assert mech.y.names == (*(f"{names[0]}.{part}" for part in BASE), *names[1:])
    assert mech.yd.names == (*(f"{names[0]}.{part}" for part in TWIST), *names[1:])
    assert mech.y.slots(mech.independent) == list(range(mech.n_y))
    assert mech.yd.slots(mech.independent) == list(range(mech.m))
    assert mech.q.slots(mech.spanning) == list(range(mech.n_q))
    assert mech.qd.slots(mech.spanning) == list(range(mech.n))
    assert mech.scalar_joints(mech.spanning) == [b for b in mech.spanning if b != 0]


def test_the_flyer_is_a_component_that_nothing_drives(flying_leg: cld.Robot) -> None:
    mech = flying_leg.mechanism
    assert mech.components[0].joints == (0,) and 0 not in mech.drivable
    assert mech.drivable == list(range(1, len(mech.components)))
    y, yd = mech.neutral_y(), np.ones(mech.m)
    for c, branch in flying_leg.branches.items():
        y[mech.y.slots(mech.components[c].independent)] = branch.reference.p
    np.testing.assert_array_equal(flying_leg.loop_jacobian(y)[:6], np.eye(mech.m)[:6])
    np.testing.assert_array_equal(flying_leg.loop_bias(y, yd)[:6], np.zeros(6))


def test_positions_to_start_from(flying_leg: cld.Robot) -> None:
    mech = flying_leg.mechanism
    upright = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    np.testing.assert_array_equal(mech.neutral_y(), [*upright, *np.zeros(mech.m - 6)])


def test_a_flyer_may_be_placed_anywhere_on_the_root() -> None:
    """A floating joint of the URDF with an origin is a free base at the composed pose."""
    urdf, yaml = with_pelvis(crank_leg.generate())
    xyz, rpy = (0.3, -0.2, 0.5), (0.4, -0.7, 1.1)
    flying = (
        '<link name="ground"/><joint name="flight" type="floating"><parent link="ground"/>'
        f'<child link="base_link"/><origin xyz="{" ".join(map(str, xyz))}" '
        f'rpy="{" ".join(map(str, rpy))}"/></joint></robot>'
    )
    placed = cld.load(urdf.replace("</robot>", flying), yaml)
    free = cld.load(urdf, yaml, floating_base=True)
    rng = np.random.default_rng(1)
    y, yd, tau_u = free.random_independent(rng), *(rng.normal(size=k) for k in (free.m, free.p))
    composed, origin = y.copy(), Rotation.from_euler("xyz", rpy)
    composed[:3] = origin.apply(y[:3]) + xyz
    composed[3:7] = (origin * Rotation.from_quat(y[3:7])).as_quat()
    ydd = placed.forward_dynamics(y, yd, tau_u)
    np.testing.assert_allclose(ydd, free.forward_dynamics(composed, yd, tau_u), rtol=1e-9)
    tau_y = placed.generalized_forces(y, yd, ydd)
    np.testing.assert_allclose(tau_y, placed.actuator_jacobian(y).T @ tau_u, atol=1e-8)
