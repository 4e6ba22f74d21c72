"""What an MJCF of ours holds, and what it cannot."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from support.figures import relative
from support.mjcf import FOUR_BAR
from support.written import FRICTION, leg_with, mujoco_of

import closed_loop_dynamics as cld
from closed_loop_dynamics.shipped import model_files

pytestmark = pytest.mark.usefixtures("traced_only")


def test_rotors_friction_and_limits_are_at_the_joints() -> None:
    robot = leg_with(FRICTION)
    model = mujoco_of(robot).model
    for joint, armature, damping, dry in (
        ("knee_cylinder", 300.0**2 * 2e-5, 40.0, 0.0),
        ("knee", 0.0, 0.3, 0.2),
        ("knee_cylinder_tilt", 0.04, 0.1, 0.0),
    ):
        at = model.joint(joint).dofadr[0]
        assert model.dof_armature[at] == pytest.approx(armature, rel=1e-15)
        assert (model.dof_damping[at], model.dof_frictionloss[at]) == (damping, dry)
        own = next(b.joint for b in robot.mechanism.tree.bodies if b.joint.name == joint)
        assert list(model.joint(joint).range) == [own.lower, own.upper]
        strongest = model.jnt_actfrcrange[model.joint(joint).id, 1]
        assert strongest == (own.effort if np.isfinite(own.effort) else 0.0)
    assert [model.actuator(a).name for a in range(model.nu)] == list(robot.names.actuator)


def test_rotors_and_damping_in_the_dynamics() -> None:
    text = FRICTION.replace("coulomb_friction: 0.2, ", "")  # not a force of the state in MuJoCo
    robot = leg_with(text)
    oracle = mujoco_of(robot)
    rng = np.random.default_rng(2)
    for y in robot.random_independent(rng, 4):
        yd, tau = rng.uniform(-1.0, 1.0, (2, robot.m))
        G, g = robot.loop_jacobian(y), robot.loop_bias(y, yd)
        state = robot.state(y, yd)
        M = oracle.mass_matrix(state.q)
        bias, passive = oracle.forces(state.q, state.qd)
        assert relative(robot.mass_matrix(y), G.T @ M @ G) <= 1e-10
        drive = robot.actuator_jacobian(y).T @ tau + G.T @ (passive - bias - M @ g)
        expected = np.linalg.solve(G.T @ M @ G, drive)
        assert relative(robot.forward_dynamics(y, yd, tau), expected) <= 1e-8


def test_it_is_shown_closed_on_its_branch() -> None:
    """MuJoCo starts from the reference, wherever that is."""
    oracle = mujoco_of(cld.load(FOUR_BAR))
    mujoco.mj_resetData(oracle.model, oracle.data)
    mujoco.mj_forward(oracle.model, oracle.data)
    assert np.max(np.abs(oracle.data.efc_pos[: oracle.data.ne])) <= 1e-9
    assert oracle.model.joint("crank_joint").qpos0[0] == pytest.approx(0.2)


@pytest.mark.parametrize(
    "name",
    [
        *("crank_leg", "four_bar", "lambda_rrpr", "geared_rotor"),
        *("belt_pair", "differential", "irsbot_4u", "sprr2_u", "irsbot2"),  # tendons
    ],
)
def test_what_we_write_we_read(name: str, tmp_path: Path) -> None:
    """The same dynamics, whatever joints our reader takes for independent."""
    robot = cld.load(name)
    again = cld.load(robot.write(tmp_path / "robot.xml").files[0])
    assert {*again.names.actuator} == {*robot.names.actuator}
    order = [robot.names.actuator.index(joint) for joint in again.names.actuator]
    rng = np.random.default_rng(1)
    for y in robot.random_independent(rng, 3):
        yd, ydd = rng.uniform(-1.0, 1.0, (2, robot.m))
        state = robot.state(y, yd, ydd)
        rows = [robot.names.spanning.index(joint) for joint in again.names.independent]
        here = [v[rows] for v in (state.q, state.qd, state.qdd)]
        tau = robot.inverse_dynamics(y, yd, ydd)[order]
        assert relative(again.inverse_dynamics(*here), tau) <= 1e-9


def test_notes_name_what_mjcf_cannot_say(tmp_path: Path) -> None:
    notes = "\n".join(leg_with(FRICTION).write(tmp_path / "leg.xml").notes)
    for words in ("independent: 'hip'", "r² I: 'knee_cylinder", "jump at rest", "limits of speed"):
        assert words in notes


def test_what_the_file_before_lost_is_named(tmp_path: Path) -> None:
    text = FOUR_BAR.replace('body name="rocker"', 'body name="rocker" gravcomp="0.5"')
    assert text != FOUR_BAR
    notes = cld.load(text).write(tmp_path / "a.xml").notes
    assert any("of the file that was read" in note and "gravcomp" in note for note in notes)


def test_looks_are_kept(tmp_path: Path) -> None:
    """Shapes, and meshes that MuJoCo reads, by a path from the new place."""
    folder = tmp_path / "old" / "meshes"
    folder.mkdir(parents=True)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype="<f4")
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    data = b"".join(bytes(12) + corners[list(f)].tobytes() + bytes(2) for f in faces)
    (folder / "tip.stl").write_bytes(bytes(80) + (4).to_bytes(4, "little") + data)
    urdf = model_files()["geared_rotor"].urdf.read_text()
    for file in ("tip.stl", "tip.dae"):
        shown = f'<visual><geometry><mesh filename="meshes/{file}"/></geometry></visual>'
        urdf = urdf.replace("<inertial>", f"{shown}<inertial >", 1)
    (tmp_path / "old" / "robot.urdf").write_text(urdf)
    robot = cld.load(tmp_path / "old" / "robot.urdf", prepare=())
    written = robot.write(tmp_path / "new" / "robot.xml")
    assert 'file="../old/meshes/tip.stl"' in written.texts[written.files[0]]
    assert "not shown, no such file: 'meshes/tip.dae'" in written.notes
    model = mujoco.MjModel.from_xml_path(str(written.files[0]))
    assert (model.nmesh, model.ngeom >= 2) == (1, True)


def test_a_cut_that_slides_is_refused(tmp_path: Path) -> None:
    files = model_files()["parallelogram"]
    sliding = files.submechanisms.read_text().replace("cut: revolute", "cut: prismatic")
    robot = cld.load(files.urdf, sliding.replace("[0, 1, 0]", "[1, 0, 0]"), prepare=())
    with pytest.raises(cld.NotWritable, match="2 translations and 3 rotations") as caught:
        robot.write(tmp_path / "a.xml")
    assert "parallelogram" in caught.value.place and caught.value.remedy
    assert not (tmp_path / "a.xml").exists()


def test_two_translations_are_a_point_only_in_their_plane(tmp_path: Path) -> None:
    """Axes that are parallel to the eye: a point that is held would hold too much."""
    files = model_files()["crank_leg"]
    urdf, tilt = files.urdf.read_text(), '<joint name="knee_cylinder_tilt"'
    before, after = urdf.split(tilt)
    assert '<axis xyz="0 1 0"/>' in after
    urdf = before + tilt + after.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0.0001"/>', 1)
    robot = cld.load(urdf, files.submechanisms, prepare=())
    with pytest.raises(cld.NotWritable, match="'knee_cylinder_tilt' does not move in their plane"):
        robot.write(tmp_path / "a.xml")


def test_links_that_mujoco_cannot_move_are_refused(tmp_path: Path) -> None:
    link = '<link name="tip"/><joint name="free" type="continuous"><parent link="base"/>'
    urdf = f'<robot name="light"><link name="base"/>{link}<child link="tip"/></joint></robot>'
    with pytest.raises(cld.NotWritable, match="link 'tip': it has neither mass nor inertia"):
        cld.load(urdf, prepare=()).write(tmp_path / "a.xml")


def test_functions_are_refused(tmp_path: Path) -> None:
    files = model_files()["geared_rotor"]
    loops = "submechanisms: [{name: gear, type: FUNCTION, jointnames_spanningtree: [arm, rotor], "
    loops += "jointnames_independent: [arm], jointnames_active: [rotor]}]"
    robot = cld.load(files.urdf, loops, closures={"gear": lambda y: y**3}, prepare=())
    with pytest.raises(cld.NotWritable, match="a Python function closes it"):
        robot.write(tmp_path / "a.xml")


@pytest.mark.parametrize(("name", "to"), [("a.step", None), ("a", None), ("a.xml", "mjfc")])
def test_unknown_formats_are_refused(name: str, to: str | None, tmp_path: Path) -> None:
    with pytest.raises(cld.InvalidInput, match="mjcf"):
        cld.load("geared_rotor", prepare=()).write(tmp_path / name, to)
