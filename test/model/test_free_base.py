"""Entries of type 3T+3R of a HyRoDyn file: six joints that the URDF lacks free the base."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from support.flying import with_pelvis
from support.published import ZOO, needs_zoo
from support.shipped import shipped_files

import closed_loop_dynamics as cld
from closed_loop_dynamics.model import read_description

SIX = [f"floating_base_{kind}_{axis}" for kind in ("trans", "rot") for axis in "xyz"]
URDF, FILE = (path.read_text(encoding="utf-8") for path in shipped_files("crank_leg"))


def with_base(**changes):
    """The leg's file with an entry for its base."""
    entry = {
        "name": "free_flyer_joint",
        "type": "3T+3R",
        "jointnames_independent": SIX,
        "jointnames_spanningtree": SIX,
        "jointnames_active": [],
    } | changes
    data = yaml.safe_load(FILE)
    return yaml.safe_dump({"submechanisms": [entry, *data["submechanisms"]]}, sort_keys=False)


def kinds(file, floating_base=None, urdf=URDF):
    description = read_description(urdf, file, floating_base=floating_base)
    return [entry.type for entry in description.submechanisms].count("floating")


def test_the_base_floats_as_the_file_says():
    assert kinds(FILE) == 0
    assert kinds(with_base()) == 1
    assert kinds(with_base(), True) == 1
    assert kinds(FILE, True) == 1


def test_false_drops_the_entry():
    one, other = (read_description(URDF, f, floating_base=False) for f in (with_base(), FILE))
    names = [[entry.spanning for entry in d.submechanisms] for d in (one, other)]
    assert names[0] == names[1]


def test_a_floating_joint_of_the_urdf_is_enough():
    free = URDF.replace(
        '<link name="base_link">',
        '<link name="world"/><joint name="flight" type="floating"><parent link="world"/>'
        '<child link="base_link"/></joint><link name="base_link">',
    )
    assert free != URDF and kinds(with_base(), urdf=free) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"jointnames_active": ["floating_base_rot_x"]},
        {"jointnames_independent": SIX[:3], "jointnames_spanningtree": SIX[:3]},
    ],
)
def test_a_base_that_is_driven_or_has_other_than_six_joints_is_refused(changes):
    with pytest.raises(cld.SubmechanismError, match=r"submechanisms\[0\].*six joints"):
        kinds(with_base(**changes))


def test_a_second_base_is_refused():
    data = yaml.safe_load(with_base())
    data["submechanisms"].append(data["submechanisms"][0])
    with pytest.raises(cld.SubmechanismError, match=r"submechanisms\[\d\].*one entry of six"):
        kinds(yaml.safe_dump(data))


def test_six_joints_that_the_urdf_has_are_plain_joints():
    chain, parent = "", "base_link"
    for k, name in enumerate(SIX):
        kind = "prismatic" if "trans" in name else "revolute"
        limits = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
        chain += (
            f'<link name="v{k}"/><joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="v{k}"/>{limits}</joint>'
        )
        parent = f"v{k}"
    description = read_description(URDF.replace("</robot>", f"{chain}</robot>"), with_base())
    assert description.submechanisms[0].spanning == tuple(SIX)
    assert not any(entry.type == "floating" for entry in description.submechanisms)


def test_of_a_key_that_an_entry_has_twice_the_last_one_counts_and_the_report_says_so():
    twice = FILE.replace("\n  type:", "\n  type: RR\n  type:", 1)
    assert twice != FILE
    one, other = (read_description(URDF, f).submechanisms for f in (FILE, twice))
    assert [entry.type for entry in one] == [entry.type for entry in other]
    (finding,) = [f for f in cld.load(URDF, twice).report().findings if f.code == "repeated-key"]
    assert finding.severity == "warning" and "'type' is given twice (lines" in finding.message


@needs_zoo
def test_the_published_legs_load_as_they_are():
    files = [ZOO / "rh5_legs" / f"rh5_legs_hybrid.{kind}" for kind in ("urdf", "yml")]
    robot = cld.load(*files)
    assert robot.mechanism.floating
    assert (robot.n, robot.m, robot.p) == (6 + 36, 6 + 12, 12)
    held = cld.load(*files, floating_base=False)
    assert (held.n, held.m, held.p) == (36, 12, 12)


def test_such_a_robot_is_the_one_that_floating_base_makes():
    urdf, file = with_pelvis((URDF, FILE))
    said, asked = cld.load(urdf, with_base()), cld.load(urdf, file, floating_base=True)
    assert said.names == asked.names
    rng = np.random.default_rng(3)
    y = asked.random_independent(rng, 1)[0]
    yd, ydd = rng.normal(size=(2, asked.m))
    forces = [robot.generalized_forces(y, yd, ydd) for robot in (said, asked)]
    assert np.array_equal(*forces) and np.all(np.abs(forces[0][:6]) > 1e-3)
