"""Springs of a submechanism file, against their potential written out here."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.c_library import CLibrary, Memory
from support.figures import relative
from support.four_bar import FourBar
from support.richardson import derivative

import closed_loop_dynamics as cld
from closed_loop_dynamics.se3 import rpy_rotation

Array = np.ndarray
BAR = FourBar(0.4, 0.15, 0.35, 0.3)
GRAVITY = (0.0, -9.81, 0.0)
#: A passive joint with preload, a spring to the wall, one across the loop that pushes.
SPRINGS = """
springs:
- {joint: coupler, stiffness: 4.0, rest: -0.3, preload: 0.6}
- {joint: crank, stiffness: 1.5, rest: 0.2}
- {from: {link: base, point: [-0.2, 0.3, 0.1]}, to: {link: end_link, point: [0.05, 0, 0]},
   stiffness: 60.0, rest: 0.2, preload: 2.0}
- {from: {link: rocker_link}, to: {link: crank_link, point: [0, 0.1, 0]}, stiffness: 30.0,
   rest: 0.5, preload: -3.0}
"""
JOINTS = [("coupler", 4.0, -0.3, 0.6), ("crank", 1.5, 0.2, 0.0)]
POINTS = [
    ("base", (-0.2, 0.3, 0.1), "end_link", (0.05, 0.0, 0.0), 60.0, 0.2, 2.0),
    ("rocker_link", (0.0, 0.0, 0.0), "crank_link", (0.0, 0.1, 0.0), 30.0, 0.5, -3.0),
]


@cache
def robot(springs: str = SPRINGS, more: str = "") -> cld.Robot:
    text = BAR.yaml().replace("  jointnames_active", f"  {more}jointnames_active") + springs
    return cld.load(BAR.urdf(), text, gravity=GRAVITY, prepare=())


def bare() -> cld.Robot:
    return robot("")


def place(y: Array, link: str, point: tuple[float, ...]) -> Array:
    return np.asarray((bare().pose(link, y) @ [*point, 1.0])[:3])


def potential(y: Array) -> Array:
    q = dict(zip(bare().names.spanning, bare().state(y).q, strict=True))
    found = [(q[joint], *numbers) for joint, *numbers in JOINTS]
    for first, a, second, b, *numbers in POINTS:
        found.append((np.linalg.norm(place(y, second, b) - place(y, first, a)), *numbers))
    energies = (f * (x - rest) + 0.5 * k * (x - rest) ** 2 for x, k, rest, f in found)
    return np.array([sum(energies)])


def motions(count: int = 4) -> list[tuple[Array, Array, Array]]:
    rng = np.random.default_rng(1)
    return [(rng.uniform(-1, 1, 1), *rng.uniform(-2, 2, (2, 1))) for _ in range(count)]


def test_forces_and_energy_are_those_of_the_potential() -> None:
    for y, yd, ydd in motions():
        slope = derivative(lambda d, y=y: potential(y + d), 1)[0]
        for method, last in (("inverse_dynamics", (ydd,)), ("bias", ()), ("gravity", None)):
            given = (y,) if last is None else (y, yd, *last)
            added = getattr(robot(), method)(*given) - getattr(bare(), method)(*given)
            np.testing.assert_allclose(added, slope, rtol=1e-8)
        held = robot().energy(y, yd).potential - bare().energy(y, yd).potential
        np.testing.assert_allclose(held, potential(y)[0], rtol=1e-12)


def test_forward_dynamics_inverts_inverse_dynamics_with_parameters_too() -> None:
    carried = {"end_link": cld.Payload(0.7, (0.1, 0.0, 0.0))}
    for y, yd, ydd in motions():
        for payload in (None, carried):
            tau = robot().inverse_dynamics(y, yd, ydd, payload=payload)
            found = robot().forward_dynamics(y, yd, tau, payload=payload)
            np.testing.assert_allclose(found, ydd, rtol=1e-9)


def test_the_regressor_leaves_springs_to_inverse_dynamics_without_parameters() -> None:
    pi = robot().dynamic_parameters
    for motion in motions():
        springs = robot().inverse_dynamics(*motion, parameters=0.0 * pi)
        found = robot().regressor(*motion) @ pi + springs
        assert relative(found, robot().inverse_dynamics(*motion)) <= 1e-12


def test_statics_of_wrenches_know_no_springs() -> None:
    push = {"rocker_link": np.arange(6.0)}
    y = motions()[0][0]
    found, expected = (r.actuation.statics(y, push) for r in (robot(), bare()))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_internal_loads_are_those_of_the_same_forces_from_outside() -> None:
    for y, yd, ydd in motions():
        pushes = {link: np.zeros(6) for link in ("base", "crank_link", "coupler_link")}
        pushes |= {link: np.zeros(6) for link in ("end_link", "rocker_link")}
        q = dict(zip(bare().names.spanning, bare().state(y).q, strict=True))
        for joint, k, rest, preload in JOINTS:
            force = preload + k * (q[joint] - rest)
            pushes[f"{joint}_link"][2] -= force
            pushes["crank_link" if joint == "coupler" else "base"][2] += force
        for first, a, second, b, k, rest, preload in POINTS:
            d = place(y, second, b) - place(y, first, a)
            pull = (preload + k * (np.linalg.norm(d) - rest)) * d / np.linalg.norm(d)
            for link, point, force in ((first, a, pull), (second, b, -pull)):
                own = bare().pose(link, y)[:3, :3].T @ force
                pushes[link] += np.concatenate([np.cross(point, own), own])
        found = robot().internal_loads(y, yd, ydd)
        expected = bare().internal_loads(y, yd, ydd, wrenches=pushes)
        np.testing.assert_allclose(found.tau_u, expected.tau_u, rtol=1e-10)
        for name in found.names:
            turning = name in ("coupler", "crank")  # there the spring counts as part of the joint
            kept = [0, 1, 3, 4, 5] if turning else range(6)
            np.testing.assert_allclose(found[name][kept], expected[name][kept], atol=1e-9)
        assert not robot().internal_loads(y).rods and bare().internal_loads(y).rods


def test_energy_is_kept_in_simulation() -> None:
    y, yd = np.array([0.3]), np.array([2.0])
    energies = []
    for _ in range(20):
        energies.append(np.array(robot().energy(y, yd)))
        y, yd = robot().step(y, yd, [0.0], 1e-4, steps=1000)
    total = np.sum(energies, axis=1)
    exchanged = np.ptp(np.array(energies)[:, 0])
    assert exchanged > 0.5 and np.ptp(total) <= 1e-6 * exchanged


def test_equilibrium_is_where_a_damped_robot_comes_to_rest() -> None:
    damped = robot(more="joint_friction: {crank: {viscous_friction: 0.5}}\n  ")
    for start, tau in ((-1.0, 0.0), (0.4, 1.5)):
        y, yd = np.array([start]), np.zeros(1)
        for _ in range(3):
            y, yd = damped.step(y, yd, [tau], 1e-3, steps=10000)
        assert abs(yd[0]) <= 1e-9
        found = damped.equilibrium([start], tau_u=[tau])
        np.testing.assert_allclose(found.y, y, atol=1e-8)
        assert found.stable and abs(damped.inverse_dynamics(found.y, yd, yd)[0] - tau) <= 1e-8
        slope = damped.generalized_force_derivatives(found.y, 0 * yd, 0 * yd).dtau_dy
        assert found.stiffness > 0.0 and slope.shape == (1, 1)


def test_equilibrium_that_nothing_holds_and_one_that_tips() -> None:
    falling = cld.load(BAR.urdf(), BAR.yaml(), floating_base=True, prepare=())
    with pytest.raises(cld.EquilibriumNotFound, match="nothing holds") as caught:
        falling.equilibrium(falling.mechanism.neutral_y())
    assert caught.value.residual > 1.0 and caught.value.y.shape == (8,)
    arm = '<robot name="arm"><link name="base"/>{}</robot>'
    link = '<link name="bar"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.1" '
    link += 'ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link><joint name="swing" '
    link += 'type="continuous"><parent link="base"/><child link="bar"/><axis xyz="0 1 0"/></joint>'
    pendulum = cld.load(arm.format(link), prepare=())
    assert not pendulum.equilibrium([np.pi]).stable
    found = pendulum.equilibrium([np.pi - 0.05])
    assert found.stable and abs(found.y[0]) <= 1e-9


def test_an_equilibrium_that_may_turn_freely_is_not_stable() -> None:
    """The stiffness about a vertical axis is rounding, of either sign."""
    body = '<inertial><origin xyz="0.1 0.03 -0.2"/><mass value="1"/><inertia ixx="0.1" ixy="0.01" '
    body += 'ixz="0" iyy="0.1" iyz="0.02" izz="0.1"/></inertial></link>'
    hinge = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>{3}</joint>'
    tilt, up = (0.3, 0.2, 0.1), rpy_rotation((0.3, 0.2, 0.1))[2]
    column = f'<origin rpy="{tilt[0]} {tilt[1]} {tilt[2]}"/><axis xyz="{up[0]} {up[1]} {up[2]}"/>'
    swing = '<origin xyz="0.1 0 0"/><axis xyz="0.2 1 0.1"/>'
    text = f'<link name="base"/><link name="post">{body}<link name="bob">{body}'
    text += hinge.format("a", "base", "post", column) + hinge.format("b", "post", "bob", swing)
    robot = cld.load(f'<robot name="crane">{text}</robot>', prepare=())
    for turn in range(6):
        assert not robot.equilibrium([0.7 * turn, 0.5]).stable


def test_a_spring_without_length_is_refused_unless_it_does_not_pull_there() -> None:
    ends = "{from: {link: base}, to: {link: crank_link}, stiffness: 50.0"
    slack = robot(f"\nsprings: [{ends}}}]")  # pulls in proportion to its length: nothing here
    y, rest = np.array([0.2]), np.zeros(1)
    np.testing.assert_allclose(slack.gravity(y), bare().gravity(y), rtol=1e-12)
    tight = robot(f"\nsprings: [{ends}, rest: 0.1}}]")
    assert tight.state(y).q.shape == (3,)
    for call in (tight.gravity, lambda y: tight.forward_dynamics(y, rest, rest)):
        with pytest.raises(cld.InvalidInput, match="between 'base' and 'crank_link' has no length"):
            call(y)


def test_exported_c_has_them(tmp_path: Path) -> None:
    memory = Memory(CLibrary.of(robot(), tmp_path, "inverse_dynamics", "forward_dynamics"))
    for y, yd, last in motions():
        for name in ("inverse_dynamics", "forward_dynamics"):
            status, found = memory.call(name, y, yd, last)
            assert status == 0
            np.testing.assert_allclose(found, getattr(robot(), name)(y, yd, last), rtol=1e-10)


BAD = {
    "joint: crnk, stiffness: 1": ("springs[0].joint", "crank"),
    "joint: end, stiffness: 1": ("springs[0].joint", "fixed"),
    "from: {link: bse}, to: {link: end_link}, stiffness: 1": ("springs[0].from.link", "base"),
    "from: {link: end_link}, to: {link: coupler_link}, stiffness: 1": ("springs[0]", "fixed to"),
    "from: {link: base}, to: {link: end_link}, stiffness: 1, rest: -1": ("springs[0].rest", "zero"),
    "from: {link: base}, stiffness: 1": ("springs[0]", "together"),
    "joint: crank": ("springs[0]", "stiffness"),
}


@pytest.mark.parametrize("spring", BAD)
def test_bad_springs_are_refused_with_their_place(spring: str) -> None:
    place, words = BAD[spring]
    with pytest.raises(cld.SubmechanismError, match=words) as caught:
        cld.load(BAR.urdf(), f"{BAR.yaml()}\nsprings: [{{{spring}}}]", prepare=())
    assert caught.value.place.startswith(place)
