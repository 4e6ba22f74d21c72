"""`colcon test` can collect the tests.

Where ROS 2 is installed, launch_testing looks into every test file before pytest does, and imports
it by its bare name, whatever import mode we ask for. pyproject.toml keeps it out; where somebody
lets it in again, or asks for pytest's own import mode, files of the same name would still collide.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = sorted((ROOT / "test").rglob("test_*.py"))
#: Characters; `colcon test` reads lines of at most 64 KiB, people shorter ones.
LONGEST_NAME = 200


def test_no_two_test_files_have_the_same_name() -> None:
    counts = Counter(path.name for path in TESTS)
    assert len(TESTS) > 100
    assert not [str(path.relative_to(ROOT)) for path in TESTS if counts[path.name] > 1]


def test_no_test_file_hides_a_module_that_others_import() -> None:
    folders = {path.name for path in (ROOT / "test").iterdir() if (path / "__init__.py").is_file()}
    assert not folders & {path.stem for path in TESTS}


def test_no_test_file_imports_its_neighbour() -> None:
    for path in TESTS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not node.level and not (node.module or "").startswith("test_"), path


def test_names_of_tests_fit_on_a_line(request: pytest.FixtureRequest) -> None:
    """Of all that are collected with this one: parameters that are long texts need ``ids``."""
    names = [item.nodeid for item in request.session.items]
    assert not [name[:LONGEST_NAME] for name in names if len(name) > LONGEST_NAME]
