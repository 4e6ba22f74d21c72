"""Ends of a cut that are apart are named in mm and degrees."""

from __future__ import annotations

import numpy as np
import yaml
from support.shipped import shipped_files

import closed_loop_dynamics as cld
from closed_loop_dynamics.model.poses import body_poses, link_pose
from closed_loop_dynamics.model.urdf.reader import read_urdf

URDF, LOOPS = (path.read_text(encoding="utf-8") for path in shipped_files("crank_leg"))


def tip_in_foot() -> np.ndarray:
    """(4, 4) where the ankle's rod ends at q = 0, in the frame of the foot."""
    tree = read_urdf(URDF)
    tip, foot = (link_pose(tree, body_poses(tree), link) for link in ("ankle_rod_tip", "foot"))
    return np.linalg.solve(foot, tip)


def leg_with_pin(offset: tuple[float, float, float]) -> cld.Robot:
    """The foot gets a link that marks its pin, away from the rod's tip by an offset [m]."""
    xyz = " ".join(map(repr, map(float, tip_in_foot()[:3, 3] + offset)))
    pin = (
        '<link name="pin"/><joint name="pin_joint" type="fixed"><parent link="foot"/>'
        f'<child link="pin"/><origin xyz="{xyz}"/></joint></robot>'
    )
    loops = LOOPS.replace("successor_body: foot", "successor_body: pin")
    return cld.load(URDF.replace("</robot>", pin), loops)


def test_two_tips_that_are_apart_are_an_error_in_mm() -> None:
    for apart, words in (((0.012, 0.0, -0.016), "20 mm"), ((0.504, 0.0, 0.0), "504 mm")):
        report = leg_with_pin(apart).report()
        (gap,) = report.findings
        assert (gap.code, gap.severity) == ("gap", "error") and not report.ok
        assert "ankle_rod_tip ~ pin" in gap.message and f"'pin' is {words} away" in gap.message
    for right in ((0.0, 0.0, 0.0), (0.0, 0.03, 0.0)):  # beside it, along the pin: that is free
        assert leg_with_pin(right).report().findings == ()


def leg_with_frames(gap: float) -> cld.Robot:
    content = yaml.safe_load(LOOPS)
    (loop,) = content["submechanisms"][2]["loop_constraints"]
    del loop["cut_joint"]
    T = tip_in_foot()
    y, up = float(np.arctan2(T[0, 2], T[0, 0])), T[:3, 3] + [gap, 0.0, 0.0]
    loop["predecessor_frame"] = {"xyz": [0.0, 0.0, 0.0], "rpy": [0.0, 0.0, 0.0]}
    loop["successor_frame"] = {"xyz": [float(x) for x in up], "rpy": [0.0, y, 0.0]}
    return cld.load(URDF, yaml.safe_dump(content))


def test_frames_that_are_apart_at_zero_without_a_reference_are_named() -> None:
    (found,) = [f for f in leg_with_frames(0.02).report().findings if f.severity != "info"]
    assert (found.code, found.severity) == ("assembled", "warning")
    assert "ankle_rod_tip ~ foot 20.0 mm, 0.0°" in found.message
    assert "closed at ankle_crank=" in found.message and "`reference:`" in found.message
    assert "assembled" not in {f.code for f in leg_with_frames(0.0).report().findings}
