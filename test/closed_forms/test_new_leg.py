"""A kind of leg that registers itself takes part, without a line anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.closure.block import NotClosedForm
from closed_loop_dynamics.closure.leg import ChainLeg, Shape, register
from closed_loop_dynamics.closure.legs import KINDS
from closed_loop_dynamics.closure.subproblems import across, stroke, turn
from closed_loop_dynamics.engine.symbolic import ca
from closed_loop_dynamics.spatial import SX, sx

RADIUS, ROD = 0.04, 0.14
START = float(np.sqrt(ROD**2 - RADIUS**2))


def body(name: str) -> str:
    inertia = '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="{name}"><inertial><mass value="0.3"/>{inertia}</inertial></link>'


def joint(name: str, kind: str, parent: str, xyz: str, axis: str) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{name}_link"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>'
        '<limit lower="-6" upper="6" effort="20" velocity="9"/></joint>'
    )


#: Crank upright at q = 0, a rod, a piston along x.
SLIDER_CRANK = "".join(
    [
        '<robot name="slider_crank">',
        *map(body, ("base_link", "crank_link", "rod_link", "piston_link")),
        joint("crank", "revolute", "base_link", "0 0 0", "0 1 0"),
        joint("rod", "revolute", "crank_link", f"0 0 {RADIUS}", "0 1 0"),
        joint("piston", "prismatic", "base_link", f"{START} 0 0", "1 0 0"),
        "</robot>",
    ]
)
CUT = """
submechanisms:
- name: slider_crank
  type: NUMERICAL
  jointnames_spanningtree: [crank, rod, piston]
  jointnames_independent: [crank]
  jointnames_active: [crank]
  loop_constraints:
  - cut_joint: piston
    predecessor_body: rod_link
    successor_body: piston_link
    constraint_axes:
    - {name: loopTX, axis: [0, 0, 0, 1, 0, 0]}
    - {name: loopTZ, axis: [0, 0, 0, 0, 0, 1]}
"""


@pytest.fixture(autouse=True)
def kinds_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No kind of these tests is left behind, neither in the list nor in cached choices."""
    monkeypatch.setenv("CLOSED_LOOP_DYNAMICS_CACHE", "")
    before = list(KINDS)
    yield
    KINDS[:] = before


def new_leg() -> type[ChainLeg]:
    @register
    class RodAndPiston(ChainLeg):
        """R | P in a plane: a line against a circle."""

        shapes: ClassVar[tuple[Shape, ...]] = (Shape("R", "P", 2, 0),)
        mode_words: ClassVar[tuple[tuple[str, str], ...]] = (("rod_out", "rod_in"),)

        def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
            (hinge,), (slider,) = self.side.steps, self.other.steps
            w = sx(hinge.axis)
            R, _ = self.base(self.side, q)
            R_o, x_o = self.base(self.other, q)
            start = self.inside(
                self.side, q, x_o + R_o @ sx((slider.placement @ self.other.tip)[:3, 3])
            )
            direction = R_o @ sx(slider.placement[:3, :3] @ slider.axis)
            direction = sx(hinge.placement[:3, :3]).T @ (R.T @ direction)
            arm = across(w, sx(self.side.tip[:3, 3]))
            d = stroke(across(w, start), direction, ca.dot(arm, arm), modes[0])
            return [turn(w, arm, start + d * direction), d]

    return RodAndPiston


def test_a_registered_kind_gives_a_closed_form_that_agrees_with_newton_at_speed() -> None:
    newton = cld.load(SLIDER_CRANK, CUT)
    (why,) = newton.programs.reasons.values()
    assert "none is known for unknown joints R | P with 2 translation and 0 rotation" in why
    new_leg()
    robot = cld.load(SLIDER_CRANK, CUT)
    assert list(robot.programs.reasons.values()) == ["closed form by legs: rod and piston"]
    assert robot.mechanism.closures[0].mode_name == "rod_out"
    y, yd, ydd = np.random.default_rng(5).uniform(-3, 3, (3, 200, 1))
    one, two = robot.state(y, yd, ydd), newton.state(y, yd, ydd)
    np.testing.assert_allclose(one.q, two.q, atol=1e-10)
    np.testing.assert_allclose(one.qd, two.qd, atol=1e-9)
    np.testing.assert_allclose(one.qdd, two.qdd, atol=1e-8)


def test_a_kind_of_the_same_shape_whose_geometry_does_not_fit_leaves_the_block_to_others() -> None:
    class TooSpecial(new_leg()):  # type: ignore[misc]
        priority: ClassVar[int] = 5

        def check(self) -> None:
            raise NotClosedForm("the rod is not made of glass")

    register(TooSpecial)
    assert KINDS[0] is TooSpecial
    robot = cld.load(SLIDER_CRANK, CUT, solver="analytical")
    assert list(robot.programs.reasons.values()) == ["closed form by legs: rod and piston"]


def test_the_reason_of_the_kind_that_came_nearest_is_given() -> None:
    @register
    class TooSpecial(ChainLeg):
        shapes: ClassVar[tuple[Shape, ...]] = (Shape("R", "P", 2, 0),)

        def check(self) -> None:
            raise NotClosedForm("the rod is not made of glass")

        def solve(self, q: dict[int, SX], modes: tuple[float, ...]) -> list[SX]:
            return []

    (why,) = cld.load(SLIDER_CRANK, CUT).programs.reasons.values()
    assert why == "no closed form: the rod is not made of glass"
