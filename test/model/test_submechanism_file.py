"""read_submechanisms on good input: defaults, shorthands, couplings, implied entries, names."""

from __future__ import annotations

import numpy as np
import pytest

from closed_loop_dynamics.model import read_submechanisms, read_urdf
from closed_loop_dynamics.model.words import LOOP_TYPES, VALID_TYPES

# base -crank- a -rod- b ; base -rocker- c ; base -slide(P)- d ; b -weld- tip
URDF = """<robot name="r">
  <link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <link name="tip"/>
  <joint name="crank" type="revolute"><parent link="base"/><child link="a"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="rod" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
  <joint name="weld" type="fixed"><parent link="b"/><child link="tip"/></joint>
  <joint name="rocker" type="revolute"><parent link="base"/><child link="c"/></joint>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="d"/>%s</joint>
</robot>"""
PLAIN = URDF % ""
MIMIC = URDF % '<mimic joint="rocker" multiplier="0.5" offset="0.1"/>'

FOUR_BAR = """
submechanisms:
- name: four_bar
  type: NUMERICAL
  jointnames: [crank, rod, weld, rocker]
  jointnames_independent: [crank]
  jointnames_active: [rocker]
  loop_constraints:
  - {cut_joint: rod, predecessor_body: tip, successor_body: c, LOCK}
"""


def four_bar(lock="cut: spherical"):
    return read_submechanisms(FOUR_BAR.replace("LOCK", lock), read_urdf(PLAIN))[0]


def serial(extra="", joints="[crank, rod]"):
    return (
        f"submechanisms:\n- jointnames_spanningtree: {joints}\n"
        f"  jointnames_independent: {joints}\n{extra}"
    )


def coupled(couplings, spanning="[crank, rod, rocker]", independent="[crank]", kind="coupling"):
    text = (
        f"submechanisms:\n- type: {kind}\n  jointnames_spanningtree: {spanning}\n"
        f"  jointnames_independent: {independent}\n  couplings: {couplings}\n"
    )
    return read_submechanisms(text, read_urdf(PLAIN))[0]


def test_no_file_makes_every_joint_a_submechanism():
    entries = read_submechanisms(None, read_urdf(PLAIN))
    assert [e.name for e in entries] == ["crank", "rod", "rocker", "slide"]
    assert [e.type for e in entries] == ["r", "r", "r", "p"]
    for e in entries:
        assert e.spanning == e.independent == e.active == (e.name,)


def test_loop_entry_and_the_joints_it_leaves():
    tree = read_urdf(PLAIN)
    entries = read_submechanisms(FOUR_BAR.replace("LOCK", "cut: spherical"), tree)
    first, rest = entries
    assert first.spanning == ("crank", "rod", "rocker")  # of jointnames, without the fixed 'weld'
    assert (first.independent, first.active) == (("crank",), ("rocker",))
    assert (first.type, first.solver, first.name) == ("numerical", "auto", "four_bar")
    assert (first.place, first.file) == ("submechanisms[0]", "<text>")
    (loop,) = first.loops
    assert (loop.cut_joint, loop.predecessor, loop.successor) == ("rod", "tip", "c")
    assert loop.predecessor_frame is None and loop.successor_frame is None
    assert loop.place == "submechanisms[0].loop_constraints[0]"
    assert (rest.name, rest.type) == ("slide", "p")


def test_fixed_cut_joint_is_allowed():
    text = FOUR_BAR.replace("LOCK", "cut: fixed").replace("cut_joint: rod", "cut_joint: weld")
    assert read_submechanisms(text, read_urdf(PLAIN))[0].loops[0].cut_joint == "weld"


def test_explicit_frames_replace_the_cut_joint():
    frames = (
        "predecessor_frame: {xyz: [1, 2, 3], rpy: [0, 0, 1.5707963267948966]}, "
        "successor_frame: {}, cut: revolute"
    )
    for text in (
        FOUR_BAR.replace("LOCK", frames),
        FOUR_BAR.replace("LOCK", frames).replace("cut_joint: rod, ", ""),
    ):
        (loop,) = read_submechanisms(text, read_urdf(PLAIN))[0].loops
        assert loop.cut_joint is None
        expected = [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
        np.testing.assert_allclose(loop.predecessor_frame, expected, atol=1e-15)
        np.testing.assert_array_equal(loop.successor_frame, np.eye(4))


@pytest.mark.parametrize(
    ("cut", "free_rotations", "free_translations"),
    [
        ("revolute", "along", "none"),
        ("prismatic", "none", "along"),
        ("cylindrical", "along", "along"),
        ("universal", "across", "none"),
        ("spherical", "all", "none"),
        ("planar", "along", "across"),
        ("fixed", "none", "none"),
    ],
)
@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (3, -4, 12), (-1, 1e-9, 0)])
def test_named_cut_joints_lock_what_is_not_free(cut, free_rotations, free_translations, axis):
    lock = f"cut: {cut}, axis: {list(axis)}"
    if cut in ("spherical", "fixed"):
        lock = f"cut: {cut}"
    direction = np.array(axis) / np.linalg.norm(axis)
    along = np.outer(direction, direction)
    projector = {
        "none": np.zeros((3, 3)), "all": np.eye(3), "along": along, "across": np.eye(3) - along
    }  # fmt: skip
    rows = np.array([a.axis for a in four_bar(lock).loops[0].axes])
    np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-12)
    locked = rows.T @ rows  # projector onto the locked directions
    np.testing.assert_allclose(locked[:3, :3], np.eye(3) - projector[free_rotations], atol=1e-12)
    np.testing.assert_allclose(locked[3:, 3:], np.eye(3) - projector[free_translations], atol=1e-12)
    np.testing.assert_array_equal(locked[:3, 3:], 0)


def test_default_axis_of_a_named_cut_joint_is_z():
    axes = [a.axis for a in four_bar("cut: Revolute").loops[0].axes]
    assert axes[3:] == [(1, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0)]


def test_listed_axes_are_normalised():
    axes = four_bar(
        "constraint_axes: [{name: tx, axis: [0, 0, 0, 3, 0, 4], "
        "baumgarte_stabilization_parameter: 1e-2}, {axis: [0, 2, 0, 0, 0, 0]}]"
    ).loops[0].axes  # fmt: skip
    assert axes[0].name == "tx"
    assert axes[0].axis == pytest.approx((0, 0, 0, 0.6, 0, 0.8))
    assert axes[0].baumgarte == 0.01
    assert axes[1].axis == (0, 1, 0, 0, 0, 0)
    assert axes[1].baumgarte is None


def test_missing_type_follows_from_the_content():
    text = FOUR_BAR.replace("LOCK", "cut: fixed").replace("  type: NUMERICAL\n", "")
    assert read_submechanisms(text, read_urdf(PLAIN))[0].type == "numerical"
    assert read_submechanisms(serial(), read_urdf(PLAIN))[0].type == "serial"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("rrPr", "rrpr"),
        ("1-RRPR", "1-rrpr"),
        ("1RRPR", "1-rrpr"),
        ("2-SPU + 1U", "2spu+1u"),
        ("[2-SPRR]+1-U", "2sprr+1u"),
        ("PARALLELOGRAMCHAIN", "parallelogramchain"),
        ("6R", "6r"),
    ],
)
def test_type_spellings(written, meant):
    assert meant in VALID_TYPES
    text = serial(f"  type: '{written}'\n")
    if meant in LOOP_TYPES:
        text = text.replace("independent: [crank, rod]", "independent: [crank]")
    assert read_submechanisms(text, read_urdf(PLAIN))[0].type == meant


def test_known_mechanism_without_loops_is_accepted():
    text = serial("  type: rrPr\n").replace("independent: [crank, rod]", "independent: [crank]")
    entry = read_submechanisms(text, read_urdf(PLAIN))[0]
    assert (entry.loops, entry.independent, entry.active) == ((), ("crank",), ("crank",))


def test_extras():
    extra = (
        "  solver: Numerical\n  reference: {crank: 1e-1, rod: -2}\n  jointnames_active: [rod]\n"
        "  actuators: {rod: {viscous_friction: 0.1, coulomb_friction: 2, rotor_inertia: 1e-4}}\n"
    )
    entry = read_submechanisms(serial(extra), read_urdf(PLAIN))[0]
    assert entry.solver == "numerical"
    assert entry.reference == {"crank": 0.1, "rod": -2.0}
    motor = entry.actuators["rod"]
    assert (motor.viscous_friction, motor.coulomb_friction, motor.rotor_inertia) == (0.1, 2, 1e-4)
    assert (motor.gear_ratio, motor.coulomb_speed, motor.reflected_inertia) == (1.0, 0.01, 1e-4)
    extra = extra.replace("rotor_inertia: 1e-4", "rotor_inertia: 1e-4, gear_ratio: -30")
    extra += "  joint_friction: {crank: {viscous_friction: 0.3, coulomb_speed: 0.5}}\n"
    entry = read_submechanisms(serial(extra), read_urdf(PLAIN))[0]
    assert entry.actuators["rod"].reflected_inertia == pytest.approx(900 * 1e-4)
    assert entry.joint_model("crank") is entry.friction["crank"]
    assert entry.joint_model("crank").viscous_friction == 0.3
    assert entry.joint_model("crank").coulomb_speed == 0.5
    extra = extra.replace("coulomb_speed: 0.5", "rotor_inertia: 2e-3, gear_ratio: 10")
    entry = read_submechanisms(serial(extra), read_urdf(PLAIN))[0]
    assert entry.joint_model("crank").reflected_inertia == pytest.approx(0.2)  # passive, geared
    assert read_submechanisms(serial("  jointnames_active: []\n"), read_urdf(PLAIN))[0].active == ()


def test_couplings_and_chains_are_written_out():
    entry = coupled(
        "[{joint: rod, terms: {rocker: 2, crank: 1}, offset: 0.5}, "
        "{joint: rocker, terms: {crank: -3}, offset: 0.25}]"
    )
    got = {c.joint: (c.terms, c.offset) for c in entry.couplings}
    assert got == {"rod": ({"crank": -5.0}, 1.0), "rocker": ({"crank": -3.0}, 0.25)}


def test_mimic_inside_an_entry_becomes_its_coupling():
    tree = read_urdf(MIMIC)
    text = serial(joints="[rocker, slide]").replace(
        "independent: [rocker, slide]", "independent: [rocker]"
    )
    entry = read_submechanisms(text, tree)[0]
    (coupling,) = entry.couplings
    assert (coupling.joint, coupling.terms, coupling.offset) == ("slide", {"rocker": 0.5}, 0.1)
    same = "  couplings: [{joint: slide, terms: {rocker: 0.5}, offset: 0.1}]\n"
    assert len(read_submechanisms(text + same, tree)[0].couplings) == 1


def test_mimic_in_no_entry_is_an_implied_group():
    entries = read_submechanisms(serial(joints="[crank]"), read_urdf(MIMIC))
    assert [e.name for e in entries] == ["submechanism_0", "rod", "rocker"]
    group = entries[2]
    assert group.type == "coupling"
    assert group.spanning == ("rocker", "slide")
    assert group.independent == group.active == ("rocker",)
    assert group.couplings[0].terms == {"rocker": 0.5}


def test_mimic_chain_without_file():
    links = "".join(f'<link name="l{i}"/>' for i in range(4))
    mimic = ['<mimic joint="j1" multiplier="2"/>', '<mimic joint="j2" multiplier="5"/>', ""]
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l0"/><child link="l{i + 1}"/>'
        f"{mimic[i]}</joint>"
        for i in range(3)
    )
    (group,) = read_submechanisms(None, read_urdf(f'<robot name="m">{links}{joints}</robot>'))
    assert (group.spanning, group.independent) == (("j0", "j1", "j2"), ("j2",))
    assert {c.joint: c.terms for c in group.couplings} == {"j0": {"j2": 10.0}, "j1": {"j2": 5.0}}


def test_floating_base_comes_first_and_is_not_driven():
    tree = read_urdf(PLAIN, floating_base=True)
    text = serial().replace("- joint", "- jointnames: [floating_base, crank]\n  joint")
    entries = read_submechanisms(text, tree)
    assert [e.type for e in entries] == ["floating", "serial", "r", "p"]
    assert entries[0].spanning == entries[0].independent == ("floating_base",)
    assert entries[0].active == ()


def test_free_base_joints_the_urdf_lacks_are_survived():
    names = "[FloatBaseX, free_flyer, crank, rod]"
    text = f"submechanisms:\n- jointnames: {names}\n  jointnames_independent: [rod, crank]\n"
    entry = read_submechanisms(text, read_urdf(PLAIN))[0]
    assert entry.spanning == ("crank", "rod")
    assert entry.independent == ("rod", "crank")  # the order of the file


def test_names_are_unique():
    def entry(joint, **names):
        lines = "".join(f"  {key}: {value}\n" for key, value in names.items())
        return f"- jointnames_spanningtree: [{joint}]\n  jointnames_independent: [{joint}]\n{lines}"

    text = (
        "submechanisms:\n"
        + entry("crank", name="leg", contextual_name="twice")
        + entry("rod", name="leg", contextual_name="twice")
        + entry("rocker", name="leg", contextual_name="slide")
    )
    entries = read_submechanisms(text, read_urdf(PLAIN))
    # the last one is the implied entry of joint 'slide', whose name is taken
    assert [e.name for e in entries] == ["leg", "leg#2", "slide", "slide#2"]


def test_ignored_top_level_keys_and_aliases():
    text = (
        "version: 3\nexoskeletons: []\nmodel: {x: 1}\nsubmechanisms:\n"
        "- jointnames_spanningtree: &j [crank, rod]\n  jointnames_independent: *j\n"
    )
    assert read_submechanisms(text, read_urdf(PLAIN))[0].independent == ("crank", "rod")


@pytest.mark.parametrize(
    "text", ["{submechanisms: []}", "submechanisms: []", "\ufeffsubmechanisms: []\n"]
)
def test_text_is_told_from_a_path(text):
    assert len(read_submechanisms(text, read_urdf(PLAIN))) == 4


def test_relative_path_that_starts_like_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "submechanisms.yml").write_text(serial())
    entry = read_submechanisms("submechanisms.yml", read_urdf(PLAIN))[0]
    assert (entry.file, entry.spanning) == ("submechanisms.yml", ("crank", "rod"))


TRANSMISSION = """
submechanisms:
- type: TRANSMISSION
  file_path: Sub.urdf
  jointnames_spanningtree: [crank, rod]
  jointnames_independent: [crank]
"""


def sub_urdf(ratio):
    return (
        '<robot name="s"><transmission name="t"><type>MultiJointLinearTransmission</type>'
        f'<joint name="rod"><depends_on joint="crank" multiplier="{ratio}"/></joint>'
        '<joint name="other"><depends_on joint="crank"/></joint></transmission></robot>'
    )


def test_transmission_search_order(tmp_path):
    yml = tmp_path / "full" / "sub.yml"
    for folder in ("full", "extra", "sibling"):
        (tmp_path / folder).mkdir()
    yml.write_text(TRANSMISSION)
    own = sub_urdf(1).removeprefix('<robot name="s">').removesuffix("</robot>")
    tree = read_urdf(PLAIN.replace("</robot>", own + "</robot>"))

    def ratio():
        entry = read_submechanisms(yml, tree, search_path=tmp_path / "extra")[0]
        return entry.couplings[0].terms["crank"]

    assert ratio() == 1  # nothing but the robot's URDF
    (tmp_path / "sibling" / "Sub.urdf").write_text(sub_urdf(2))
    assert ratio() == 2
    (tmp_path / "extra" / "Sub.urdf").write_text(sub_urdf(3))
    assert ratio() == 3
    (tmp_path / "full" / "Sub.urdf").write_text(sub_urdf(4))
    assert ratio() == 4


def test_written_couplings_beat_the_sub_urdf(tmp_path):
    yml = tmp_path / "sub.yml"
    yml.write_text(TRANSMISSION + "  couplings: [{joint: rod, terms: {crank: 9}}]\n")
    (tmp_path / "Sub.urdf").write_text(sub_urdf(4))
    assert read_submechanisms(yml, read_urdf(PLAIN))[0].couplings[0].terms == {"crank": 9.0}


@pytest.mark.parametrize("path", ["nowhere/Arm.urdf", "", "''"])
def test_absent_sub_urdf_is_fine_elsewhere(path):
    text = serial(f"  file_path: {path}\n")
    assert read_submechanisms(text, read_urdf(PLAIN))[0].spanning == ("crank", "rod")
