"""Geometry services of a submechanism, against the geometry of a triangle and of a four-bar."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml
from support.four_bar import FourBar, joint, link, submechanism
from support.rh5 import FILES, kinds

import closed_loop_dynamics as cld
from closed_loop_dynamics.viewer.reach import joint_ranges
from closed_loop_dynamics.viewer.snapshot import Camera
from tools.robots.mechanisms import MECHANISMS

ROOT = Path(__file__).parents[2]


@cache
def crank_leg() -> cld.Robot:
    return cld.load(ROOT / "urdf/crank_leg.urdf", ROOT / "config/crank_leg.yaml")


@cache
def rocking() -> tuple[FourBar, cld.Robot]:
    """Toggles at both ends of the independent joint's range."""
    mechanism = FourBar(0.5, 0.3, 0.35, 0.4)
    return mechanism, cld.load(mechanism.urdf(), mechanism.yaml())


def loop_name(robot: cld.Robot) -> str:
    (name,) = [branch.name for branch in robot.branches.values()]
    return name


def test_the_transmission_curve_is_the_derivative_of_the_stroke() -> None:
    knee = crank_leg().submechanism("knee")
    curve = knee.transmission_curve(401)
    slope = np.gradient(curve["u"][:, 0], curve["y"])
    np.testing.assert_allclose(slope[1:-1], curve["ratio"][1:-1, 0], atol=1e-5)
    low, high = knee.reachable_interval()
    assert (curve["y"][0], curve["y"][-1]) == (low, high)


def test_actuator_limits_shorten_the_reachable_interval() -> None:
    text = (ROOT / "urdf/crank_leg.urdf").read_text()
    start = text.index('<joint name="knee_cylinder" ')
    end = text.index("</joint>", start)
    joint = text[start:end]
    lower = joint.split('lower="')[1].split('"')[0]
    shorter = joint.replace(f'lower="{lower}"', 'lower="-0.05"')
    robot = cld.load(text[:start] + shorter + text[end:], ROOT / "config/crank_leg.yaml")
    low, high = robot.submechanism("knee").reachable_interval()
    full = crank_leg().submechanism("knee").reachable_interval()
    assert low == full[0] and high < full[1]
    stroke = robot.state([0.0, high, 0.0]).u[1]
    assert stroke == pytest.approx(-0.05, abs=1e-9)


def test_an_actuator_that_turns_back_just_beyond_its_limit_ends_the_interval() -> None:
    """Between two samples of the walk nothing but the sign of the ratio shows it."""
    mechanism = FourBar(0.5, 0.1, 0.45, 0.3)  # a crank that turns freely, a rocker that swings
    swing = mechanism.rocker_curve(np.linspace(0.0, 2.0 * np.pi, 2001))
    limits = (-10.0, float(max(swing)) - 1e-5)
    text = mechanism.urdf()
    free = joint("rocker", "revolute", "base", (0.5, 0.0))
    assert free in text
    limited = text.replace(free, joint("rocker", "revolute", "base", (0.5, 0.0), limits=limits))
    robot = cld.load(limited, mechanism.yaml(active=["rocker"]))
    low, high = robot.submechanism("loop").reachable_interval()
    ends = [mechanism.exact(y)[2] for y in (low, high)]
    assert min(abs(end - limits[1]) for end in ends) < 1e-9  # one end is where the limit is met
    inside = mechanism.rocker_curve(np.linspace(low, high, 3001))
    assert max(inside) <= limits[1] + 1e-9


def test_one_configuration_at_a_time() -> None:
    knee = crank_leg().submechanism("knee")
    for method in (
        knee.singularity,
        knee.distance_to_singularity,
        knee.assembly_modes,
        knee.allows,
        knee.actuator_jacobian,
    ):
        with pytest.raises(cld.InvalidInput, match=r"shape \(2, 1\).* one configuration"):
            method([[0.1], [0.2]])
    for count in (-1, 0, 1, 2.5, "many"):
        with pytest.raises(cld.InvalidInput, match="count must be a whole number"):
            knee.transmission_curve(count)  # type: ignore[arg-type]


def test_distance_to_the_toggle_is_exact() -> None:
    mechanism, robot = rocking()
    low, high = mechanism.toggles()
    loop = robot.submechanism(loop_name(robot))
    for y in (0.0, 0.7 * high, 0.7 * low):
        expected = min(high - y, y - low)
        assert loop.distance_to_singularity([y]).loop == pytest.approx(expected, abs=1e-6)
    near = loop.singularity([high - 1e-4]).loop
    assert near < 0.1 * loop.singularity([0.0]).loop


def test_assembly_modes_have_stable_names_and_close() -> None:
    mechanism, robot = rocking()
    loop = robot.submechanism(loop_name(robot))
    modes = loop.assembly_modes([0.2])
    assert [mode.current for mode in modes] == [True, False]
    assert {mode.name for mode in modes} == {"elbow_up", "elbow_down"}
    assert [mode.name for mode in loop.assembly_modes([0.3])] == [mode.name for mode in modes]
    exact = mechanism.exact(0.2)
    found = [modes[0].positions[name] for name in mechanism.names]
    np.testing.assert_allclose(found, exact, atol=1e-9)
    # The other mode is one that a guess can choose, and then dynamics follow it.
    other = np.array([modes[1].positions[name] for name in robot.names.spanning])
    np.testing.assert_allclose(robot.state([0.2], guess=other).q, other, atol=1e-9)


def test_every_combination_of_six_legs_is_found() -> None:
    robot = cld.load(*MECHANISMS["ups6"].build())
    platform = robot.submechanism(loop_name(robot))
    modes = platform.assembly_modes(np.zeros(6))
    assert len(modes) == len({mode.name for mode in modes}) == 4**6
    assert [mode.current for mode in modes[:2]] == [True, False]
    assert modes[0].name == platform.mode_name()
    (branch,) = robot.branches.values()
    joints = branch.closure.system.names(range(len(branch.closure.system.joints)))
    np.testing.assert_allclose(
        [modes[0].positions[name] for name in joints],
        branch.local_q(branch.solution(np.zeros(6))),
        atol=1e-6,
    )


def two_loops_in_one_entry() -> cld.Robot:
    """Two four-bars that share nothing but the base and the entry's name, "loop"."""
    urdf, entry = rocking()[0].urdf(), yaml.safe_load(rocking()[0].yaml())["submechanisms"][0]
    parts = re.sub(r"^<robot[^>]*>|</robot>$", "", urdf).replace(link("base"), "")
    others = re.sub(r'"(crank|coupler|end|rocker)', r'"other_\1', parts)
    for key in ("spanningtree", "independent", "active"):
        entry[f"jointnames_{key}"] += [f"other_{n}" for n in entry[f"jointnames_{key}"]]
    (cut,) = entry["loop_constraints"]
    names = ("cut_joint", "predecessor_body", "successor_body")
    entry["loop_constraints"].append({**cut, **{key: f"other_{cut[key]}" for key in names}})
    text = f'<robot name="two">{link("base")}{parts}{others}</robot>'
    return cld.load(text, yaml.safe_dump({"submechanisms": [entry]}))


def test_two_unrelated_loops_of_an_entry_are_both_reachable() -> None:
    robot = two_loops_in_one_entry()
    with pytest.raises(cld.InvalidInput, match=r"2 unrelated loops.*: crank / other_crank"):
        robot.submechanism("loop")
    for joint_name in ("crank", "other_crank"):
        loop = robot.submechanism(joint_name)
        assert loop.independent == loop.active == (joint_name,)
        assert len(loop.assembly_modes([0.1])) == 2
    with pytest.raises(cld.InvalidInput, match="did you mean 'other_crank'"):
        robot.submechanism("other_cranc")
    assert list(Camera(robot).standing(np.zeros(2)).loops) == ["crank", "other_crank"]
    assert set(joint_ranges(robot)) == {"crank", "other_crank"}


def test_an_independent_joint_names_its_loop() -> None:
    robot = rocking()[1]
    assert robot.submechanism("crank").name == robot.submechanism("loop").name == "loop"
    for name in ([], None, 3, "rocker"):
        with pytest.raises(cld.InvalidInput, match="no submechanism with loops"):
            robot.submechanism(name)  # type: ignore[arg-type]


@kinds("leg")
def test_the_boundary_of_the_ankle_lies_on_some_limit(name: str) -> None:
    robot = cld.load(*FILES[name])
    ankle = robot.submechanism("left_ankle_joint" if name == "leg" else "ankle")
    boundary = ankle.reachable_boundary(24)
    assert boundary.shape == (24, 2)
    at = [robot.names.independent.index(name) for name in ankle.independent]
    driven = [robot.names.actuator.index(name) for name in ankle.active]
    joints = {b.joint.name: b.joint for b in robot.mechanism.tree.bodies}
    for point in boundary:
        y = np.zeros(robot.m)
        y[at] = point
        gaps = [np.inf]
        u = robot.state(y).u[driven]
        names = (*ankle.independent, *ankle.active)
        for name, value in zip(names, (*point, *u), strict=True):
            gaps += [abs(value - joints[name].lower), abs(value - joints[name].upper)]
            assert joints[name].lower - 1e-8 <= value <= joints[name].upper + 1e-8
        assert min(gaps) < 1e-6


def test_unknown_names_and_wrong_dimensions_are_refused() -> None:
    with pytest.raises(cld.InvalidInput, match="did you mean 'knee'"):
        crank_leg().submechanism("kne")
    with pytest.raises(cld.InvalidInput, match="a boundary is"):
        crank_leg().submechanism("knee").reachable_boundary()


def free_crank() -> tuple[str, str]:
    """A Grashof four-bar whose coupler hangs on the rocker, so that only the crank goes round."""
    crank, coupler, rocker, ground = 0.08, 0.25, 0.2, 0.3
    # At q = 0 the crank points along x; the rocker's end C from the two circles.
    gap = ground - crank
    x = (gap**2 + coupler**2 - rocker**2) / (2 * gap)
    end = np.array([crank + x, np.sqrt(coupler**2 - x**2)])
    parts = [
        link("base"),
        link("crank_link", (0.04, 0.0)),
        link("rocker_link", (0.0, 0.05)),
        link("coupler_link", (-0.1, -0.05)),
        joint("crank", "revolute", "base", (0.0, 0.0)),
        joint("rocker", "revolute", "base", (ground, 0.0)),
        joint("coupler", "revolute", "rocker_link", end - [ground, 0.0]),
    ]
    loop = {
        "predecessor_body": "coupler_link",
        "successor_body": "crank_link",
        "predecessor_frame": {"xyz": [*(float(v) for v in [crank, 0.0] - end), 0.0]},
        "successor_frame": {"xyz": [crank, 0.0, 0.0]},
    }
    names = ["crank", "rocker", "coupler"]
    return f'<robot name="free">{"".join(parts)}</robot>', submechanism(
        names[:1], names, names[:1], loop
    )


def test_a_crank_that_turns_freely_is_in_closed_form_at_any_turn() -> None:
    robot = cld.load(*free_crank())
    assert {s.solver for s in robot.report().submechanisms} == {"analytical"}
    one = robot.state([0.7])
    for turns in (-3, 1, 12):
        far = robot.state([0.7 + 2 * np.pi * turns])
        np.testing.assert_allclose(far.q[1:], one.q[1:], atol=1e-9)
        assert far.iterations == 0 and far.residual < 1e-12
    assert not robot.programs.has_twin  # nothing had to be solved numerically
