"""Joints of several positions, as the formats write them: alone a joint, in a loop hinges."""

from __future__ import annotations

import numpy as np
import pytest
from support.mjcf import bar, robot
from support.sdf import SCREW, link, sdf
from support.sdf import joint as sdf_joint

import closed_loop_dynamics as cld
from closed_loop_dynamics.model import read_description
from closed_loop_dynamics.model.urdf.reader import read_urdf

URDF = (
    '<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/><origin '
    'xyz="0.1 0 0"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
    '<joint name="j" type="{kind}"><parent link="base"/><child link="arm"/>{more}</joint></robot>'
)
PENDULUM = robot(bar("rod", 0.3, "0 0 0", "", '<joint name="ball" type="ball"/>'))


def kinds(description) -> dict[str, str]:
    return {body.joint.name: body.joint.kind for body in description.tree.bodies}


def test_a_ball_is_one_joint_unless_a_loop_moves_it():
    assert kinds(read_description(PENDULUM)) == {"ball": "spherical"}
    alone = sdf(link("base"), link("arm"), sdf_joint("pin", "fixed", "world", "base"),
                sdf_joint("ball", "ball", "base", "arm"))  # fmt: skip
    assert kinds(read_description(alone)) == {"ball": "spherical"}
    assert kinds(read_description(URDF.format(kind="spherical", more=""))) == {"j": "spherical"}
    looped = read_description(SCREW)
    hinges = {name for name, kind in kinds(looped).items() if name.startswith("low")}
    assert hinges in (set(), {"low_X", "low_Y", "low_Z"})  # or the loop is cut there
    assert "spherical" not in kinds(looped).values()


def test_a_loop_makes_hinges_of_the_balls_on_its_way_and_of_no_others():
    tail = bar("tail", 0.1, "0.2 0 0", "", '<joint name="free" type="ball"/>')
    text = robot(
        bar("crank", 0.2, "0 0 0",
            bar("rod", 0.5, "0.2 0 0", tail, '<joint name="ball" type="ball"/>'))
        + bar("rocker", 0.5, "0.4 -0.5 0"),
        '<connect body1="rod" body2="rocker" anchor="0.5 0 0"/>',
    )  # fmt: skip
    found = read_description(text)
    names = ("crank_joint", "ball_X", "ball_Y", "ball_Z", "free", "rocker_joint")
    assert found.tree.joint_names == names and kinds(found)["free"] == "spherical"
    bodies = found.tree.bodies
    assert [body.parent for body in bodies] == [-1, 0, 1, 2, 3, -1]
    assert [bool(body.mass) for body in bodies] == [True, False, False, True, True, True]
    assert found.tree.frames["rod"][0] == 3 and found.tree.frames["tail"][0] == 4


@pytest.mark.parametrize(
    ("normal", "first", "second"),
    [("0 0 2", (1, 0, 0), (0, 1, 0)), ("1 0 0", (0, 1, 0), (0, 0, 1)),
     ("0 3 4", (1, 0, 0), (0, 0.8, -0.6))],
)  # fmt: skip
def test_a_planar_joint_slides_twice_and_turns(normal, first, second):
    tree = read_urdf(URDF.format(kind="planar", more=f'<axis xyz="{normal}"/>'))
    assert tree.joint_names == ("j_x", "j_y", "j_theta")
    axes = [body.joint.axis for body in tree.bodies]
    assert np.allclose(axes[0], first) and np.allclose(axes[1], second)
    assert np.allclose(np.cross(axes[0], axes[1]), axes[2])
    assert [body.link for body in tree.bodies] == ["j_x", "j_y", "arm"]


@pytest.mark.parametrize("kind", ["planar", "spherical", "floating"])
def test_limits_that_mean_nothing_are_named(kind):
    text = URDF.format(kind=kind, more='<limit effort="1" velocity="1"/>')
    codes = [remark.code for remark in read_description(text).tree.remarks]
    assert codes == ["unread-limit"]


def test_a_ball_cannot_be_tied_to_other_joints():
    yaml = (
        "submechanisms: [{name: s, type: NUMERICAL, jointnames_spanningtree: [j], "
        "jointnames_independent: [j], jointnames_active: []}]"
    )
    with pytest.raises(cld.SubmechanismError, match=r"'j' is spherical.*three revolute"):
        cld.load(URDF.format(kind="spherical", more=""), yaml)


@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_a_ball_that_is_written_is_read_again(suffix, tmp_path):
    loaded = cld.load(PENDULUM, prepare=())
    again = cld.load(*loaded.write(tmp_path / f"robot.{suffix}").files, prepare=())
    y = loaded.random_independent(np.random.default_rng(0))
    assert again.names.independent == ("ball",)
    assert np.allclose(again.mass_matrix(y), loaded.mass_matrix(y), rtol=1e-9, atol=0.0)
    assert np.allclose(again.gravity(y), loaded.gravity(y), rtol=0.0, atol=1e-9)
