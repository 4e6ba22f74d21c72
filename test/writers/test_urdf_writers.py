"""Load, write, load: URDF with a submechanism file, and URDF+, keep the robot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import support.onshape as onshape
import support.urdf_plus as plus
from support.figures import relative
from support.mjcf import ROBOTS as MJCF
from support.mjcf import bar
from support.mjcf import robot as small
from support.written import FRICTION, leg_with

import closed_loop_dynamics as cld
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.model.spring import JointSpring
from closed_loop_dynamics.se3 import rpy_rotation
from closed_loop_dynamics.shipped import model_files
from closed_loop_dynamics.writers.ties import ties_of
from closed_loop_dynamics.writers.xml_text import angles

pytestmark = pytest.mark.usefixtures("traced_only")


def load(*files: object, **options: object) -> Callable[[], cld.Robot]:
    return lambda: cld.load(*files, prepare=(), **options)  # type: ignore[arg-type]


SPRINGS = """
springs:
  - {joint: knee_cylinder_tilt, stiffness: 12.0, rest: 0.1, preload: -0.4}
  - {from: {link: base_link, point: [0.1, 0.0, 0.0]}, to: {link: shank}, stiffness: 90.0, rest: 0.3}
"""


def sprung(springs: str = SPRINGS) -> cld.Robot:
    """The crank leg with springs."""
    files = model_files()["crank_leg"]
    loops = files.submechanisms.read_text(encoding="utf-8")
    return cld.load(files.urdf, loops + springs, prepare=())


ROBOTS: dict[str, Callable[[], cld.Robot]] = {
    "springs": sprung,
    "friction": lambda: leg_with(FRICTION),
    "belts": load("belt_pair"),
    "rotations": load("rrr3"),
    "floating": load("lambda_rrpr", floating_base=True),
    # Curved couplings are functions: they are to be given again, as a note says.
    **{f"mjcf {name}": load(text) for name, text in MJCF.items() if name != "curved"},
    "onshape": load(onshape.FOUR_BAR, onshape.FOUR_BAR_YAML),
    "onshape ball": load(onshape.ROD, onshape.rod_yaml("SPHERICAL")),
    **{f"plus {name}": load(text) for name, text in plus.ROBOTS.items()},
}


def assert_same(robot: cld.Robot, again: cld.Robot, *, driven: bool = True) -> None:
    """States, forces and accelerations at speed, by the names of the joints."""
    one, two = robot.names, again.names
    assert {*one.spanning} == {*two.spanning} and {*one.independent} == {*two.independent}
    for key in ("lower", "upper", "velocity", "effort"):
        both = (Limits.of(r.mechanism.tree, sorted(one.spanning)) for r in (robot, again))
        assert np.array_equal(*(getattr(limits, key) for limits in both)), key
    a, b = robot.mechanism, again.mechanism
    y_at, v_at, u_at = (
        [list(names).index(name) for name in others]
        for names, others in (
            (a.y.names, b.y.names),
            (a.yd.names, b.yd.names),
            (one.actuator, two.actuator if driven else one.actuator),
        )
    )
    q_at = [list(a.q.names).index(name) for name in b.q.names]
    qd_at = [list(a.qd.names).index(name) for name in b.qd.names]
    rng = np.random.default_rng(4)
    for y in robot.random_independent(rng, 3):
        yd, ydd = rng.uniform(-1.0, 1.0, (2, robot.m))
        there = (y[y_at], yd[v_at], ydd[v_at])
        here, copy = robot.state(y, yd, ydd), again.state(*there)
        assert relative(copy.q, here.q[q_at]) <= 1e-9  # the branch, too
        assert relative(copy.qd, here.qd[qd_at]) <= 1e-9
        assert relative(copy.qdd, here.qdd[qd_at]) <= 1e-9
        forces = robot.generalized_forces(y, yd, ydd)
        assert relative(again.generalized_forces(*there), forces[v_at]) <= 1e-9
        if driven:
            assert {*one.actuator} == {*two.actuator}
            tau = rng.uniform(-1.0, 1.0, robot.p)
            expected = robot.forward_dynamics(y, yd, tau)[v_at]
            assert relative(again.forward_dynamics(*there[:2], tau[u_at]), expected) <= 1e-9


@pytest.mark.parametrize("name", ROBOTS)
def test_urdf_and_submechanism_file(name: str, tmp_path: Path) -> None:
    robot = ROBOTS[name]()
    written = robot.write(tmp_path / "robot.urdf")
    assert [file.name for file in written.files] == ["robot.urdf", "robot.yaml"]
    again = cld.load(*written.files, prepare=())
    assert again.names == robot.names
    told = [ties_of(each.mechanism) for each in (robot, again)]
    for joint in robot.names.spanning[robot.mechanism.floating :]:
        assert told[0].model(joint) == told[1].model(joint)
    assert_same(robot, again)


PLUS = [name for name in ROBOTS if name.startswith("plus")]


@pytest.mark.parametrize("name", [*PLUS, "rotations", "floating"])
def test_urdf_plus(name: str, tmp_path: Path) -> None:
    robot = ROBOTS[name]()
    written = robot.write(tmp_path / "robot.urdf", to="urdf+")
    joints = robot.names.independent[robot.mechanism.floating :]
    driven = {*robot.names.actuator} == {*joints}
    assert any("what is driven" in note for note in written.notes) != driven
    assert_same(robot, cld.load(*written.files, prepare=()), driven=False)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("friction", "URDF\\+ has no rotors"),
        ("mjcf four bar", "its reference is not q = 0"),
        ("sprr2_u", "3 translations and 1 rotations"),
        ("belts", "follows several joints"),
    ],
)
def test_what_urdf_plus_cannot_say_is_refused(name: str, problem: str, tmp_path: Path) -> None:
    robot = ROBOTS.get(name, load(name))()
    if name == "mjcf four bar":
        robot = cld.load(MJCF["four bar"].replace('armature="0.01"', ""), prepare=())
    with pytest.raises(cld.NotWritable, match=problem) as caught:
        robot.write(tmp_path / "robot.urdf", to="urdf+")
    assert "--to urdf" in caught.value.remedy and not list(tmp_path.iterdir())


def test_a_joint_that_is_held_alone_is_refused(tmp_path: Path) -> None:
    held = '<joint joint1="forearm_joint" polycoef="0.3 0 0 0 0"/>'
    arm = bar("arm", 0.3, "0 0 0", bar("forearm", 0.2, "0.3 0 0"))
    with pytest.raises(cld.NotWritable, match="'forearm_joint': it is held and tied to no other"):
        cld.load(small(arm, held), prepare=()).write(tmp_path / "arm.urdf")


def test_gravity_is_named(tmp_path: Path) -> None:
    robot = cld.load("geared_rotor", gravity=(0.0, 0.0, -1.62), prepare=())
    assert any("-1.62" in note for note in robot.write(tmp_path / "moon.urdf").notes)


def test_meshes_are_found_from_the_new_place(tmp_path: Path) -> None:
    urdf = model_files()["geared_rotor"].urdf.read_text(encoding="utf-8")
    for file in ("meshes/tip.stl", "package://other/tip.stl"):
        shown = f'<visual><geometry><mesh filename="{file}" scale="2 2 2"/></geometry></visual>'
        urdf = urdf.replace("<inertial>", f"{shown}<inertial >", 1)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "robot.urdf").write_text(urdf, encoding="utf-8")
    written = cld.load(tmp_path / "old" / "robot.urdf", prepare=()).write(tmp_path / "b" / "r.urdf")
    text = written.texts[written.files[0]]
    assert 'filename="../old/meshes/tip.stl" scale="2 2 2"' in text
    assert 'filename="package://other/tip.stl"' in text


def test_angles_are_exact_where_pitch_is_a_right_angle() -> None:
    rng = np.random.default_rng(6)
    for away in (0.0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-5, 0.3):
        for sign in (-1.0, 1.0):
            roll, yaw = rng.uniform(-3.0, 3.0, 2)
            R = rpy_rotation((roll, sign * (np.pi / 2.0 - away), yaw))
            assert np.max(np.abs(rpy_rotation(angles(R)) - R)) <= 1e-15


def test_springs_that_a_format_cannot_say_are_refused(tmp_path: Path) -> None:
    """Those at joints are in MuJoCo, too."""
    for to, file in (("urdf+", "a.urdf"), ("mjcf", "a.xml")):
        with pytest.raises(cld.NotWritable, match="no words"):
            sprung().write(tmp_path / file, to=to)
    at_joint = sprung("\n".join(SPRINGS.split("\n")[:3]) + "\n")
    written = at_joint.write(tmp_path / "b.xml")
    (before,), (after,) = (
        robot.mechanism.tree.springs for robot in (at_joint, cld.load(written.files[0], prepare=()))
    )
    assert isinstance(before, JointSpring) and isinstance(after, JointSpring)
    assert (after.joint, after.stiffness) == (before.joint, before.stiffness)
    assert after.at_zero == pytest.approx(before.at_zero, rel=1e-12)
