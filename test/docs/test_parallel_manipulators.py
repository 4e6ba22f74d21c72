"""The example of docs/parallel_manipulators.md prints what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "parallel_manipulators.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_page_says() -> None:
    found = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(found) == 1
    code, expected = found[0]
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == expected


def test_the_key_of_the_page_is_that_of_the_shipped_file() -> None:
    (line,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert line in (ROOT / "config" / "irsbot2.yaml").read_text(encoding="utf-8")
