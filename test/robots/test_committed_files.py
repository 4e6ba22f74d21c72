"""The files in ``urdf/`` and ``config/`` are those that the generators write.

Words and order exactly; numbers as numbers, because their last digit is the machine's own.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.number_texts import differences

from tools.robots import SHIPPED
from tools.robots.files import files_of, files_of_mechanism
from tools.robots.mechanisms import MECHANISMS
from tools.robots.mechanisms.loop_file import word
from tools.robots.urdf_elements import number

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", SHIPPED)
def test_committed_files_are_what_the_generator_writes(name: str) -> None:
    for path, text in files_of(SHIPPED[name]).items():
        assert not differences((ROOT / path).read_text(encoding="utf-8"), text), path


@pytest.mark.parametrize("name", MECHANISMS)
def test_committed_mechanisms_are_what_the_library_builds(name: str) -> None:
    for path, text in files_of_mechanism(MECHANISMS[name]).items():
        assert not differences((ROOT / path).read_text(encoding="utf-8"), text), path


def test_nothing_else_is_shipped() -> None:
    robots = {path.stem for path in (ROOT / "urdf").glob("*.urdf")}
    mechanisms = {path.stem for path in (ROOT / "urdf" / "mechanisms").glob("*.urdf")}
    assert (robots, mechanisms) == (set(SHIPPED), set(MECHANISMS))
    assert mechanisms == {path.stem for path in (ROOT / "config" / "mechanisms").glob("*.yaml")}


@pytest.mark.parametrize(
    ("found", "expected", "equal"),
    [
        ('xyz="0.123456789013 0 1"', 'xyz="0.123456789012 0 1"', True),
        ('ixx="1.0000000001e-05"', 'ixx="1e-05"', True),
        ('xyz="0.123456789135 0 1"', 'xyz="0.123456789012 0 1"', False),  # 1e-9 relative
        ('ixx="7.1234567961e-05"', 'ixx="7.123456789e-05"', False),
        ('xyz="1e-12 0 1"', 'xyz="0 0 1"', False),  # zeros are exact
        ('name="leg_1"', 'name="leg_2"', False),
        ("<a/><b/>", "<b/><a/>", False),
    ],
)
def test_comparison_passes_a_last_digit_and_no_change(
    found: str, expected: str, equal: bool
) -> None:
    assert (not differences(found, expected)) == equal


def test_numbers_are_written_without_rounding_noise() -> None:
    noisy = (0.1 + 0.2, 1.0 - 0.9, -1e-17, 2.0 / 3.0, 450.0, 1e-13)
    assert [number(v) for v in noisy] == ["0.3", "0.1", "0", "0.666666666667", "450", "0"]


def test_names_that_yaml_takes_for_something_else_are_quoted() -> None:
    assert [word(n) for n in ("x", "y", "No", "on", "1", "null", "knee")] == [
        *("x", '"y"', '"No"', '"on"', '"1"', '"null"', "knee")
    ]
    text = (ROOT / "config" / "six_ups_nodes.yaml").read_text(encoding="utf-8")
    assert 'joints: [x, "y", z, rx, ry, rz]' in text
