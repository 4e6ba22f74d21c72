"""``assemble``: every way to close loops that start far open, and the file that remembers one."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import yaml

import closed_loop_dynamics as cld
from closed_loop_dynamics.writers.reference_text import with_references

LENGTHS = (0.2, 0.5, 0.4)  # crank, coupler, rocker [m]
BASE = 0.55  # between the two hinges of the frame [m]


def four_bar(limits: str = "") -> str:
    """Three bars that all point up at q = 0: the coupler's end is far from the rocker's."""

    def link(name: str) -> str:
        return (
            f'<link name="{name}"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>'
            '<inertia ixx="1e-2" iyy="1e-2" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )

    def joint(name: str, parent: str, x: float, z: float) -> str:
        kind = '<limit lower="-3" upper="-1" effort="9" velocity="9"/>' if name == limits else ""
        return (
            f'<joint name="{name}" type="{"revolute" if kind else "continuous"}">{kind}'
            f'<parent link="{parent}"/><child link="{name}_link"/><origin xyz="{x} 0 {z}"/>'
            '<axis xyz="0 1 0"/></joint>'
        )

    return "".join(
        (
            '<robot name="bars"><link name="base"/>',
            *map(link, ("crank_link", "coupler_link", "rocker_link")),
            joint("crank", "base", 0.0, 0.0),
            joint("coupler", "crank_link", 0.0, LENGTHS[0]),
            joint("rocker", "base", BASE, 0.0),
            "</robot>",
        )
    )


LOOPS = f"""\
# a file with remarks
submechanisms:
- name: bars   # its name
  type: NUMERICAL
  jointnames_spanningtree: [crank, coupler, rocker]
  jointnames_independent: [crank]
  jointnames_active: [crank]
  # where the bars meet
  loop_constraints:
  - predecessor_body: coupler_link
    successor_body: rocker_link
    predecessor_frame: {{xyz: [0, 0, {LENGTHS[1]}]}}
    successor_frame: {{xyz: [0, 0, {LENGTHS[2]}]}}
    cut: revolute
    axis: [0, 1, 0]   # the pin
"""


def by_hand(crank: float) -> list[tuple[float, float]]:
    """(coupler, rocker) of both ways, from two circles that meet."""
    a, b, c = LENGTHS
    P = np.array([a * math.sin(crank), a * math.cos(crank)])
    D = np.array([BASE, 0.0]) - P
    d = float(np.linalg.norm(D))
    along = (b * b - c * c + d * d) / (2.0 * d)
    height = math.sqrt(b * b - along * along)
    found = []
    for side in (1.0, -1.0):
        meet = P + along * D / d + side * height * np.array([-D[1], D[0]]) / d
        coupler = math.atan2(*(meet - P)) - crank
        found.append((coupler, math.atan2(meet[0] - BASE, meet[1])))
    return found


@pytest.mark.parametrize("crank", [0.0, 0.7, -2.4])
def test_both_ways_of_a_four_bar_are_found_from_far_open(crank: float) -> None:
    ways = cld.load(four_bar(), LOOPS).submechanism("bars").assemblies({"crank": crank})
    assert "coupler_link ~ rocker_link" in ways.gaps
    mine = [[way.positions[joint] for joint in ("coupler", "rocker")] for way in ways.found]
    turns = [[np.exp(1j * np.array(way)) for way in side] for side in (mine, by_hand(crank))]
    mine, theirs = (np.array(sorted(side, key=lambda z: z[1].imag)) for side in turns)
    assert np.allclose(mine, theirs, rtol=0.0, atol=1e-9)
    assert len({way.name for way in ways.found}) == 2
    assert all(way.positions["crank"] == crank for way in ways.found)
    assert ways.found[0].distance <= ways.found[1].distance


def test_gaps_at_the_start_are_those_of_the_drawing() -> None:
    gap = math.hypot(BASE, LENGTHS[0] + LENGTHS[1] - LENGTHS[2])
    ways = cld.load(four_bar(), LOOPS).submechanism("bars").assemblies()
    assert f"{1e3 * gap:.1f} mm" in ways.gaps


def test_what_is_taken_keeps_the_limits(run, tmp_path: Path) -> None:
    """At crank = 0 the rocker is at -0.22, which is near, or at -2.22, which keeps its limits."""
    rockers = {}
    for limited in ("", "rocker"):
        urdf, loops = tmp_path / "bars.urdf", tmp_path / "loops.yaml"
        urdf.write_text(four_bar(limited), encoding="utf-8")
        loops.write_text(LOOPS, encoding="utf-8")
        outcome = run("assemble", urdf, loops, "-o", loops)
        assert outcome.status == 0, outcome.err
        (entry,) = yaml.safe_load(loops.read_text(encoding="utf-8"))["submechanisms"]
        rockers[limited] = entry["reference"]["rocker"]
        q = cld.load(urdf, loops).state([0.0]).q
        assert list(q) == pytest.approx(
            [entry["reference"][j] for j in entry["reference"]], abs=1e-9
        )
    assert rockers[""] == pytest.approx(-0.2208504, abs=1e-6)
    assert rockers["rocker"] == pytest.approx(-2.2232002, abs=1e-6)
    assert "beyond the limits of rocker" in outcome.out


def test_only_the_reference_changes_in_the_file(run, tmp_path: Path) -> None:
    urdf, loops, out = (tmp_path / name for name in ("bars.urdf", "loops.yaml", "out.yaml"))
    urdf.write_text(four_bar(), encoding="utf-8")
    loops.write_text(LOOPS, encoding="utf-8")
    assert run("assemble", urdf, loops, "-o", out).status == 0
    assert loops.read_text(encoding="utf-8") == LOOPS
    before, after = LOOPS.splitlines(), out.read_text(encoding="utf-8").splitlines()
    assert [line for line in after if line not in before] == [
        line for line in after if line.startswith("  reference: {")
    ]
    assert [line for line in after if line in before] == before


BLOCK = "  reference:\n    b: 1   # first\n    a: 2\n  # after it\n"
STYLES = {
    "block": f"submechanisms:\n- name: x\n{BLOCK}  type: y   # last\n",
    "flow": "submechanisms: [{name: x, reference: {b: 1, a: 2}, type: y}]   # last\n",
    "none": "submechanisms:\n  - name: x\n    # between\n    type: y   # last\n",
    "flow none": "submechanisms: [{name: x, type: y}]   # last\n",
}


@pytest.mark.parametrize(("style", "twice"), list(product(STYLES, (False, True))))
def test_references_are_put_in_whatever_the_style_of_the_file(style: str, twice: bool) -> None:
    text = STYLES[style]
    for value in (0.1, -0.25)[: 1 + twice]:
        text = with_references(text, {0: {"a": value, "c: d": 1e-20}})
    (entry,) = yaml.safe_load(text)["submechanisms"]
    reference = {"a": -0.25 if twice else 0.1, "c: d": 0.0}
    assert entry == {"name": "x", "type": "y", "reference": reference}
    for remark in ("# last", "# between", "# after it"):
        assert (remark in text) == (remark in STYLES[style])


def test_loops_that_cannot_close_are_an_error_with_the_least_gap() -> None:
    """With a frame that is 50 mm wider than all bars in a row."""
    urdf = four_bar().replace(f'xyz="{BASE} 0', 'xyz="1.15 0')
    with pytest.raises(cld.ClosedLoopError, match=r"least gaps reached: .* 50\.0 mm") as caught:
        cld.load(urdf, LOOPS)
    assert "gaps there: coupler_link ~ rocker_link 1188.5 mm" in str(caught.value)


def test_nothing_is_assembled_when_told_so() -> None:
    with pytest.raises(cld.SubmechanismError, match=r"'bars' is open; gaps: coupler_link ~ .* mm"):
        cld.load(four_bar(), LOOPS, assemble=False)
    closed = with_references(
        LOOPS, {0: dict(zip(("coupler", "rocker"), by_hand(0.0)[0], strict=True))}
    )
    assert cld.load(four_bar(), closed, assemble=False).m == 1


def test_formats_without_a_reference_are_sent_to_convert(run, tmp_path: Path) -> None:
    plus, out = tmp_path / "plus.urdf", tmp_path / "out.yaml"
    assert run("convert", "four_bar", "-o", plus, "--to", "urdf+").status == 0
    outcome = run("assemble", plus, "-o", out)
    assert outcome.status == 2 and "`closed-loop convert`" in outcome.err
    assert not out.exists()
    assert "no loops" in run("assemble", "geared_rotor").err
    outcome = run("assemble", plus, "--from", "crnk=1")
    assert outcome.status == 2 and "did you mean 'crank'?" in outcome.err


def test_a_start_that_cannot_be_closed_is_not_written(run, tmp_path: Path) -> None:
    """A rocker whose limits no way to close the loop keeps."""
    urdf, loops, out = (tmp_path / name for name in ("bars.urdf", "loops.yaml", "out.yaml"))
    narrow = four_bar("rocker").replace('lower="-3" upper="-1"', 'lower="-3" upper="-2.9"')
    urdf.write_text(narrow, encoding="utf-8")
    loops.write_text(LOOPS, encoding="utf-8")
    outcome = run("assemble", urdf, loops, "-o", out)
    assert outcome.status == 1 and "within the joint limits" in outcome.err
    assert not out.exists()
