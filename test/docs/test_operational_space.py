"""The example of docs/operational_space.md runs as it stands and prints what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operational_space.md").read_text(encoding="utf-8")


def test_example_prints_what_the_page_says() -> None:
    ((code, expected),) = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", PAGE, re.DOTALL)
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == expected.splitlines()
