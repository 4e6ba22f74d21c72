"""The examples of docs/heavy_duty.md run, one after the other, and print what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_examples_run_and_print_what_the_page_says() -> None:
    text = (ROOT / "docs" / "heavy_duty.md").read_text(encoding="utf-8")
    code, expected = (
        "".join(re.findall(rf"^```{language}\n(.*?)^```\n", text, re.DOTALL | re.MULTILINE))
        for language in ("python", "text")
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert expected and run.stdout == expected
