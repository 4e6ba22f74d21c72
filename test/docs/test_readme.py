"""The README has what a newcomer looks for. Its code blocks are run by test_pages.py."""

from __future__ import annotations

import re

from support.doc_pages import ROOT, blocks

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_names_only_targets_the_makefile_has() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"^make ([a-z]+)", README, re.MULTILINE))
    assert {"demo", "test"} <= named <= targets


def test_the_launch_file_is_shipped() -> None:
    named = re.findall(r"ros2 launch closed_loop_dynamics (\S+)", README)
    assert named and all((ROOT / "launch" / name).is_file() for name in named)


def test_commands_and_python_are_run_not_only_shown() -> None:
    run = {block.language for block in blocks(ROOT / "README.md") if not block.mark}
    assert {"python", "sh", "text"} <= run


def test_the_citation_has_the_version_of_the_package() -> None:
    import closed_loop_dynamics as cld

    assert f"Version {cld.__version__}" in README
