"""Load, write as SDF, load: the same motions and forces, by the names of the joints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import support.mjcf as mjcf
import support.sdf as sdf_files
import support.urdf_plus as plus
from support.figures import relative
from support.written import FRICTION, leg_with

import closed_loop_dynamics as cld
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.shipped import model_files
from closed_loop_dynamics.writers.ties import ties_of
from tools.oracles.sdf import sdf_oracle

pytestmark = pytest.mark.usefixtures("traced_only")

LEG = model_files()["crank_leg"]
SPRING = "\nsprings: [{joint: knee_cylinder_tilt, stiffness: 12.0, rest: 0.1, preload: -0.4}]\n"


def load(*files: object, **options: object) -> Callable[[], cld.Robot]:
    return lambda: cld.load(*files, prepare=(), **options)  # type: ignore[arg-type]


ROBOTS: dict[str, Callable[[], cld.Robot]] = {
    "spring": load(LEG.urdf, LEG.submechanisms.read_text(encoding="utf-8") + SPRING),
    "friction and rotors": lambda: leg_with(FRICTION),
    "driven rotor": load("geared_rotor"),
    "universal": load("irsbot_4u"),
    "two rotations": load("rrr3"),
    "floating": load("lambda_rrpr", floating_base=True),
    "shown elsewhere": load(mjcf.FOUR_BAR),
    "connect and gear": load(mjcf.GEARED),
    "open at zero": load(plus.ROBOTS["open"]),
    **{name: load(text) for name, text in sdf_files.ROBOTS.items()},
}


def shown(robot: cld.Robot) -> dict[str, float]:
    """Joint -> where the file shows it."""
    ties = ties_of(robot.mechanism)
    looped = [name for entry in robot.mechanism.entries if entry.loops for name in entry.spanning]
    return {name: ties.reference[name] for name in looped}


@pytest.mark.parametrize("name", ROBOTS)
def test_what_we_write_we_read(name: str, tmp_path: Path) -> None:
    """At speed; our reader may cut loops elsewhere and take other joints for independent."""
    robot = ROBOTS[name]()
    written = robot.write(tmp_path / "robot.sdf")
    again = cld.load(*written.files, prepare=())
    away = shown(robot)
    a, b = robot.mechanism, again.mechanism
    q_names, v_names, u_names = (
        [name.replace("::", "_") for name in names]
        for names in (a.q.names, a.qd.names, robot.names.actuator)
    )
    assert {*b.qd.names} <= {*v_names} and {*again.names.actuator} == {*u_names}
    q_at, v_at = [q_names.index(n) for n in b.q.names], [v_names.index(n) for n in b.qd.names]
    y_at, yd_at = ([b.q.names.index(n) for n in b.y.names], [*map(b.qd.names.index, b.yd.names)])
    shift = np.array([away.get(joint, 0.0) for joint in b.q.names])
    order = [u_names.index(joint) for joint in again.names.actuator]
    rng = np.random.default_rng(4)
    for y in robot.random_independent(rng, 3):
        yd, ydd = rng.uniform(-1.0, 1.0, (2, robot.m))
        here = robot.state(y, yd, ydd)
        q, qd, qdd = here.q[q_at] - shift, here.qd[v_at], here.qdd[v_at]
        there = (q[y_at], qd[yd_at], qdd[yd_at])
        copy = again.state(*there)
        for own, other in ((q, copy.q), (qd, copy.qd), (qdd, copy.qdd)):
            assert relative(other, own) <= 1e-9
        tau = rng.uniform(-1.0, 1.0, robot.p)
        expected = robot.state(y, yd, robot.forward_dynamics(y, yd, tau)).qdd[v_at][yd_at]
        assert relative(again.forward_dynamics(*there[:2], tau[order]), expected) <= 1e-9


@pytest.mark.parametrize("name", ["two rotations", "shown elsewhere"])
def test_another_reader_finds_the_same_robot(name: str, tmp_path: Path) -> None:
    """Pinocchio on the oracle's own reading of the file: loops closed, the same inertia."""
    robot = ROBOTS[name]()
    written = robot.write(tmp_path / "robot.sdf")
    oracle = sdf_oracle(written.texts[written.files[0]], robot.names.spanning)
    shift = np.array([shown(robot).get(joint, 0.0) for joint in robot.names.spanning])
    rng = np.random.default_rng(5)
    for y in robot.random_independent(rng, 3):
        yd, ydd = rng.uniform(-1.0, 1.0, (2, robot.m))
        state, G = robot.state(y, yd, ydd), robot.loop_jacobian(y)
        q = state.q - shift
        assert np.max(np.abs(oracle.phi(q))) <= 1e-9
        expected = G.T @ oracle.mass_matrix(q) @ G
        rotors = G.T @ np.diag([_rotor(robot, joint) for joint in robot.names.spanning]) @ G
        assert relative(robot.mass_matrix(y), expected + rotors) <= 1e-8


def _rotor(robot: cld.Robot, joint: str) -> float:
    return ties_of(robot.mechanism).model(joint).reflected_inertia


def test_limits_friction_rotors_and_springs_are_kept(tmp_path: Path) -> None:
    for name in ("spring", "friction and rotors"):
        robot = ROBOTS[name]()
        again = cld.load(*robot.write(tmp_path / "robot.sdf").files, prepare=())
        joints = [joint for joint in again.names.spanning if joint in robot.names.actuator]
        both = [Limits.of(r.mechanism.tree, joints) for r in (robot, again)]
        at = np.array([shown(robot).get(joint, 0.0) for joint in joints])
        for key, away in (("lower", at), ("upper", at), ("velocity", 0.0), ("effort", 0.0)):
            before, after = (getattr(limits, key) for limits in both)
            assert np.allclose(before, after + away, rtol=0.0, atol=1e-12), key
        one, two = (ties_of(r.mechanism) for r in (robot, again))
        for joint in again.names.spanning:
            a, b = one.model(joint), two.model(joint)
            assert (a.viscous_friction, a.coulomb_friction) == (
                b.viscous_friction,
                b.coulomb_friction,
            )
            assert a.reflected_inertia == b.reflected_inertia
        assert len(robot.mechanism.tree.springs) == len(again.mechanism.tree.springs)


def test_notes_say_what_sdf_cannot(tmp_path: Path) -> None:
    notes = "\n".join(leg_with(FRICTION).write(tmp_path / "leg.sdf").notes)
    for words in ("independent: 'hip'", "words of Drake: 'knee_cylinder", "dry friction has its"):
        assert words in notes
    notes = "\n".join(cld.load(mjcf.FOUR_BAR, prepare=()).write(tmp_path / "bar.sdf").notes)
    assert "counted from where the file shows the robot: 'crank_joint = 0.2" in notes
    notes = "\n".join(ROBOTS["floating"]().write(tmp_path / "free.sdf").notes)
    assert "no joint for a base that floats: 'floating_base'" in notes


def test_names_are_unique_and_links_keep_theirs_as_frames(tmp_path: Path) -> None:
    part = '<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
    part += 'iyz="0" izz="1"/></inertial></link><joint name="{0}" type="{1}"><parent link="{2}"/>'
    part += '<origin xyz="0 0.2 0.1" rpy="0.3 0 0"/><child link="{0}"/><axis xyz="1 0 0"/></joint>'
    urdf = f'<link name="base"/>{part.format("arm", "continuous", "base")}'
    robot = cld.load(f'<robot name="r">{urdf}{part.format("tool", "fixed", "arm")}</robot>')
    written = robot.write(tmp_path / "r.sdf")
    assert any("arm -> arm_link" in note for note in written.notes)
    again = cld.load(written.files[0], prepare=())
    assert again.names.spanning == ("arm",)
    for link, old in (("arm_link", "arm"), ("tool", "tool"), ("base", "base")):
        assert np.allclose(again.pose(link, [0.4]), robot.pose(old, [0.4]), atol=1e-15)


@pytest.mark.parametrize(
    ("robot", "problem"),
    [
        (load("belt_pair"), "<mimic> follows one joint"),
        (load(mjcf.CURVED), "a Python function closes it"),
        (load(LEG.urdf, LEG.submechanisms.read_text(encoding="utf-8") + "\nsprings: [{from: "
              "{link: base_link}, to: {link: shank}, stiffness: 9.0}]\n"), "no words"),
    ],
)  # fmt: skip
def test_what_sdf_cannot_say_is_refused(
    robot: Callable[[], cld.Robot], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(cld.NotWritable, match=problem):
        robot().write(tmp_path / "robot.sdf")
    assert not list(tmp_path.iterdir())
