"""What links look like: primitives, mesh files, bars in their place."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.model import read_urdf
from closed_loop_dynamics.model.visual import BOX, MESH
from closed_loop_dynamics.viewer.shapes import Visuals, body_shapes, robot_size, shapes_of

SOLID = """solid one
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid one
"""


def _urdf(geometry: str, material: str = "") -> str:
    return (
        '<robot name="r"><material name="red"><color rgba="1 0 0 1"/></material><link name="a">'
        f'<visual><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><geometry>{geometry}'
        f"</geometry>{material}</visual></link></robot>"
    )


def _shapes(urdf: str | Path) -> Visuals:
    return shapes_of(read_urdf(urdf))


def test_primitives_keep_size_place_and_colour() -> None:
    found = _shapes(_urdf('<box size="1 2 3"/>', '<material name="red"/>'))
    (shape,) = found.shapes["a"]
    assert (shape.kind, shape.size, shape.color) == (BOX, (1.0, 2.0, 3.0), (255, 0, 0))
    np.testing.assert_allclose(shape.pose[:3, 3], [0, 0, 1])
    np.testing.assert_allclose(shape.pose[:3, 0], [0, 1, 0], atol=1e-12)
    assert not found.missing


def test_shapes_that_make_no_sense_are_left_out() -> None:
    for geometry in (
        '<box size="1 nan 3"/>',
        '<sphere radius="-1"/>',
        '<cylinder radius="1"/>',
        "",
    ):
        assert not _shapes(_urdf(geometry)).shapes


@pytest.mark.parametrize(
    "name", ["meshes/one.stl", "package://pack/meshes/one.stl", "file://{folder}/meshes/one.stl"]
)
def test_mesh_files_are_found(tmp_path: Path, name: str) -> None:
    pytest.importorskip("trimesh", reason="the extra `viewer` is not installed")
    folder = tmp_path / "pack"
    (folder / "meshes").mkdir(parents=True)
    (folder / "meshes" / "one.stl").write_text(SOLID)
    file = folder / "robot.urdf"
    name = name.format(folder=folder)
    file.write_text(_urdf(f'<mesh filename="{name}" scale="2 2 2"/>'))
    found = _shapes(file)
    (shape,) = found.shapes["a"]
    assert shape.kind == MESH and shape.mesh is not None
    assert shape.mesh.vertices.max() == pytest.approx(2.0) and shape.mesh.faces.shape == (1, 3)


def test_missing_and_unfetched_meshes_are_named(tmp_path: Path) -> None:
    pytest.importorskip("trimesh", reason="the extra `viewer` is not installed")
    (tmp_path / "lfs.stl").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    (tmp_path / "bad.stl").write_text("solid nothing")
    (tmp_path / "bad.dae").write_text("<COLLADA>")
    file = tmp_path / "robot.urdf"
    reasons = {}
    for name in ("lfs.stl", "bad.stl", "bad.dae", "none.stl", "http://127.0.0.1/one.stl"):
        file.write_text(_urdf(f'<mesh filename="{name}"/>'))
        found = _shapes(file)
        assert not found.shapes
        reasons.update(found.missing)
    assert "git lfs pull" in reasons["lfs.stl"] and "not found" in reasons["none.stl"]
    assert len(reasons) == 5
    lines = Visuals(missing={**reasons, "far.stl": "not found"}).notes()
    assert any("none.stl, http://127.0.0.1/one.stl, far.stl" in line for line in lines)
    assert sum("--search-path" in line for line in lines) == 1
    assert all(any(name in line for line in lines) for name in reasons)


def _painted_obj(folder: Path) -> Path:
    """A square with a texture whose left half is red and whose right half is blue."""
    from PIL import Image

    pixels = np.zeros((2, 2, 3), np.uint8)
    pixels[:, 0, 0] = pixels[:, 1, 2] = 255
    Image.fromarray(pixels).save(folder / "halves.png")
    (folder / "square.mtl").write_text("newmtl halves\nKd 1 1 1\nmap_Kd halves.png\n")
    corners = [(0, 0), (1, 0), (0.2, 1), (0, 0.7)]
    lines = [*(f"v {x} {y} 0" for x, y in corners), *(f"vt {x} {y}" for x, y in corners)]
    file = folder / "square.obj"
    file.write_text(
        "\n".join(["mtllib square.mtl", *lines, "usemtl halves", "f 1/1 2/2 3/3 4/4", ""])
    )
    return file


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="millimeter" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="c"><lambert>
<diffuse><color>0 0.8 0.4 1</color></diffuse></lambert></technique></profile_COMMON></effect>
</library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="9">0 0 0 1000 0 0 0 0 500</float_array>
<technique_common><accessor source="#a" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles material="m" count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p>
</triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"><bind_material>
<technique_common><instance_material symbol="m" target="#m"/></technique_common></bind_material>
</instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""


def test_a_texture_is_shown_unless_the_urdf_names_a_colour(tmp_path: Path, server: Any) -> None:
    import trimesh

    from closed_loop_dynamics.viewer.scene import add_shape

    file = tmp_path / "robot.urdf"
    file.write_text(_urdf(f'<mesh filename="{_painted_obj(tmp_path).name}" scale="2 -2 2"/>'))
    (shape,) = _shapes(file).shapes["a"]
    assert shape.mesh is not None and shape.mesh.looks is not None
    assert shape.color == (255, 0, 0)  # three of its four corners
    (part,) = trimesh.load(io.BytesIO(shape.mesh.looks), "glb", force="scene").geometry.values()
    pixels = np.asarray(part.visual.material.baseColorTexture).reshape(-1, 3)
    assert np.unique(pixels, axis=0).tolist() == [[0, 0, 255], [255, 0, 0]]
    node = add_shape(server.scene, "/painted", shape)
    assert (node.glb_data, node.scale) == (shape.mesh.looks, (2.0, -2.0, 2.0))
    painted = add_shape(server.scene, "/plain", shape, (1, 2, 3))
    assert painted.color == (1, 2, 3) and painted.vertices.max() == pytest.approx(2.0)
    file.write_text(_urdf('<mesh filename="square.obj"/>', '<material name="red"/>'))
    (shape,) = _shapes(file).shapes["a"]
    assert shape.mesh is not None and shape.mesh.looks is None and shape.color == (255, 0, 0)


def test_collada_files_keep_colour_unit_and_axes(tmp_path: Path) -> None:
    pytest.importorskip("collada", reason="the extra `viewer` is not installed")
    (tmp_path / "one.dae").write_text(COLLADA)
    file = tmp_path / "robot.urdf"
    file.write_text(_urdf('<mesh filename="one.dae"/>'))
    (shape,) = _shapes(file).shapes["a"]
    assert shape.mesh is not None and shape.mesh.looks and shape.color == (0, 204, 102)
    # as RViz does: the unit counts, the upward axis does not
    np.testing.assert_allclose(np.ptp(shape.mesh.vertices, axis=0), [1.0, 0.0, 0.5])


def test_bodies_without_shapes_get_bars_to_their_joints_and_cuts(leg: cld.Robot) -> None:
    size = robot_size(leg)
    shapes = body_shapes(leg, Visuals(), size)
    assert set(shapes) == set(range(-1, len(leg.mechanism.tree.bodies)))
    assert all(shapes[b] for b in shapes)
    rod = leg.mechanism.tree.joint_index("ankle_rod")
    cut = next(
        frame[:3, 3]
        for branch in leg.branches.values()
        for cut in branch.closure.system.cuts
        for body, frame in ((cut.predecessor, cut.frame_p), (cut.successor, cut.frame_s))
        if body == rod
    )
    bar = shapes[rod][-1]
    assert bar.size[1] == pytest.approx(float(np.linalg.norm(cut)))
    np.testing.assert_allclose(bar.pose[:3, 3], 0.5 * cut, atol=1e-12)


def test_shipped_robot_is_drawn_with_its_own_shapes(leg: cld.Robot) -> None:
    visuals = shapes_of(leg.mechanism.tree)
    assert sum(map(len, visuals.shapes.values())) == 24 and not visuals.missing
    shapes = body_shapes(leg, visuals, robot_size(leg))
    thigh = leg.mechanism.tree.joint_index("hip")
    assert len(shapes[thigh]) == sum(
        len(visuals.shapes.get(link, [])) for link in leg.mechanism.tree.bodies[thigh].links
    )
