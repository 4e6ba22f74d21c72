"""SDF: included models are as if they were written out; inertias from shapes are MuJoCo's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.damage import COUNT, mutate
from support.fuzz import attempt
from support.sdf import FOUR_BAR, axis, joint, link, sdf

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import ModelError
from closed_loop_dynamics.model import read_description
from closed_loop_dynamics.model.digest import digest

#: A leg of two links; its joint's axis is in the frame of the model, and so is a frame.
SHIN_AT = "0.1 0.2 -0.4 0.3 0.1 -0.2"
INSIDE = (
    link("thigh", "<pose>0.05 0 0.1 0.1 0.2 0.3</pose>")
    + link("shin", f'<pose relative_to="__model__">{SHIN_AT}</pose>')
    + joint("knee", "revolute", "thigh", "shin", axis("0 1 0", expressed_in="__model__"))
    + '<frame name="foot" attached_to="shin"><pose>0 0 -0.3 0 0.4 0</pose></frame>'
)
LEG = sdf(INSIDE, more=' canonical_link="shin"').replace('name="m"', 'name="leg"')
POSE = "<pose{}>0.3 -0.1 0.2 0.2 0.3 0.4</pose>"


def body(inside: str, hip: str) -> str:
    """A body and what hangs on it by the link ``hip``."""
    return sdf(link("base"), inside, joint("hip", "revolute", "base", hip, axis("1 0 0")))


def include(*words: str, more: str = "", uri: str = "model://leg") -> str:
    return f"<include{more}><uri>{uri}</uri>{''.join(words)}</include>"


@pytest.fixture
def folder(tmp_path):
    """With the leg as a model of Gazebo's: an older file, the newest and their model.config."""
    (tmp_path / "leg").mkdir()
    (tmp_path / "leg/leg.sdf").write_text(LEG)
    (tmp_path / "leg/old.sdf").write_text(sdf(link("nothing")))
    words = '<sdf version="1.9">old.sdf</sdf><sdf version="1.10"> leg.sdf </sdf>'
    (tmp_path / "leg/model.config").write_text(f"<model><name>Leg</name>{words}</model>")
    return tmp_path


def read(folder, text):
    path = folder / "robot.sdf"
    path.write_text(text)
    return read_description(path)


def poses_of(description):
    """Every frame at q = 0 in the world, by name."""
    tree, at = description.tree, {-1: np.eye(4)}
    for b, each in enumerate(tree.bodies):
        at[b] = at[each.parent] @ each.joint.placement
    return {name: at[b] @ inside for name, (b, inside) in tree.frames.items()}


@pytest.mark.parametrize("uri", ["model://leg", "leg", "leg/leg.sdf"])
def test_an_included_model_is_a_nested_one(folder, uri):
    words = ("<name>left</name>", POSE.format(' relative_to="base"'))
    given = read(folder, body(include(*words, uri=uri), "left::thigh"))
    nested = f'<model name="left" canonical_link="shin">{words[1]}{INSIDE}</model>'
    assert digest(given) == digest(read(folder, body(nested, "left::thigh")))


def test_a_text_is_looked_up_in_the_search_path_and_in_sdf_path(folder, monkeypatch):
    text = body(include(), "leg::thigh")
    with pytest.raises(ModelError, match=r"'model://leg' is not found.*include \(line|search_path"):
        read_description(text)
    given = digest(read_description(text, search_path=folder))
    monkeypatch.setenv("SDF_PATH", str(folder))
    assert digest(read_description(text)) == given
    assert cld.load(text).m == 8


def test_a_merged_model_moves_as_a_nested_one(folder):
    pose = POSE.format(' degrees="false"')
    merged = read(folder, body(include(pose, more=' merge="true"'), "thigh"))
    nested = read(folder, body(include(pose), "leg::thigh"))
    ours, theirs = poses_of(merged), poses_of(nested)
    for name in ("thigh", "shin", "foot"):
        np.testing.assert_allclose(ours[name], theirs[f"leg::{name}"], atol=1e-15)
    np.testing.assert_allclose(ours["_merged__leg__model__"][:3, 3], [0.3, -0.1, 0.2])
    for one, two in zip(merged.tree.bodies, nested.tree.bodies, strict=True):
        np.testing.assert_allclose(one.joint.axis, two.joint.axis, atol=1e-15)
        np.testing.assert_allclose(one.inertia, two.inertia, atol=1e-15)
    assert merged.tree.joint_names == ("floating_base", "hip", "knee")


@pytest.mark.parametrize("merge", ["true", "false"])
def test_the_placement_frame_is_where_the_pose_says(folder, merge):
    """Of a link, of a frame, and of the model itself."""
    prefix = "" if merge == "true" else "leg::"
    for frame in ("foot", "shin"):
        words = (POSE.format(""), f"<placement_frame>{frame}</placement_frame>")
        text = body(include(*words, more=f' merge="{merge}"'), f"{prefix}thigh")
        poses = poses_of(read(folder, text))
        np.testing.assert_allclose(poses[f"{prefix}{frame}"][:3, 3], [0.3, -0.1, 0.2], atol=1e-15)
        plain = poses_of(read(folder, body(include(POSE.format("")), "leg::thigh")))
        for name in ("thigh", "shin", "foot"):  # rigidly moved
            ours, theirs = (
                np.linalg.inv(p[f"{q}{frame}"]) @ p[f"{q}{name}"]
                for p, q in ((poses, prefix), (plain, "leg::"))
            )
            np.testing.assert_allclose(ours, theirs, atol=1e-15)


@pytest.mark.parametrize("merge", ["true", "false"])
def test_every_file_keeps_its_own_version(folder, merge):
    """Before 1.5 an axis is in the frame of its model, and before 1.7 names may be taken twice."""
    old = LEG.replace('version="1.9"', 'version="1.4"').replace(' expressed_in="__model__"', "")
    (folder / "leg/leg.sdf").write_text(old)
    prefix = "" if merge == "true" else "leg::"
    text = body(include(POSE.format(""), more=f' merge="{merge}"'), f"{prefix}thigh")
    given = read(folder, text).tree.bodies[2].joint.axis
    (folder / "leg/leg.sdf").write_text(LEG)
    np.testing.assert_allclose(given, read(folder, text).tree.bodies[2].joint.axis, atol=1e-15)
    assert abs(given[1]) < 0.99


def test_a_world_may_include_lights_scenery_and_one_robot(folder):
    for name, inside in (
        ("sun", '<light name="sun"/>'),
        ("floor", '<model name="floor"><link name="l"/></model>'),
    ):
        (folder / f"{name}.sdf").write_text(f'<sdf version="1.6">{inside}</sdf>')
    static = include("<static>true</static>", uri="floor.sdf")
    all_of_them = f"{static}{include()}{include(uri='sun.sdf')}"
    text = f'<sdf version="1.6"><world name="w">{all_of_them}</world></sdf>'
    tree = read(folder, text).tree
    assert tree.name == "leg" and tree.joint_names == ("floating_base", "knee")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (include(uri="https://fuel/Leg"), "'https://fuel/Leg' is not found"),
        (include(uri="robot.sdf"), "includes itself"),
        (include("<placement_frame>foot</placement_frame>"), "without <pose>"),
        pytest.param(
            include(POSE.format(""), "<placement_frame>toe</placement_frame>"),
            "no 'leg::toe'",
            id="no such frame",
        ),
        ("<include><name>x</name></include>", "has no <uri>"),
        (include("<params/>"), "not read here"),
        (include(uri="two.sdf"), "no SDF with one model"),
        (include(uri="robot.urdf"), "no SDF with one model"),
        (include("<static>true</static>", more=' merge="true"'), "static"),
        pytest.param(include(uri="x" * 5000), "is not found", id="long uri"),
        (include(uri="model://[x"), "is not found"),
    ],
)
def test_what_cannot_be_included_is_named(folder, text, problem):
    (folder / "two.sdf").write_text('<sdf version="1.9"><model name="a"/><model name="b"/></sdf>')
    (folder / "robot.urdf").write_text('<robot name="r"><link name="l"/></robot>')
    with pytest.raises(ModelError) as caught:
        read(folder, body(text, "leg::thigh"))
    error = caught.value
    assert problem in error.problem and error.place and error.remedy and len(str(error)) < 1000


def test_files_that_include_each_other_over_and_over_are_refused(folder):
    for k in range(40):
        twice = include(f"<name>a{k}</name>", uri=f"{k + 1}.sdf") * 2
        (folder / f"{k}.sdf").write_text(sdf(link("l"), twice))
    (folder / "40.sdf").write_text(LEG)
    with pytest.raises(ModelError, match="far too much"):
        read_description(folder / "0.sdf")


def test_damaged_included_files_are_a_robot_or_an_error(folder):
    rng = random.Random(8)
    words = (POSE.format(""), "<placement_frame>foot</placement_frame>")
    texts = {
        "robot.sdf": body(include(*words, more=' merge="true"'), "thigh"),
        "leg/leg.sdf": LEG,
        "leg/model.config": (folder / "leg/model.config").read_text(),
    }
    outcomes = set()
    for _ in range(COUNT):
        hurt = rng.choice(list(texts))
        for name, text in texts.items():
            text = mutate(text, rng) if name == hurt else text
            (folder / name).write_text(text, errors="replace")
        outcomes.add(attempt(read_description, folder / "robot.sdf"))
    assert outcomes == {True, False}


SHAPES = {
    "box": ("<box><size>0.3 0.2 0.5</size></box>", 'type="box" size="0.15 0.1 0.25"'),
    "sphere": ("<sphere><radius>0.2</radius></sphere>", 'type="sphere" size="0.2"'),
    "ellipsoid": (
        "<ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid>",
        'type="ellipsoid" size="0.1 0.2 0.3"',
    ),
    "cylinder": (
        "<cylinder><radius>0.1</radius><length>0.4</length></cylinder>",
        'type="cylinder" size="0.1 0.2"',
    ),
    "capsule": (
        "<capsule><radius>0.1</radius><length>0.4</length></capsule>",
        'type="capsule" size="0.1 0.2"',
    ),
}
AT = "0.1 -0.2 0.3 0.4 -0.5 0.6"


def shaped(shape: str, more: str = "", inside: str = "") -> str:
    collision = (
        f'<collision name="c"><pose>{AT}</pose>{more}<geometry>{shape}</geometry></collision>'
    )
    return f'<link name="base"><inertial auto="true">{inside}</inertial>{collision}</link>'


@pytest.mark.parametrize("shape", SHAPES)
def test_inertias_from_shapes_are_mujocos(shape):
    pytest.importorskip("mujoco", reason="pip install closed_loop_dynamics[mujoco]")
    ours, theirs = SHAPES[shape]
    more = ours.replace("0.3", "0.07").replace("0.4", "0.31")
    other = f'<collision name="d"><density>300</density><geometry>{more}</geometry></collision>'
    text = sdf(shaped(ours, "<density>700</density>").replace("</link>", f"{other}</link>"))
    given = read_description(text).tree.bodies[0]
    small = theirs.replace("0.3", "0.07")
    small = {
        "box": 'type="box" size="0.035 0.1 0.25"',
        "cylinder": 'type="cylinder" size="0.1 0.155"',
        "capsule": 'type="capsule" size="0.1 0.155"',
    }.get(shape, small)
    mjcf = (
        '<mujoco><compiler angle="radian" eulerseq="XYZ"/><worldbody><body><freejoint/>'
        f'<geom pos="0.1 -0.2 0.3" euler="0.4 -0.5 0.6" density="700" {theirs}/>'
        f'<geom density="300" {small}/></body></worldbody></mujoco>'
    )
    expected = read_description(mjcf).tree.bodies[0]
    assert given.mass == pytest.approx(expected.mass, rel=1e-12)
    np.testing.assert_allclose(given.first_moment, expected.first_moment, atol=1e-12)
    np.testing.assert_allclose(given.inertia, expected.inertia, rtol=1e-10, atol=1e-12)


def test_a_cone_points_upwards_and_a_mass_scales_the_whole():
    """Against thin discs."""
    cone = "<cone><radius>0.2</radius><length>0.6</length></cone>"
    text = sdf(shaped(cone, inside="<mass>3</mass>").replace(f"<pose>{AT}</pose>", ""))
    given = read_description(text).tree.bodies[0]
    z = (np.arange(200_000) + 0.5) / 200_000 * 0.6 - 0.3
    r = 0.2 * (0.3 - z) / 0.6
    mass = 3.0 * r**2 / (r**2).sum()
    assert given.mass == 3.0
    np.testing.assert_allclose(given.first_moment, [0, 0, mass @ z], atol=1e-9)
    across = mass @ (r**2 / 4 + z**2)
    np.testing.assert_allclose(
        given.inertia, np.diag([across, across, mass @ r**2 / 2]), rtol=1e-8, atol=1e-12
    )


@pytest.mark.parametrize(
    ("shape", "more", "problem"),
    [
        ("<mesh><uri>x.stl</uri></mesh>", "", "from <mesh>"),
        ("<plane/>", "", "from <plane>"),
        ("", "", "from <collision>"),
        ("<box><size>0 1 1</size></box>", "", "sizes"),
        ("<sphere/>", "", "sizes"),
        ("<sphere><radius>1</radius></sphere>", "<density>0</density>", "no mass"),
        ("<sphere><radius>1</radius></sphere>", "<density>-1</density>", "density"),
    ],
)
def test_shapes_without_an_inertia_are_refused_with_the_link(shape, more, problem):
    with pytest.raises(ModelError) as caught:
        read_description(sdf(shaped(shape, more)))
    assert problem in caught.value.problem and "link 'base'" in caught.value.place


def test_a_loop_of_included_links_moves_as_the_one_in_a_single_file(tmp_path):
    """FOUR_BAR with its rocker in a file of its own, against the whole, at speed."""
    start = FOUR_BAR.index('<link name="rocker">')
    end = FOUR_BAR.index("</link>", start) + len("</link>")
    rocker = FOUR_BAR[start:end]
    (tmp_path / "part.sdf").write_text(
        sdf(rocker.replace('<pose relative_to="ground">0 0 0 0 0 0.1</pose>', ""))
    )
    pose = '<pose relative_to="ground">0 0 0 0 0 0.1</pose>'
    text = FOUR_BAR.replace(rocker, include(pose, uri="part.sdf", more=' merge="1"'))
    robots = [cld.load(FOUR_BAR), cld.load(text, search_path=tmp_path)]
    y, yd, ydd = [0.3], [1.7], [-2.0]
    one, two = (robot.inverse_dynamics(y, yd, ydd) for robot in robots)
    np.testing.assert_allclose(one, two, rtol=1e-12)
