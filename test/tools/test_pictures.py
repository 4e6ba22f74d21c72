"""Pictures: solids are right, nearer hides farther, loops are closed, files are current."""

from __future__ import annotations

import re
import struct
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import closed_loop_dynamics as cld
from tools.pictures import draw, rest
from tools.pictures.__main__ import main
from tools.pictures.gallery import draw_shipped, page
from tools.pictures.png import write_png
from tools.pictures.raster import render
from tools.pictures.scene import Part, Scene, scene_of
from tools.pictures.solids import AROUND, Mesh, box, cylinder, read_stl, sphere
from tools.robots import SHIPPED

ROOT = Path(__file__).resolve().parents[2]
FILES = (ROOT / "urdf/heavy_duty_arm.urdf", ROOT / "config/heavy_duty_arm.yaml")
Y = np.array([0.4, 0.3, 0.15, 0.5])
NO_CUTS = np.zeros((0, 3))


@cache
def arm() -> cld.Robot:
    return cld.load(*FILES)


def pixels(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB")).astype(int)


def volume(mesh: Mesh) -> float:
    a, b, c = np.moveaxis(mesh.corners, 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6.0)


# -- solids --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mesh", "expected", "tolerance"),
    [
        (box(np.array([0.2, 0.3, 0.5])), 0.03, 1e-12),
        (cylinder(0.2, 0.7), 0.5 * AROUND * np.sin(2 * np.pi / AROUND) * 0.04 * 0.7, 1e-12),
        (sphere(0.3), 4.0 / 3.0 * np.pi * 0.027, 0.02),
    ],
    ids=["box", "cylinder", "sphere"],
)
def test_solids_are_closed_and_look_outwards(mesh: Mesh, expected: float, tolerance: float) -> None:
    assert volume(mesh) == pytest.approx(expected, rel=tolerance)
    assert volume(mesh.moved(np.diag([1.0, -1.0, -1.0, 1.0]))) == pytest.approx(volume(mesh))
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=-1), 1.0, atol=1e-12)
    assert np.all(np.sum(mesh.normals * mesh.corners, axis=-1) > 0.0)  # convex around the origin


def test_stl_files_are_read_in_both_forms(tmp_path: Path) -> None:
    solid = box(np.array([0.1, 0.2, 0.3]))
    triangles = solid.corners.astype("<f4")
    records = [b"\0" * 12 + t.tobytes() + b"\0\0" for t in triangles]
    binary = b"\0" * 80 + struct.pack("<I", len(triangles)) + b"".join(records)
    (tmp_path / "a.stl").write_bytes(binary)
    vertex = "".join(f"vertex {x} {y} {z}\n" for x, y, z in triangles.reshape(-1, 3))
    (tmp_path / "b.stl").write_text(f"solid box\n{vertex}endsolid box\n")
    for name in ("a.stl", "b.stl"):
        mesh = read_stl(tmp_path / name, np.array([1.0, 1.0, 2.0]))
        assert volume(mesh) == pytest.approx(2 * volume(solid), rel=1e-6)
    (tmp_path / "c.stl").write_text("nothing")
    with pytest.raises(ValueError, match="no triangles"):
        read_stl(tmp_path / "c.stl", np.ones(3))


# -- pixels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 1])
def test_nearer_solid_hides_the_farther_one_in_any_order(first: int) -> None:
    far, near = np.eye(4), np.eye(4)
    near[1, 3] = -1.0  # the eye is on the side of -y
    solid = box(np.array([0.5, 0.5, 0.5]))
    red = Part(solid.moved(far), (1.0, 0.0, 0.0))
    green = Part(solid.moved(near), (0.0, 1.0, 0.0))
    parts = [red, green] if first == 0 else [green, red]
    picture = render(Scene(parts, NO_CUTS), (0.0, 0.0), 60).astype(int)
    r, g, b = picture[picture.shape[0] // 2, picture.shape[1] // 2]
    assert g > 100 and r < 60 and b < 60


def test_background_is_white_and_the_solid_fills_the_picture() -> None:
    parts = [Part(sphere(1.0), (0.5, 0.5, 0.5))]
    picture = render(Scene(parts, NO_CUTS), (30.0, 20.0), 100)
    assert picture.shape[2] == 3 and max(picture.shape) in (100, 101)
    assert picture[0, 0].tolist() == [255, 255, 255]
    assert 0.25 < np.mean(picture.sum(axis=2) < 700) < 0.95


def test_png_holds_the_pixels(tmp_path: Path) -> None:
    given = np.random.default_rng(1).integers(0, 256, (11, 17, 3)).astype(np.uint8)
    write_png(tmp_path / "a.png", given)
    np.testing.assert_array_equal(pixels(tmp_path / "a.png"), given)


# -- robots --------------------------------------------------------------------------------------


def test_scene_shows_every_visual_where_the_link_is_and_both_sides_of_each_cut_meet() -> None:
    scene = scene_of(arm(), Y)
    assert len(scene.parts) == FILES[0].read_text(encoding="utf-8").count("<visual>")
    assert not scene.skipped
    assert len(scene.cuts) == 2
    moved = scene_of(arm(), np.array([0.4, 0.3, 0.15, 0.9]))
    shifts = [
        b.mesh.corners - a.mesh.corners for a, b in zip(scene.parts, moved.parts, strict=True)
    ]
    distance = [float(np.linalg.norm(s, axis=-1).max()) for s in shifts]
    assert sum(d > 1e-9 for d in distance) == 2  # the inner boom and the tool
    assert max(distance) == pytest.approx(0.4)
    for point, link in zip(scene.cuts, ("lift_arm", "tilt_arm"), strict=True):
        here = arm().pose(link, Y)
        at_rest = arm().pose(link, rest(arm()))
        cut = scene_of(arm(), rest(arm())).cuts
        index = ("lift_arm", "tilt_arm").index(link)
        local = np.linalg.solve(at_rest, [*cut[index], 1.0])
        np.testing.assert_allclose((here @ local)[:3], point, atol=1e-10)


def test_text_and_path_give_the_same_scene() -> None:
    text = FILES[0].read_text(encoding="utf-8")
    first, second = (scene_of(cld.load(urdf, FILES[1]), Y) for urdf in (FILES[0], text))
    for a, b in zip(first.parts, second.parts, strict=True):
        np.testing.assert_array_equal(a.mesh.corners, b.mesh.corners)
        assert a.color == b.color


def test_cuts_are_marked_in_blue_unless_told_otherwise(tmp_path: Path) -> None:
    blue = []
    for name, cuts in (("a.png", True), ("b.png", False)):
        draw(arm(), tmp_path / name, Y, size=300, cuts=cuts)
        r, g, b = np.moveaxis(pixels(tmp_path / name), 2, 0)
        blue.append(int(np.sum((b > r + 80) & (b > g + 40))))
    assert blue[0] > 50 and blue[1] == 0


MESHES = """<robot name="r"><material name="gold"><color rgba="1 0.8 0 1"/></material>
<link name="a"><visual><geometry><mesh filename="package://r/meshes/a.stl" scale="2 2 2"/>
</geometry><material name="gold"/></visual>
<visual><geometry><mesh filename="b.dae"/></geometry></visual>
<visual><geometry><mesh filename="b.obj"/></geometry></visual></link></robot>"""


def test_meshes_are_read_from_beside_the_urdf_and_missing_ones_are_named(tmp_path: Path) -> None:
    (tmp_path / "urdf").mkdir()
    (tmp_path / "meshes").mkdir()
    (tmp_path / "urdf/r.urdf").write_text(MESHES)
    (tmp_path / "urdf/b.obj").write_text("")
    robot = cld.load(tmp_path / "urdf/r.urdf")
    with pytest.raises(cld.InvalidInput, match=r"nothing to draw.*a\.stl' is not there"):
        draw(robot, tmp_path / "r.png")
    corners = "vertex 0 0 0 vertex 1 0 0 vertex 0 1 1"
    (tmp_path / "meshes/a.stl").write_text(f"solid a {corners} endsolid a")
    scene = scene_of(robot, [])
    assert [p.color for p in scene.parts] == [(1.0, 0.8, 0.0)]
    assert scene.parts[0].mesh.corners.max() == 2.0
    assert scene.skipped == [
        "link 'a': mesh 'b.dae' is not there",
        "link 'a': mesh 'b.obj' is not an STL file",
    ]


def test_visuals_with_bad_numbers_are_left_out_and_named() -> None:
    shapes = ('<box size="1 2"/>', '<sphere radius="nan"/>', "<cylinder/>", "<capsule/>")
    visuals = "".join(f"<visual><geometry>{s}</geometry></visual>" for s in shapes)
    place = '<visual><origin xyz="a b c"/><geometry><sphere radius="1"/></geometry></visual>'
    color = '<material name="m"><color rgba="1 0"/></material>'
    good = f'<visual><geometry><sphere radius="1"/></geometry>{color}</visual>'
    urdf = f'<robot name="r"><link name="a">{visuals}{place}<visual/>{good}</link></robot>'
    scene = scene_of(cld.load(urdf), [])
    assert len(scene.parts) == 1 and len(set(scene.parts[0].color)) == 2  # a plain grey
    words = ("3 finite", "1 finite", "1 finite", "<capsule>", "3 finite", "without geometry")
    assert all(w in text for w, text in zip(words, scene.skipped, strict=True))


def test_bodies_without_visuals_are_sticks_from_joint_to_joint() -> None:
    text = FILES[0].read_text(encoding="utf-8")
    bare = re.sub(r"    <visual>.*?</visual>\n", "", text, flags=re.DOTALL)
    scene = scene_of(cld.load(bare, FILES[1]), Y)
    tree = arm().mechanism.tree
    assert len(scene.parts) == sum(body.parent >= 0 for body in tree.bodies)
    ends = {b.link: arm().pose(b.link, Y)[:3, 3] for b in tree.bodies}
    first = scene.parts[0].mesh.corners.reshape(-1, 3)
    middle = 0.5 * (ends["pillar"] + ends["lift_arm"])
    np.testing.assert_allclose(0.5 * (first.min(axis=0) + first.max(axis=0)), middle, atol=1e-9)


def test_free_base_is_drawn_where_it_is(tmp_path: Path) -> None:
    files = ROOT / "urdf/heavy_duty_loop.urdf", ROOT / "config/heavy_duty_loop.yaml"
    robot = cld.load(*files, floating_base=True)
    still = scene_of(robot, rest(robot))
    y = rest(robot)
    y[:3] = 1.0, 2.0, 3.0
    for before, after in zip(still.parts, scene_of(robot, y).parts, strict=True):
        np.testing.assert_allclose(after.mesh.corners - before.mesh.corners - y[:3], 0, atol=1e-12)
    assert not draw(robot, tmp_path / "a.png", size=100)


def test_command_draws_and_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "arm.png"
    files = [str(path) for path in FILES]
    assert main([*files, "--out", str(out), "--size", "120", "--view", "10", "20"]) == 0
    assert max(pixels(out).shape) == 120
    assert main([*files, "--out", str(out), "--y", "0"]) == 1
    assert "expected (4,)" in capsys.readouterr().err
    assert main([*files, "--out", str(out), "--size", "5"]) == 1
    assert "16 to 4096" in capsys.readouterr().err


# -- the page ------------------------------------------------------------------------------------


def test_page_of_the_shipped_robots_is_current() -> None:
    """Otherwise run ``make pages``."""
    written = (ROOT / "docs/robots.md").read_text(encoding="utf-8")
    assert written == page()


@pytest.mark.parametrize("name", list(SHIPPED))
def test_every_shipped_robot_has_a_small_picture(name: str) -> None:
    path = ROOT / "docs/robots" / f"{name}.png"
    assert path.stat().st_size < 150_000
    assert np.mean(pixels(path).sum(axis=2) < 700) > 0.05


def test_committed_picture_is_what_the_package_draws(tmp_path: Path) -> None:
    draw_shipped("heavy_duty_loop", tmp_path / "a.png")
    committed, found = (
        pixels(p) for p in (ROOT / "docs/robots/heavy_duty_loop.png", tmp_path / "a.png")
    )
    assert committed.shape == found.shape
    assert np.mean(np.abs(committed - found)) < 0.5  # rounding may move single edge pixels
