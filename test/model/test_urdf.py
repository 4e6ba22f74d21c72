"""read_urdf on good files: lumping, frames, limits, mimic, floating base; against Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from closed_loop_dynamics.errors import UrdfError
from closed_loop_dynamics.model import read_description, read_submechanisms, read_urdf
from closed_loop_dynamics.model.tree import FLOATING, PRISMATIC, REVOLUTE
from closed_loop_dynamics.model.urdf.transmissions import read_transmissions
from closed_loop_dynamics.se3 import origin_pose
from closed_loop_dynamics.viewer.shapes import shapes_of

FIXED_CHAIN = """<robot name="chain">
  <link name="base"><inertial><mass value="9"/></inertial></link>
  <link name="plate"/>
  <link name="arm">
    <inertial>
      <origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/>
      <mass value="2.0"/>
      <inertia ixx="0.1" ixy="0.01" ixz="0.02" iyy="0.2" iyz="-0.03" izz="0.25"/>
    </inertial>
  </link>
  <link name="bracket"/>
  <link name="tool">
    <inertial>
      <origin xyz="-0.05 0.02 0.01" rpy="1.0 -0.3 0.2"/>
      <mass value="0.7"/>
      <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.015"/>
    </inertial>
  </link>
  <link name="slide"><inertial><mass value="0.5"/>
      <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="mount" type="fixed">
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><parent link="base"/><child link="plate"/>
    <axis xyz="0 0 0"/>
  </joint>
  <joint name="tilt" type="revolute">
    <origin xyz="0.1 0.2 0.3" rpy="-0.3 0.1 0.7"/><axis xyz="0 3 4"/>
    <parent link="plate"/><child link="arm"/>
    <limit lower="-1" upper="2" effort="5" velocity="3"/>
  </joint>
  <joint name="weld1" type="fixed">
    <origin xyz="0.3 0 0" rpy="0 0.4 0"/><parent link="arm"/><child link="bracket"/>
  </joint>
  <joint name="weld2" type="fixed">
    <origin xyz="0 0.2 0.1" rpy="0.5 0 0.3"/><parent link="bracket"/><child link="tool"/>
  </joint>
  <joint name="extend" type="prismatic">
    <origin xyz="0.05 0 0"/><axis xyz="0 0 1"/><parent link="tool"/><child link="slide"/>
    <limit lower="0" upper="0.2" effort="1" velocity="1"/>
  </joint>
</robot>"""


def two_links(joint: str) -> str:
    return f'<robot name="r"><link name="a"/><link name="b"/>{joint}</robot>'


def only_joint(attributes: str, children: str):
    text = two_links(f'<joint {attributes}><parent link="a"/><child link="b"/>{children}</joint>')
    return read_urdf(text).bodies[0].joint


def test_fixed_joints_are_lumped_like_pinocchio_does():
    pin = pytest.importorskip("pinocchio")
    tree = read_urdf(FIXED_CHAIN)
    model = pin.buildModelFromXML(FIXED_CHAIN)
    assert tree.joint_names == ("tilt", "extend") == tuple(model.names)[1:]
    for i, body in enumerate(tree.bodies):
        inertia = model.inertias[i + 1]
        np.testing.assert_allclose(body.joint.placement, model.jointPlacements[i + 1].homogeneous)
        assert body.mass == pytest.approx(inertia.mass)
        np.testing.assert_allclose(body.first_moment, inertia.mass * inertia.lever, atol=1e-14)
        about_origin = inertia.matrix()[3:, 3:]  # Pinocchio stacks [linear; angular]
        np.testing.assert_allclose(body.inertia, about_origin, atol=1e-14)


def test_every_link_keeps_its_frame():
    pin = pytest.importorskip("pinocchio")
    tree = read_urdf(FIXED_CHAIN)
    model = pin.buildModelFromXML(FIXED_CHAIN)
    assert set(tree.frames) == {"base", "plate", "arm", "bracket", "tool", "slide"}
    for link, (body, pose) in tree.frames.items():
        frame = model.frames[model.getFrameId(link, pin.FrameType.BODY)]
        assert frame.parentJoint == body + 1
        np.testing.assert_allclose(pose, frame.placement.homogeneous, atol=1e-14)
    assert tree.bodies[0].links == ("arm", "bracket", "tool")
    assert tree.fixed_joint_children == {"mount": "plate", "weld1": "bracket", "weld2": "tool"}


def test_axes_and_limits():
    tree = read_urdf(FIXED_CHAIN)
    tilt, extend = (body.joint for body in tree.bodies)
    np.testing.assert_allclose(tilt.axis, [0, 0.6, 0.8])
    assert (tilt.lower, tilt.upper, tilt.velocity, tilt.effort) == (-1, 2, 3, 5)
    assert (tilt.kind, extend.kind) == (REVOLUTE, PRISMATIC)


def test_link_inertias_are_about_the_com_in_link_axes():
    mass, com, inertia = read_urdf(FIXED_CHAIN).link_inertias["arm"]
    assert mass == 2.0
    np.testing.assert_allclose(com, [0.1, -0.2, 0.3])
    matrix = [[0.1, 0.01, 0.02], [0.01, 0.2, -0.03], [0.02, -0.03, 0.25]]
    np.testing.assert_allclose(np.linalg.eigvalsh(inertia), np.linalg.eigvalsh(matrix))
    assert not np.allclose(inertia, matrix)  # the rpy of the inertial frame was applied
    assert "bracket" not in read_urdf(FIXED_CHAIN).link_inertias


def test_missing_axis_is_x():
    np.testing.assert_array_equal(only_joint('name="j" type="revolute"', "").axis, [1, 0, 0])


@pytest.mark.parametrize(
    "limit",
    [
        "",
        '<limit lower="0" upper="0" effort="0" velocity="0.0"/>',
        '<limit lower="0.3" upper="0.3"/>',
        '<limit lower="-inf" upper="inf" effort="inf" velocity="inf"/>',
    ],
)
def test_empty_or_missing_limits_are_infinite(limit):
    joint = only_joint('name="j" type="revolute"', limit)
    limits = (joint.lower, joint.upper, joint.velocity, joint.effort)
    assert limits == (-np.inf, np.inf, np.inf, np.inf)


def test_continuous_joints_have_no_position_limit_but_keep_the_others():
    joint = only_joint(
        'name="j" type="continuous"', '<limit lower="-1" upper="1" effort="4" velocity="2"/>'
    )
    assert (joint.kind, joint.lower, joint.upper) == (REVOLUTE, -np.inf, np.inf)
    assert (joint.velocity, joint.effort) == (2, 4)


def test_depth_first_in_the_order_of_the_joints():
    links = "".join(f'<link name="{n}"/>' for n in "zabcde")
    pairs = ["za", "zb", "ac", "ad", "be"]  # parent and child; joint named after both
    joints = "".join(
        f'<joint name="{p}{c}" type="revolute"><parent link="{p}"/><child link="{c}"/></joint>'
        for p, c in pairs
    )
    tree = read_urdf(f'<robot name="r">{joints}{links}</robot>')
    assert tree.joint_names == ("za", "ac", "ad", "zb", "be")
    assert [body.parent for body in tree.bodies] == [-1, 0, 0, -1, 3]
    assert tree.path_to_root(tree.joint_index("be")) == [4, 3]


def test_a_chain_longer_than_the_recursion_limit():
    links = "".join(f'<link name="l{i}"/>' for i in range(1501))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(1500)
    )
    assert len(read_urdf(f'<robot name="long">{links}{joints}</robot>').bodies) == 1500


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ('<mimic joint="j"/>', ("j", 1.0, 0.0)),
        ('<mimic joint="j" multiplier="-2.5" offset="0.1"/>', ("j", -2.5, 0.1)),
        ('<mimic joint="j" multiplier="0"/>', ("j", 0.0, 0.0)),
    ],
)
def test_mimic(tag, expected):
    tree = read_urdf(
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>'
        f'<joint name="k" type="revolute"><parent link="b"/><child link="c"/>{tag}</joint></robot>'
    )
    assert tree.bodies[0].joint.mimic is None
    assert tree.bodies[1].joint.mimic == expected


def test_floating_base_moves_the_root_and_what_is_fixed_to_it():
    tree = read_urdf(FIXED_CHAIN, floating_base=True)
    base = tree.bodies[0]
    assert tree.joint_names == ("floating_base", "tilt", "extend")
    assert (base.link, base.parent, base.joint.kind) == ("base", -1, FLOATING)
    assert base.mass == 9.0
    assert base.links == ("base", "plate")
    assert tree.frames["plate"][0] == 0
    # plate is fixed to base: the placement of 'tilt' is the same with and without floating base
    fixed = read_urdf(FIXED_CHAIN).bodies[0].joint.placement
    np.testing.assert_allclose(tree.bodies[1].joint.placement, fixed)


def test_floating_joint_of_the_urdf():
    joint = only_joint('name="free" type="floating"', '<origin xyz="1 2 3"/>')
    assert joint.kind == FLOATING
    np.testing.assert_array_equal(joint.placement[:3, 3], [1, 2, 3])


def test_other_elements_are_ignored_in_silence(capfd):
    read_urdf(
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!-- <!DOCTYPE x> -->\n'
        '<robot name="r" xmlns:x="http://example.org/x" foo="1"><gazebo reference="a"><p/></gazebo>'
        '<link name="Body/Torso" bar="2"><visual name="v"><broken/></visual><x:y/></link>'
        '<transmission name="t"><type>Other</type></transmission><material name="m"/></robot>'
    )
    assert capfd.readouterr() == ("", "")


def test_default_namespace():
    tree = read_urdf('<robot xmlns="http://www.ros.org" name="r"><link name="a"/></robot>')
    assert (tree.root_link, tree.bodies) == ("a", ())


def test_path_and_text_give_the_same_tree(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(b"\xef\xbb\xbf" + FIXED_CHAIN.encode())  # with a byte order mark
    for source in (path, str(path), "\n  " + FIXED_CHAIN):
        assert read_urdf(source).joint_names == ("tilt", "extend")
    assert read_urdf(path).source == str(path)
    assert read_urdf(FIXED_CHAIN).source == "<text>"


def test_linear_transmissions_add_up():
    text = """<robot name="r">
      <transmission name="t"><type>MultiJointLinearTransmission</type>
        <joint name="m"><depends_on joint="x" multiplier="2" offset="0.5"/>
          <depends_on joint="y" multiplier="-1"/><depends_on joint="x" offset="0.25"/></joint>
        <joint name="x"/></transmission>
      <transmission name="u"><type>transmission_interface/SimpleTransmission</type>
        <joint name="z"><hardwareInterface>e</hardwareInterface></joint></transmission></robot>"""
    (coupling,) = read_transmissions(text)
    assert (coupling.joint, coupling.terms) == ("m", {"x": 3.0, "y": -1.0})
    assert coupling.offset == 0.75


BROKEN = """<robot name="r"><link name="a"/><link name="b"/>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>
  <transmission name="t"><type>MultiJointLinearTransmission</type>
    <joint name="j"><depends_on joint="j"/></joint></transmission></robot>"""


def test_a_broken_transmission_is_an_error_only_for_those_who_need_it():
    tree = read_urdf(BROKEN)
    assert tree.joint_names == ("j",)
    assert read_submechanisms(None, tree)[0].spanning == ("j",)
    text = "submechanisms:\n- {type: TRANSMISSION, jointnames: [j], jointnames_independent: [j]}\n"
    with pytest.raises(UrdfError, match=r"transmission 't'/joint 'j'/depends_on.*itself"):
        read_submechanisms(text, tree)


def test_lines_are_those_of_the_file():
    late = "\n\n<?xml version='1.0'?>\n" + FIXED_CHAIN.replace("<axis xyz=", "<axis\n xyz=", 1)
    at = late[: late.index("<axis")].count("\n") + 1
    with pytest.raises(UrdfError, match=rf"/axis \(line {at}\)"):
        read_urdf(late.replace("<axis\n xyz=", "<axis\n zyx=", 1))


LOOKS = """<robot name="r"><material name="red"><color rgba="1 0 0 1"/></material>
<link name="a">
  <visual><origin xyz="0 0 1" rpy="0 0 0.5"/><geometry><cylinder radius="1" length="2"/></geometry>
    <material name="red"/></visual>
  <visual><geometry><mesh filename="package://p/a.stl" scale="1 2 3"/></geometry>
    <material name="own"><color rgba="0 0.5 1 1"/></material></visual>
  <visual><geometry><capsule/></geometry></visual>
</link>
<link name="bare"/><joint name="j" type="fixed"><parent link="a"/><child link="bare"/></joint>
</robot>"""


def test_looks_are_read_with_the_tree():
    tree = read_urdf(LOOKS)
    assert set(tree.visuals) == {"a"}
    rod, mesh, unknown = tree.visuals["a"]
    assert (rod.kind, rod.size, rod.material, rod.color) == (
        "cylinder",
        (1.0, 2.0),
        "red",
        (1.0, 0.0, 0.0),
    )
    np.testing.assert_array_equal(rod.pose, origin_pose([0, 0, 1], [0, 0, 0.5]))
    assert (mesh.kind, mesh.mesh, mesh.scale) == ("mesh", "package://p/a.stl", (1.0, 2.0, 3.0))
    assert mesh.color == (0.0, 0.5, 1.0)
    assert (unknown.kind, unknown.problem) == ("", "<capsule> is not known")


def test_a_file_is_read_once(tmp_path):
    """Nothing looks into it again: not for transmissions, not for visuals."""
    path = tmp_path / "robot.urdf"
    path.write_text(LOOKS)
    description = read_description(path)
    path.unlink()
    assert shapes_of(description.tree).shapes["a"][0].size == (1.0, 2.0)
    assert read_submechanisms(None, description.tree) == description.submechanisms
