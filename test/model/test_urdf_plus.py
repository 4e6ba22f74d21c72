"""What is read of a URDF+: submechanisms, couplings, and where its loops start from."""

from __future__ import annotations

import numpy as np
import pytest
from support.published import ZOO, needs_zoo
from support.urdf_plus import (
    BELT_LEG,
    FOLLOWS,
    GEARED_LOOP,
    OPEN_LOOP,
    ROBOTS,
    gear,
    joint,
    link,
    robot,
)

import closed_loop_dynamics as cld
from closed_loop_dynamics.model import read_description


def entries(text):
    return {entry.name: entry for entry in read_description(text).submechanisms}


def test_joints_tied_by_constraints_are_one_submechanism():
    found = entries(ROBOTS["geared"])
    assert set(found) == {"open"}
    entry = found["open"]
    assert set(entry.spanning) == {"ja", "jb", "jc", "jd", "je", "jr", "jn"}
    assert entry.independent == entry.active == ("ja", "jb", "jc")
    assert {c.joint: c.terms for c in entry.couplings} == {"jr": {"ja": -8.0}, "jn": {"je": 2.5}}


def test_a_coupling_adds_up_the_joints_from_the_nearest_common_ancestor():
    couplings = {c.joint: c.terms for e in entries(ROBOTS["belt"]).values() for c in e.couplings}
    assert couplings == {"jknee": {"knee": 9.0}, "jankle": {"knee": 6.0, "ankle": 6.0}}


def test_a_coupling_is_solved_for_whichever_joint_is_dependent():
    turned = BELT_LEG
    for name in ("jknee", "jankle"):
        turned = turned.replace(
            f'<joint name="{name}" type="continuous" {FOLLOWS}>',
            f'<joint name="{name}" type="continuous" >',
        )
    for name in ("knee", "ankle"):
        turned = turned.replace(
            f'<joint name="{name}" type="continuous" >',
            f'<joint name="{name}" type="continuous" {FOLLOWS}>',
        )
    couplings = {c.joint: c.terms for e in entries(robot(turned)).values() for c in e.couplings}
    assert set(couplings) == {"knee", "ankle"}
    assert couplings["knee"] == pytest.approx({"jknee": 1 / 9})
    assert couplings["ankle"] == pytest.approx({"jknee": -1 / 9, "jankle": 1 / 6})


def test_a_mimic_tag_beside_a_coupling_is_kept():
    mimic = joint("jw", "base", "wheel").replace(
        "</joint>", '<mimic joint="jr" multiplier="0.5" offset="0.2"/></joint>'
    )
    found = entries(robot(GEARED_LOOP, link("wheel"), mimic))["open"]
    coupling = next(c for c in found.couplings if c.joint == "jw")
    assert (coupling.terms, coupling.offset) == ({"ja": -4.0}, 0.2)


def test_independent_joints_are_driven_and_the_report_says_so():
    loaded = cld.load(ROBOTS["belt"])
    assert loaded.names.actuator == ("knee", "ankle", "hip")
    (finding,) = [f for f in loaded.report().findings if f.code == "actuators-assumed"]
    assert finding.severity == "info" and "3 independent joints" in finding.message


def test_a_loop_that_is_open_at_zero_is_assembled_with_its_independent_joints_at_zero():
    loaded = cld.load(ROBOTS["open"])
    (finding,) = [f for f in loaded.report().findings if f.code == "assembled"]
    assert finding.severity == "warning" and "open at q = 0" in finding.message
    state = loaded.state(np.zeros(3))
    q = dict(zip(loaded.names.spanning, state.q, strict=True))
    tip = -0.05 + 0.45 * np.exp(1j * q["jd"]) + 0.5 * np.exp(1j * (q["jd"] + q["je"]))
    assert abs(tip - 0.6) < 1e-12
    assert q["jd"] > 0.1  # of the two ways that mirror each other


def test_a_flat_parallelogram_stays_one():
    loaded = cld.load(ROBOTS["flat"])
    (finding,) = [f for f in loaded.report().findings if f.code == "assembled"]
    assert finding.severity == "warning" and "dead point" in finding.message
    q = dict(zip(loaded.names.spanning, loaded.state([0.7]).q, strict=True))
    assert q["jrocker"] == pytest.approx(0.7) and q["jcoupler"] == pytest.approx(-0.7)


def test_a_loop_that_cannot_close_is_an_error_that_names_the_element():
    far = OPEN_LOOP.replace('<origin xyz="-0.05', '<origin xyz="-9.05')
    with pytest.raises(cld.SubmechanismError, match=r"loop 'open' \(line \d+\).*does not close"):
        cld.load(robot(far))


def test_a_submechanism_file_beside_it_counts_alone_and_the_report_names_the_elements():
    yaml = (
        "submechanisms:\n- name: leg\n  jointnames_spanningtree: [knee, ankle, jknee, jankle]\n"
        "  jointnames_independent: [knee, ankle]\n  couplings:\n"
        "  - {joint: jknee, terms: {knee: 1.0}}\n  - {joint: jankle, terms: {ankle: 1.0}}\n"
    )
    loaded = cld.load(ROBOTS["belt"], yaml)
    unread = [f.message for f in loaded.report().findings if f.code == "unread-loop"]
    assert len(unread) == 2 and all("is not read" in message for message in unread)


@needs_zoo
def test_the_published_files_load_as_they_are():
    six_bar, cheetah = (
        cld.load(ZOO / "urdf_plus" / f"{name}.urdf") for name in ("six_bar", "mini_cheetah")
    )
    assert (six_bar.n, six_bar.m, six_bar.p) == (5, 3, 3)
    assert (cheetah.n, cheetah.m, cheetah.p) == (30, 18, 12)
    assert six_bar.report().ok and cheetah.report().ok
    rotors = cheetah.loop_jacobian(cheetah.mechanism.neutral_y())
    knee = cheetah.names.independent.index("FR_hip_to_knee_j") + 5  # the base has six velocities
    rotor = cheetah.names.spanning.index("FR_hip_to_knee_rotor_j") + 5
    assert rotors[rotor, knee] == 9.33


def test_wrong_mobility_is_explained_in_the_words_of_the_format():
    text = robot(OPEN_LOOP).replace(f'"jd" type="continuous" {FOLLOWS}', '"jd" type="continuous"')
    with pytest.raises(
        cld.SubmechanismError, match=r"loop 'open' \(line \d+\): .*too many indep"
    ) as caught:
        cld.load(text)
    assert 'independent="true"' in caught.value.remedy


def test_where_no_joint_of_a_coupling_is_dependent_that_of_the_successor_is_taken():
    (entry, *_) = read_description(
        robot(
            '<link name="base"/>',
            *map(link, ("arm", "rotor")),
            joint("shoulder", "base", "arm"),
            joint("spin", "base", "rotor"),
            gear("g", "arm", "rotor", 7.0),
        )
    ).submechanisms
    assert entry.independent == ("shoulder",) and entry.couplings[0].terms == {"shoulder": 7.0}
    assert (
        "coupling 'g'" in entry.remarks[0].message and "'spin' is taken" in entry.remarks[0].message
    )
