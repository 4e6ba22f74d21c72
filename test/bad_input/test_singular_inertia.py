"""Massless links whose joints nothing resists: refused everywhere, and nowhere else.

The inertia that such a link shows its joint is what it carries less what gives way, which for
coaxial hinges leaves roundings of either sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import closed_loop_dynamics as cld

ARM = (
    '<link name="{name}"><inertial><origin xyz="0.1 0.02 0.01"/><mass value="1.5"/><inertia '
    'ixx="0.02" ixy="0.001" ixz="0.002" iyy="0.03" iyz="0.001" izz="0.025"/></inertial></link>'
)
SLANTED = np.array([0.3, -0.5, 0.8])


def chain(axes: Sequence[Sequence[float]], xyz: Sequence[float]) -> cld.Robot:
    """Hinges ``h0``, ``h1`` ... with massless links between them, then two links with mass."""
    links = ["base", *(f"cross{k}" for k in range(len(axes) - 1)), "arm", "hand"]
    text = "".join(
        ARM.format(name=n) if n in ("arm", "hand") else f'<link name="{n}"/>' for n in links
    )
    for k, axis in enumerate([*axes, (0.2, 1.0, 0.1)]):
        places = " ".join(map(repr, map(float, xyz if 0 < k < len(axes) else (0.2, 0.1, 0.3))))
        text += (
            f'<joint name="h{k}" type="continuous"><parent link="{links[k]}"/>'
            f'<child link="{links[k + 1]}"/><origin xyz="{places}"/>'
            f'<axis xyz="{" ".join(map(str, axis))}"/></joint>'
        )
    return cld.load(f'<robot name="chain">{text}</robot>', prepare=())


def test_massless_link_between_coaxial_hinges_is_refused_in_every_state() -> None:
    robot, rng = chain([SLANTED, SLANTED], 0.1 * SLANTED), np.random.default_rng(4)
    for _ in range(100):
        y, yd, tau = rng.uniform(-3.0, 3.0, (3, robot.m))
        with pytest.raises(cld.SingularInertia, match="cross0"):
            robot.forward_dynamics(y, yd, tau)
        with pytest.raises(cld.SingularInertia, match="cross0"):
            robot.inverse_mass_matrix(y)
        for method in ("projection", "lagrange"):
            with pytest.raises(cld.SingularInertia):
                robot.forward_dynamics(y, yd, tau, method=method)
    assert "singular-inertia" in {f.code for f in robot.report().findings}


def test_massless_wrist_is_refused_where_it_locks_and_only_there() -> None:
    """Roll, pitch, roll: two levels of massless links, coaxial where the pitch is zero."""
    robot, rng = chain([(1, 0, 0), (0, 1, 0), (1, 0, 0)], np.zeros(3)), np.random.default_rng(5)
    for pitch in (0.01, 0.3, 1.5):
        y, yd, tau = rng.uniform(-3.0, 3.0, (3, robot.m))
        y[1] = pitch
        ydd = robot.forward_dynamics(y, yd, tau)
        expected = np.linalg.solve(robot.mass_matrix(y), tau - robot.bias(y, yd))
        np.testing.assert_allclose(ydd, expected, rtol=1e-9)
    for _ in range(50):
        y, yd, tau = rng.uniform(-3.0, 3.0, (3, robot.m))
        y[1] = 0.0
        with pytest.raises(cld.SingularInertia, match="cross0"):
            robot.forward_dynamics(y, yd, tau)
