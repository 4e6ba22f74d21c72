"""The README's examples run as they stand and print what the README says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(*languages: str) -> list[str]:
    """Contents of the README's fenced blocks that directly follow each other, by language."""
    fences = [rf"```{language}\n(.*?)^```\n" for language in languages]
    return re.findall(r"\s*".join(fences), README, re.DOTALL | re.MULTILINE)


EXAMPLES = blocks("python", "text")


def test_every_python_example_states_its_output() -> None:
    assert len(EXAMPLES) == len(blocks("python")) > 0


@pytest.mark.parametrize(("code", "expected"), EXAMPLES)
def test_python_example_prints_what_the_readme_says(code: str, expected: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == expected.splitlines()


def test_submechanism_example_is_a_piece_of_the_real_file() -> None:
    (example,) = blocks("yaml")
    assert example in (ROOT / "config" / "crank_leg.yaml").read_text(encoding="utf-8")


def test_readme_names_only_targets_the_makefile_has() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"^make ([a-z]+)", README, re.MULTILINE))
    assert {"demo", "test"} <= named <= targets
