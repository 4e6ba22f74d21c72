"""The example of docs/floating_base.md runs as it stands and prints what the page says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "floating_base.md"


def test_the_example_prints_what_the_page_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    ((code, expected),) = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", text, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(PAGE), "exec"), {})
    assert printed.getvalue() == expected
