"""The examples of docs/actuation.md run as they stand and print what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from closed_loop_dynamics.model.schema import ACTUATOR

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "actuation.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(
    r"```python\n(.*?)^```\n\s*```text\n(.*?)^```\n", PAGE, re.DOTALL | re.MULTILINE
)


def test_every_python_example_states_its_output() -> None:
    assert len(EXAMPLES) == PAGE.count("```python") > 0


@pytest.mark.parametrize(("code", "expected"), EXAMPLES)
def test_example_prints_what_the_page_says(code: str, expected: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == expected.splitlines()


def test_the_page_lists_all_keys_of_joints() -> None:
    listed = set(re.findall(r"^\| `(\w+)` \| [\d.]+ \|", PAGE, re.MULTILINE))
    assert listed == set(ACTUATOR.keys)
    (example,) = re.findall(r"```yaml\n(.*?)^```\n", PAGE, re.DOTALL | re.MULTILINE)
    file = yaml.safe_load(example)
    assert set(file["actuators"]["knee_cylinder"]) <= listed
    assert set(file["joint_friction"]["knee"]) <= listed
