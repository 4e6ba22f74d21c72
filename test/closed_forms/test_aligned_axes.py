"""Axes along the base's fall into smaller blocks; the leg is recognised all the same."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.closure.analytical import AnalyticalClosure
from tools.robots.mechanisms import MECHANISMS


def test_a_rail_along_a_base_axis_still_has_a_closed_form() -> None:
    files = MECHANISMS["pus2_u"].build(rail=(0, 0, 1))
    analytical, numerical = cld.load(*files), cld.load(*files, solver="numerical")
    assert len(analytical.mechanism.numerical) == 0
    (closure,) = [numerical.mechanism.closures[c].loop_closure for c in numerical.mechanism.loops]
    assert closure is not None and len(closure.plan.blocks) > 2  # smaller than the two legs
    y = numerical.random_independent(np.random.default_rng(4), 500)
    np.testing.assert_allclose(analytical.state(y).q, numerical.state(y).q, atol=1e-9)


def test_analytical_on_a_leg_whose_axes_miss_says_by_how_much() -> None:
    urdf, file = MECHANISMS["spu2_u"].build()
    robot = cld.load(urdf, file)
    (c,) = robot.mechanism.loops
    closure = robot.mechanism.closures[c]
    assert isinstance(closure, AnalyticalClosure)
    (name,) = closure.system.names([closure.legs[0].side.steps[1].position])
    tree = ElementTree.fromstring(urdf)
    joint = next(j for j in tree.iter("joint") if j.get("name") == name)
    axis = np.array([float(v) for v in joint.find("axis").get("xyz").split()])
    origin = joint.find("origin")
    if origin is None:
        origin = ElementTree.SubElement(joint, "origin")
    first = closure.legs[0].side.steps[0].axis
    apart = 0.003 * np.cross(first, axis) / np.linalg.norm(np.cross(first, axis))
    before = np.array([float(v) for v in origin.get("xyz", "0 0 0").split()])
    origin.set("xyz", " ".join(repr(float(v)) for v in before + apart))
    moved = ElementTree.tostring(tree, encoding="unicode")
    with pytest.raises(cld.SubmechanismError, match="miss each other by 3 mm"):
        cld.load(moved, file, solver="analytical")
    (reason,) = cld.load(moved, file).programs.reasons.values()
    assert "miss each other by 3 mm" in reason
