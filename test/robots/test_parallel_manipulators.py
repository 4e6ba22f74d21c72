"""The generated parallel manipulators: loadable, without warnings."""

from __future__ import annotations

import pytest
from support.manipulators import NAMES, files, robot_of

from tools.robots import delta


@pytest.mark.parametrize("name", NAMES)
def test_the_linter_has_no_warning(name: str) -> None:
    findings = robot_of(name).report().findings
    assert [f for f in findings if f.severity != "info"] == []


def test_delta_of_other_dimensions_closes() -> None:
    dimensions = delta.Dimensions(base=0.15, platform=0.04, arm=0.2, rod=0.45)
    urdf, yaml = delta.generate(dimensions)
    assert urdf != files("delta")[0].read_text(encoding="utf-8")
    assert yaml == files("delta")[1].read_text(encoding="utf-8")
