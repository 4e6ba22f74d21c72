"""The sections of S. Kumar and Mueller 2019 and of R. Kumar et al. 2022, in haste and in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from closed_loop_dynamics.robot import Robot
from tools.published import VARIABLE
from tools.reproduce import kumar_2022, kumar_mueller_2019
from tools.reproduce.claims import Section, Studio
from tools.reproduce.upper_body import ELBOW, TORSO, WRIST, UpperBody, ours

pytestmark = pytest.mark.usefixtures("traced_only")


def test_section_of_the_leg_holds(tmp_path: Path) -> None:
    section = kumar_mueller_2019.reproduce(Studio(tmp_path, lambda _: None, quick=True))
    assert section.missed == []
    judged = [claim.where for claim in section.claims if claim.ok is True]
    assert len(judged) == 9
    timed = [claim for claim in section.claims if claim.ok is None]
    assert len(timed) == 2 and all(claim.why for claim in timed)
    assert [figure.file.name for figure in section.figures] == ["kumar_mueller_2019_fig7.png"]


@pytest.fixture(scope="module")
def body() -> UpperBody:
    return ours("rh5_manus_reduced")


@pytest.fixture(scope="module")
def robots(body: UpperBody) -> dict[str, Robot]:
    """Numerical, hybrid and analytical."""
    cases = {"numerical": (TORSO, ELBOW, WRIST), "hybrid": (TORSO,), "analytical": ()}
    return {name: body.load(parts) for name, parts in cases.items()}


def test_constraints_left_to_newton_are_the_papers(
    body: UpperBody, robots: dict[str, Robot]
) -> None:
    assert [kumar_2022.numerical_constraints(r) for r in robots.values()] == [10, 6, 0]
    section = Section("", "")
    both = (robots["numerical"], robots["hybrid"])
    kumar_2022._constraints(section, "reduced", body, both)
    assert section.missed == []
    kumar_2022._constraints(section, "reduced", body, (robots["numerical"], robots["analytical"]))
    assert len(section.missed) == 1


def test_table_ii_holds_and_tells_a_loop_that_is_off_by_a_micrometre(
    body: UpperBody, robots: dict[str, Robot], monkeypatch: pytest.MonkeyPatch
) -> None:
    motion = kumar_2022._cycloids(robots["analytical"], 21)
    given = (robots["analytical"], robots["hybrid"], body.actuators(TORSO), motion)
    section = Section("", "")
    kumar_2022._table_ii(section, *given)
    assert len(section.claims) == 4 and section.missed == []
    honest = kumar_2022._actuators

    def off(robot: Robot, *rest: object) -> list[np.ndarray]:
        u, *others = honest(robot, *rest)  # type: ignore[arg-type]
        return [u + 1e-6 * (robot is robots["hybrid"]), *others]

    monkeypatch.setattr(kumar_2022, "_actuators", off)
    section = Section("", "")
    kumar_2022._table_ii(section, *given)
    assert [claim.where for claim in section.missed] == ["Table II, position [m]"]


def test_ratios_are_of_inverse_dynamics_with_the_others_beside() -> None:
    calls = ("state", "inverse dynamics", "forward dynamics")
    times = {
        "numerical": dict(zip(calls, (3.0, 10.0, 8.0), strict=True)),
        "hybrid": dict(zip(calls, (2.0, 5.0, 2.0), strict=True)),
    }
    claim = kumar_2022._ratio("Fig. 7", times, "hybrid", "about 2")
    assert claim.ours == "2.00 (state 1.50, forward dynamics 4.00)"
    assert claim.ok is None and claim.why


def test_our_own_robot_says_how_to_get_the_papers() -> None:
    assert VARIABLE in ours("rh5_manus_reduced").source
