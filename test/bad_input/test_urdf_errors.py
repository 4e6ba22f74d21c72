"""Every way to break a URDF ends in a UrdfError that names file, place and remedy."""

from __future__ import annotations

import os

import numpy as np
import pytest

from closed_loop_dynamics.errors import UrdfError
from closed_loop_dynamics.model import read_urdf
from closed_loop_dynamics.model.urdf.transmissions import read_transmissions

LINKS = '<link name="base"/><link name="shin"/><link name="foot"/>'


def joint(name="knee", kind="revolute", parent="base", child="shin", inside=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>"
    )


def robot(*parts):
    return '<robot name="r">\n' + "\n".join(parts) + "\n</robot>"


def knee(inside="", kind="revolute"):
    """Two joints; the first one is under test."""
    ankle = joint("ankle", "revolute", "shin", "foot")
    return robot(LINKS, joint(kind=kind, inside=inside), ankle)


def shin(inertial):
    return robot(
        '<link name="base"/>', f'<link name="shin"><inertial>{inertial}</inertial></link>', joint()
    )


GOOD_INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'

LAUGHS = (
    '<!DOCTYPE r [<!ENTITY a0 "ha">'
    + "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(9))
    + ']><robot name="&a9;"/>'
)

# text, place, problem, remedy
CASES = {
    "not XML": ("<robot name='r'><link", "robot", "well-formed", "closed"),
    "wrong root": ("<sdf/>", "sdf (line 1)", "<sdf>", "URDF"),
    "doctype": (
        '<?xml version="1.0"?><!-- c --> <!DOCTYPE robot><robot name="r"/>',
        "before <robot>",
        "document type",
        "remove",
    ),
    "billion laughs": (  # refused for its declaration, before the parser expands anything
        LAUGHS,
        "before <robot>",
        "DOCTYPE",
        "entities",
    ),
    "external entity": (
        '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]><robot name="r">&a;</robot>',
        "before <robot>",
        "DOCTYPE",
        "entities",
    ),
    "undefined entity": ('<robot name="&x;"/>', "robot", "well-formed", "correct"),
    "xacro expression": (
        knee('<origin xyz="${l} 0 0"/>'),
        "joint 'knee'/origin (line 3)",
        "'${l}' is not a number",
        "xacro",
    ),
    "no robot name": ("<robot><link name='a'/></robot>", "robot", "no name", "<robot name="),
    "no links": ('<robot name="r"/>', "robot", "no links", "<link"),
    "unknown version": ('<robot name="r" version="7"/>', "robot", "version '7'", "1.0"),
    "link without name": (robot("<link/>"), "link (line 2)", "no name", "<link name="),
    "link twice": (
        robot(LINKS, '<link name="shin"/>', joint()),
        "link 'shin' (line 3)",
        "line 2",
        "of its own",
    ),
    "joint twice": (
        robot(LINKS, joint(), joint(child="foot")),
        "joint 'knee' (line 4)",
        "second joint",
        "of its own",
    ),
    "joint without type": (
        robot(LINKS, '<joint name="knee"><parent link="base"/><child link="shin"/></joint>'),
        "joint 'knee'",
        "no type",
        "type=",
    ),
    "joint without child": (
        robot(LINKS, '<joint name="knee" type="fixed"><parent link="base"/></joint>'),
        "joint 'knee'",
        "no <child>",
        "add",
    ),
    "planar without a plane": (
        knee('<axis xyz="0 0 0"/>', kind="planar"),
        "joint 'knee'/axis",
        "zero axis",
        "direction",
    ),
    "unknown type": (knee(kind="revolut"), "joint 'knee'", "'revolut'", "mean 'revolute'?"),
    "unknown parent": (
        robot(LINKS, joint(parent="bas"), joint("ankle", child="foot")),
        "joint 'knee'/parent",
        "no link 'bas'",
        "mean 'base'?",
    ),
    "unknown child": (
        robot(LINKS, joint(child="shinn")),
        "joint 'knee'/child",
        "no link 'shinn'",
        "mean 'shin'?",
    ),
    "own parent": (robot(LINKS, joint(child="base")), "joint 'knee'/child", "own parent", "two"),
    "two parents": (
        robot(LINKS, joint(), joint("ankle", parent="foot")),
        "joint 'ankle'/child",
        "second parent (joint 'knee'",
        "submechanism file",
    ),
    "cycle beside a root": (
        robot(LINKS, joint(parent="foot"), joint("ankle", parent="shin", child="foot")),
        "joint",
        "cycle",
        "remove one joint",
    ),
    "cycle without root": (
        robot(
            '<link name="base"/><link name="shin"/>',
            joint(),
            joint("back", parent="shin", child="base"),
        ),
        "joint",
        "shin <- base <- shin",
        "remove one joint",
    ),
    "two roots": (robot(LINKS, joint()), "link 'foot'", "2 root links: base, foot", "connect"),
    "zero axis": (knee('<axis xyz="0 0 0"/>'), "joint 'knee'/axis", "zero axis", "direction"),
    "axis of two": (knee('<axis xyz="0 1"/>'), "joint 'knee'/axis", "2 numbers", "write xyz="),
    "axis without xyz": (knee("<axis/>"), "joint 'knee'/axis", "no xyz", "write"),
    "axis nan": (knee('<axis xyz="0 nan 1"/>'), "joint 'knee'/axis", "not finite", "finite"),
    "xyz inf": (knee('<origin xyz="0 inf 0"/>'), "joint 'knee'/origin", "not finite", "finite"),
    "xyz overflow": (knee('<origin xyz="0 1e999 0"/>'), "knee'/origin", "not finite", "finite"),
    "position overflows": (
        robot(
            LINKS,
            joint(kind="fixed", inside='<origin xyz="1.5e308 0 0"/>'),
            joint("ankle", "revolute", "shin", "foot", '<origin xyz="1.5e308 0 0"/>'),
        ),
        "joint 'ankle'/origin",
        "overflows",
        "metres",
    ),
    "xyz empty": (knee('<origin xyz=""/>'), "joint 'knee'/origin", "0 numbers", "write xyz="),
    "xyz comma": (knee('<origin xyz="0,5 0 0"/>'), "joint 'knee'/origin", "'0,5'", "decimal point"),
    "xyz underscore": (knee('<origin xyz="1_0 0 0"/>'), "knee'/origin", "'1_0'", "decimal point"),
    "rpy nan": (knee('<origin rpy="nan 0 0"/>'), "joint 'knee'/origin", "rpy", "finite"),
    "quaternion": (knee('<origin quat_xyzw="0 0 0 1"/>'), "knee'/origin", "quat_xyzw", "rpy"),
    "two origins": (
        knee("<origin/><origin/>"),
        "joint 'knee'/origin",
        "more than once",
        "keep one",
    ),
    "limits swapped": (
        knee('<limit lower="1" upper="-1" effort="1" velocity="1"/>'),
        "joint 'knee'/limit",
        "lower limit 1 is above",
        "swap",
    ),
    "limit nan": (knee('<limit lower="nan" upper="1"/>'), "joint 'knee'/limit", "lower", "finite"),
    "effort negative": (
        knee('<limit lower="0" upper="1" effort="-1"/>'),
        "joint 'knee'/limit",
        "effort limit -1",
        "magnitude",
    ),
    "negative mass": (
        shin(f'<mass value="-1"/>{GOOD_INERTIA}'),
        "link 'shin'/inertial/mass (line 3)",
        "-1 kg",
        "zero or more",
    ),
    "mass word": (
        shin(f'<mass value="heavy"/>{GOOD_INERTIA}'),
        "link 'shin'/inertial/mass",
        "'heavy'",
        "number",
    ),
    "no mass": (shin(GOOD_INERTIA), "link 'shin'/inertial", "no <mass>", "add"),
    "mass without value": (shin("<mass/>"), "shin'/inertial/mass", "no value", "<mass value="),
    "inertia nan": (
        shin('<mass value="1"/>' + GOOD_INERTIA.replace('izz="1"', 'izz="nan"')),
        "link 'shin'/inertial/inertia",
        "izz",
        "finite",
    ),
    "inertia incomplete": (
        shin('<mass value="1"/><inertia ixx="1"/>'),
        "link 'shin'/inertial/inertia",
        "no ixy",
        "ixy=",
    ),
    "inertia overflows": (
        shin(f'<origin xyz="1e200 0 0"/><mass value="1e9"/>{GOOD_INERTIA}'),
        "link 'shin'",
        "overflows",
        "in kg",
    ),
    "mimic unknown": (
        knee('<mimic joint="ankl"/>'),
        "joint 'knee'/mimic",
        "no joint 'ankl'",
        "mean 'ankle'?",
    ),
    "mimic itself": (knee('<mimic joint="knee"/>'), "joint 'knee'/mimic", "itself", "drives"),
    "mimic nan": (
        knee('<mimic joint="ankle" multiplier="nan"/>'),
        "joint 'knee'/mimic",
        "multiplier",
        "finite",
    ),
    "mimic inf": (
        knee('<mimic joint="ankle" offset="-inf"/>'),
        "joint 'knee'/mimic",
        "offset",
        "finite",
    ),
    "mimic without joint": (knee("<mimic/>"), "joint 'knee'/mimic", "no joint", "<mimic joint="),
    "mimic cycle": (
        robot(
            LINKS,
            joint(inside='<mimic joint="ankle"/>'),
            joint("ankle", "revolute", "shin", "foot", '<mimic joint="knee"/>'),
        ),
        "joint 'knee'/mimic",
        "knee -> ankle -> knee",
        "remove its mimic",
    ),
    "mimic of fixed": (
        robot(
            LINKS,
            joint(inside='<mimic joint="ankle"/>'),
            joint("ankle", "fixed", "shin", "foot"),
        ),
        "joint 'knee'/mimic",
        "fixed joint",
        "prismatic",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_bad_text(case, tmp_path):
    text, place, problem, remedy = case
    path = tmp_path / "broken.urdf"
    path.write_text(text, encoding="utf-8")
    for source, file in ((text, "<text>"), (path, "broken.urdf")):
        with pytest.raises(UrdfError) as caught:
            read_urdf(source)
        error = caught.value
        assert file in error.file
        assert place in error.place
        assert problem in error.problem
        assert remedy in error.remedy
        for part in (error.file, error.place, error.problem, error.remedy):
            assert part in str(error)


def test_the_base_of_the_cases_is_valid():
    assert read_urdf(knee()).joint_names == ("knee", "ankle")
    assert read_urdf(shin(f'<mass value="1"/>{GOOD_INERTIA}')).bodies[0].mass == 1.0


def test_line_numbers_survive_leading_blank_lines():
    with pytest.raises(UrdfError, match=r"joint 'knee'/axis \(line 5\)"):
        read_urdf("\n\n" + knee('<axis xyz="0 0 0"/>'))


@pytest.mark.parametrize(
    ("content", "problem", "remedy"),
    [
        (b"", "empty", "written completely"),
        (b" \n", "empty", "written completely"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "not UTF-8", "save it as UTF-8"),
        ("<robot name='ä'/>".encode("latin-1"), "not UTF-8 text (byte 13)", "save it as UTF-8"),
        (b"<robot name='r'>\0</robot>", "binary", "itself"),
        ("<robot name='r'/>".encode("utf-16"), "UTF-8", "save it as UTF-8"),
        (b"robot: r", "well-formed", "XML"),
    ],
)
def test_bad_file_contents(content, problem, remedy, tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(content)
    with pytest.raises(UrdfError) as caught:
        read_urdf(path)
    assert caught.value.file == str(path)
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy


def test_missing_file_suggests_a_neighbour(tmp_path):
    (tmp_path / "robot.urdf").write_text("<robot/>")
    with pytest.raises(UrdfError, match=r"robto\.urdf: no such file; .*did you mean 'robot\.urdf'"):
        read_urdf(tmp_path / "robto.urdf")
    with pytest.raises(UrdfError, match=r"folder .* does not exist"):
        read_urdf(tmp_path / "nowhere" / "robot.urdf")


def test_folder_and_special_file(tmp_path):
    with pytest.raises(UrdfError, match=r"is a folder.*give the path"):
        read_urdf(tmp_path)
    with pytest.raises(UrdfError, match="not a regular file"):
        read_urdf(os.devnull)


def test_huge_file_is_refused_unread(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(65 * 2**20)  # sparse
    with pytest.raises(UrdfError, match=r"huge\.urdf: .*too large \(65 MB.*right file"):
        read_urdf(path)


@pytest.mark.parametrize(
    "source",
    [None, 3, b"<robot/>", ["a"], "", "  ", "a\0b", pytest.param("x" * 5000, id="long")],
)
def test_things_that_are_no_source(source):
    with pytest.raises(UrdfError) as caught:
        read_urdf(source)
    assert caught.value.remedy
    assert len(str(caught.value)) < 1000


def test_lone_surrogate_in_text():
    with pytest.raises(UrdfError, match=r"<text>: .*not Unicode.*UTF-8"):
        read_urdf('<robot name="\ud800"/>')


def test_deep_nesting_is_refused():
    with pytest.raises(UrdfError, match="<text>: robot: not well-formed"):
        read_urdf("<robot name='r'>" + "<a>" * 5000 + "</a>" * 5000 + "</robot>")


def test_floating_base_conflicts():
    named = robot(LINKS, joint("floating_base"), joint("ankle", "fixed", "shin", "foot"))
    with pytest.raises(UrdfError, match=r"<text>: joint 'floating_base'.*rename"):
        read_urdf(named, floating_base=True)
    assert read_urdf(named).joint_names == ("floating_base",)
    free = robot('<link name="base"/><link name="shin"/>', joint("free", "floating"))
    with pytest.raises(UrdfError, match=r"joint 'free'.*already.*floating_base=False"):
        read_urdf(free, floating_base=True)
    assert read_urdf(free).joint_names == ("free",)


def test_non_physical_but_finite_inertia_passes():
    inertia = GOOD_INERTIA.replace('ixx="1"', 'ixx="-5"')
    tree = read_urdf(shin(f'<mass value="0"/>{inertia}'))
    np.testing.assert_array_equal(tree.bodies[0].inertia, np.diag([-5.0, 1.0, 1.0]))


def transmission(inside):
    return robot(
        '<transmission name="t"><type>MultiJointLinearTransmission</type>',
        inside,
        "</transmission>",
    )


@pytest.mark.parametrize(
    ("inside", "place", "problem", "remedy"),
    [
        (
            '<joint name="m"><depends_on joint="x" multiplier="nan"/></joint>',
            "transmission 't'/joint 'm'/depends_on (line 3)",
            "multiplier",
            "finite",
        ),
        (
            '<joint name="m"><depends_on multiplier="1"/></joint>',
            "joint 'm'/depends_on",
            "no joint",
            "joint=",
        ),
        ('<joint><depends_on joint="x"/></joint>', "transmission 't'/joint", "no name", "name="),
        (
            '<joint name="m"><depends_on joint="m"/></joint>',
            "joint 'm'/depends_on",
            "itself",
            "drives",
        ),
        (
            '<joint name="m"><depends_on joint="x"/></joint>' * 2,
            "joint 'm'",
            "two transmissions",
            "one <joint>",
        ),
        (
            '<joint name="m">' + '<depends_on joint="x" multiplier="1e308"/>' * 2 + "</joint>",
            "joint 'm'",
            "overflows",
            "smaller",
        ),
    ],
)
def test_bad_transmissions(inside, place, problem, remedy):
    with pytest.raises(UrdfError) as caught:
        read_transmissions(transmission(inside))
    assert caught.value.file == "<text>"
    assert place in caught.value.place
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy
