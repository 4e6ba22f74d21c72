"""The reader and ROS's own parser (urdf_parser_py) read the same out of every shipped robot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from closed_loop_dynamics.model import read_urdf
from closed_loop_dynamics.se3 import origin_pose, unit

urdf_parser = pytest.importorskip(
    "urdf_parser_py.urdf", reason="urdfdom-py is not installed (extra `test`, rosdep urdfdom_py)"
)

FILES = sorted((Path(__file__).parents[2] / "urdf").glob("*.urdf"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_joints_inertias_and_visuals_are_those_of_ros(path):
    tree = read_urdf(path)
    theirs = urdf_parser.URDF.from_xml_file(str(path))
    assert (tree.name, tree.root_link) == (theirs.name, theirs.get_root())
    assert set(tree.frames) == {link.name for link in theirs.links}
    for joint in theirs.joints:
        compare_joint(tree, joint)
    for link in theirs.links:
        compare_link(tree, link)


def compare_joint(tree, joint):
    if joint.type == "fixed":
        assert tree.fixed_joint_children[joint.name] == joint.child
        return
    body = tree.bodies[tree.joint_index(joint.name)]
    carrier, frame = tree.frames[joint.parent]
    assert (body.link, body.parent) == (joint.child, carrier)
    np.testing.assert_allclose(body.joint.placement, frame @ pose_of(joint), atol=1e-15)
    np.testing.assert_array_equal(body.joint.axis, unit(joint.axis or (1.0, 0.0, 0.0)))
    if joint.limit is not None and joint.limit.lower < joint.limit.upper:
        assert (body.joint.lower, body.joint.upper) == (joint.limit.lower, joint.limit.upper)
    if joint.limit is not None:
        assert body.joint.velocity == (joint.limit.velocity or np.inf)
        assert body.joint.effort == (joint.limit.effort or np.inf)
    mimic = None
    if joint.mimic is not None:
        ratio = 1.0 if joint.mimic.multiplier is None else joint.mimic.multiplier
        mimic = (joint.mimic.joint, ratio, joint.mimic.offset or 0.0)
    assert body.joint.mimic == mimic


def compare_link(tree, link):
    assert (link.name in tree.link_inertias) == (link.inertial is not None)
    if link.inertial is not None:
        mass, com, inertia = tree.link_inertias[link.name]
        T = pose_of(link.inertial)
        R = T[:3, :3]
        assert mass == link.inertial.mass
        np.testing.assert_array_equal(com, T[:3, 3])
        given = np.array(link.inertial.inertia.to_matrix())
        np.testing.assert_allclose(inertia, R @ given @ R.T, rtol=1e-14, atol=1e-18)
    visuals = tree.visuals.get(link.name, ())
    assert len(visuals) == len(link.visuals)
    for ours, theirs in zip(visuals, link.visuals, strict=True):
        assert ours.kind == type(theirs.geometry).__name__.lower()
        np.testing.assert_array_equal(ours.pose, pose_of(theirs))
        size = [getattr(theirs.geometry, key, ()) for key in ("size", "radius", "length")]
        assert list(ours.size) == list(np.hstack(size))
        assert ours.material == (theirs.material.name if theirs.material else "")


def pose_of(element):
    origin = element.origin
    zero = (0.0, 0.0, 0.0)
    return np.eye(4) if origin is None else origin_pose(origin.xyz or zero, origin.rpy or zero)
