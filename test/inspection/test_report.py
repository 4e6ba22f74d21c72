"""What the linter says about good and bad models."""

from __future__ import annotations

import re

import numpy as np
import pytest
import yaml
from support.rh5 import FILES, needs_models
from support.shipped import shipped_files

import closed_loop_dynamics as cld
from tools.robots import crank_leg
from tools.robots.mechanisms import MECHANISMS


def codes(report, severity=None):
    return {f.code for f in report.findings if severity in (None, f.severity)}


PENDULUM = """
<robot name="pendulum">
  <link name="base"/>
  <link name="arm">
    <inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
      <inertia ixx="{ixx}" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.01"/></inertial>
  </link>
  <joint name="swing" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="10" velocity="5"/>
  </joint>
</robot>
"""


def test_a_clean_model_gets_a_clean_report():
    report = cld.load(PENDULUM.format(ixx=0.05)).report()
    assert report.ok and report.findings == ()
    assert "nothing to remark" in str(report)


@pytest.mark.parametrize(
    ("ixx", "word"), [(-0.05, "negative principal moment"), (0.5, "triangle inequality")]
)
def test_an_inertia_no_body_can_have_is_named(ixx, word):
    report = cld.load(PENDULUM.format(ixx=ixx)).report()
    (finding,) = [f for f in report.findings if f.code == "inertia"]
    assert "'arm'" in finding.message and word in finding.message


def test_a_massless_end_of_a_chain_is_an_error_that_names_the_link():
    text = PENDULUM.format(ixx=0.05).replace('mass value="2"', 'mass value="0"')
    for word in ("0.05", "0.01"):
        text = text.replace(f'"{word}"', '"0"')
    report = cld.load(text).report()
    assert not report.ok
    assert "massless-leaf" in codes(report)
    (error,) = report.errors
    assert error.code == "singular-inertia" and "arm" in error.message


def test_the_report_is_plain_data_for_tools():
    data = cld.load(PENDULUM.format(ixx=0.05)).report().as_dict()
    assert data["n"] == data["m"] == data["p"] == 1
    assert data["submechanisms"][0]["independent"] == ["swing"]


def changed_leg(*changes: tuple[str, str]) -> cld.Robot:
    """The crank leg with words of its files replaced."""
    texts = [path.read_text(encoding="utf-8") for path in shipped_files("crank_leg")]
    for before, after in changes:
        assert sum(text.count(before) for text in texts) == 1, before
        texts = [text.replace(before, after) for text in texts]
    return cld.load(*texts)


def test_a_joint_that_no_loop_moves_is_named_and_rests():
    robot = changed_leg(
        (
            '<joint name="ankle_rod_end" type="fixed">',
            '<joint name="ankle_rod_end" type="continuous"><axis xyz="0 1 0"/>',
        ),
        ("[ankle, ankle_crank, ankle_rod]", "[ankle, ankle_crank, ankle_rod, ankle_rod_end]"),
    )
    report = robot.report()
    ankle = report["ankle"]
    assert ankle.idle_joints == ["ankle_rod_end"]
    assert (ankle.rows, ankle.rank, ankle.mobility) == (2, 2, 1)
    assert "idle-joint" in codes(report, "warning")
    state = robot.state([0.1, 0.5, -0.3], [1.0, -2.0, 1.0])
    at = robot.names.spanning.index("ankle_rod_end")
    assert abs(state.q[at]) < 1e-15 and state.qd[at] == 0.0
    plain = changed_leg()
    tau = (r.inverse_dynamics([0.1, 0.5, -0.3], [1, -2, 1], [3, 2, 1]) for r in (robot, plain))
    np.testing.assert_allclose(*tau, rtol=1e-12)


def test_limits_past_a_toggle_are_remarked_and_the_reported_interval_is_reachable():
    far = ('<limit lower="-0.85" upper="0.6"', '<limit lower="-2.8" upper="2.8"')
    robot = changed_leg(far)
    report = robot.report()
    assert "limits-past-toggle" in codes(report, "warning")
    low, high = report["ankle"].reachable["ankle"]
    assert high < 2.0
    ends = np.array([[0.0, 0.5, low], [0.0, 0.5, high - 1e-9]])
    assert robot.state(ends).residual.max() < 1e-10
    with pytest.raises(cld.ClosureNotFound):
        robot.state([0.0, 0.5, high + 1e-3])


AXES = {name: {"name": name, "axis": [0] * 3 + [int(name == x) for x in "xyz"]} for name in "xyz"}


@pytest.mark.parametrize(
    ("cut", "axis_of_the_rod", "words"),
    [
        (
            {"cut": "revolute", "axis": [1, 0, 0]},
            "0 1 0",
            "ankle_rod_tip ~ foot locks rotation about (0, 1, 0) of its frame, and its loop turns "
            "about (0, 1, 0)",
        ),
        (
            {"constraint_axes": [AXES["x"], AXES["y"]]},
            "0 1 0",
            "ankle_rod_tip ~ foot holds nothing along (0, 0, 1) of its frame, in the plane",
        ),
        ({"cut": "revolute", "axis": [0, 1, 0]}, "1 0 0", "joint 'ankle_rod' turns about"),
    ],
)
def test_the_axis_that_differs_is_named(cut, axis_of_the_rod, words):
    urdf, submechanisms = crank_leg.generate()
    joint = urdf.index('<joint name="ankle_rod" ')
    urdf = urdf[:joint] + urdf[joint:].replace('xyz="0 1 0"', f'xyz="{axis_of_the_rod}"', 1)
    content = yaml.safe_load(submechanisms)
    (loop,) = content["submechanisms"][2]["loop_constraints"]
    del loop["constraint_axes"]
    loop |= cut
    with pytest.raises(cld.SubmechanismError, match=re.escape(words)) as caught:
        cld.load(urdf, yaml.safe_dump(content))
    assert "list 0 joints" not in str(caught.value) and "turn that axis" in str(caught.value)


def test_a_planar_loop_that_is_not_quite_planar_says_what_was_dropped():
    third = "    - {name: loopTY, axis: [0, 0, 0, 0, 1, 0]}\n  # A four-bar"
    report = changed_leg(
        ('rpy="0 3.085314117301 0"', 'rpy="2e-5 3.085314117301 0"'), ("\n  # A four-bar", third)
    ).report()
    knee = report["knee"]
    assert knee.rank == 2 and knee.rows == 3 and len(knee.redundant_rows) == 1
    assert 1e-7 < knee.dropped_residual < 5e-6
    assert "dropped-residual" in codes(report, "warning")


def test_the_legs_of_a_closed_form_are_data():
    report = cld.load(*crank_leg.generate()).report()
    loops = [s for s in report.submechanisms if s.rows]
    assert loops and all(s.legs for s in loops)
    for summary in loops:
        assert summary.why == f"closed form by legs: {'+'.join(summary.legs)}"
    numerical = cld.load(*crank_leg.generate(), solver="numerical").report()
    assert all(s.legs == () for s in numerical.submechanisms)


@needs_models
def test_the_wrist_report_names_idle_joints_and_limits_past_the_toggle():
    robot = cld.load(*FILES["wrist"])
    report = robot.report()
    (wrist,) = [s for s in report.submechanisms if s.rows]
    assert wrist.idle_joints == ["ALWristBL0", "ALWristBL2", "ALWristBR0", "ALWristBR2"]
    assert (wrist.rows, wrist.rank, wrist.mobility) == (10, 10, 2)
    assert not wrist.reach_is_exact and "reaches at least" in str(report)
    assert "limits-past-toggle" in codes(report, "info")
    assert "limits-past-toggle" not in codes(report, "warning")  # of a grid: no reason to fail
    low, high = wrist.reachable["ALWristYaw"]
    assert -1.35 < low < -0.9 and 0.9 < high < 1.35


@needs_models
def test_every_state_in_the_reported_box_is_reachable():
    robot = cld.load(*FILES["wrist"])
    (wrist,) = [s for s in robot.report().submechanisms if s.rows]
    low, high = np.array(list(wrist.reachable.values())).T
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(2, -1).T
    assert robot.state(corners).residual.max() < 1e-10


@needs_models
def test_the_leg_report_says_what_was_dropped_and_what_that_leaves():
    report = cld.load(*FILES["leg"]).report()
    hip = report["left_hip2_joint"]
    assert hip.rank == 2 and hip.rows == 3 and len(hip.redundant_rows) == 1
    # Rounded dimensions: the loop is planar only to micrometres, and the report says so.
    assert 1e-7 < hip.dropped_residual < 5e-5
    assert "dropped-residual" in codes(report, "warning")


def test_what_a_closed_form_leaves_is_reported():
    """The axes of one universal joint miss each other by 8 micrometres: within the tolerance."""
    urdf, submechanisms = MECHANISMS["spu2_u"].build()
    missing = '<child link="left_u_2_link"/>\n    <origin xyz="0 0 0"'
    assert missing in urdf
    robot = cld.load(urdf.replace(missing, missing.replace("0 0 0", "0 0 8e-6")), submechanisms)
    (found,) = [f for f in robot.report().findings if f.code == "closed-form-residual"]
    assert "leaves up to 8e-06 m" in found.message and found.severity == "info"
    assert robot.state([0.1, 0.2]).residual <= robot.report()["spu2_u"].residual * 1.01
    exact = cld.load(urdf, submechanisms).report()
    assert "closed-form-residual" not in codes(exact)


def leg_with(reference):
    """The crank leg with another reference of the knee."""
    urdf, submechanisms = crank_leg.generate()
    content = yaml.safe_load(submechanisms)
    (knee,) = [e for e in content["submechanisms"] if "knee" in e["jointnames_independent"]]
    knee["reference"] = reference
    return cld.load(urdf, yaml.safe_dump(content))


def test_a_reference_that_is_open_is_remarked():
    open_one = leg_with({"knee": 0.8, "knee_cylinder": 0.3, "knee_cylinder_tilt": -0.9})
    (note,) = [f.message for f in open_one.report().findings if f.code == "assembled"]
    assert "it gives" in note and "knee_cylinder=0.3" in note and "closed at" in note
    closed = open_one.state([0.0, 0.8, 0.0]).q
    values = dict(zip(open_one.names.spanning, map(float, closed), strict=True))
    names = ("knee", "knee_cylinder", "knee_cylinder_tilt")
    good = leg_with({name: values[name] for name in names})
    assert "assembled" not in codes(good.report())
    with pytest.raises(cld.SubmechanismError, match=r"reference.*radians and metres"):
        leg_with({"knee": 1e9})


def test_a_closed_form_that_holds_on_a_small_part_only_is_not_taken():
    """Far limits: beyond singularities the closed form lives on other branches."""
    urdf, submechanisms = MECHANISMS["rus6"].build(travel=0.04, turn=0.3)
    robot = cld.load(urdf, submechanisms)
    (entry,) = [s for s in robot.report().submechanisms if s.rows]
    assert entry.solver == "numerical" and "proved on" in entry.why
    same = cld.load(urdf, submechanisms, solver="analytical")  # slower, yet right
    y = np.full(6, 0.01)
    np.testing.assert_allclose(same.state(y).q, robot.state(y).q, atol=1e-8)
