"""Every code block of the README and of docs/ runs as it stands, and prints what the page says."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

import pytest
from support.doc_pages import ROOT, Block, Session, blocks

# Generated from the parsers and checked by test_command_line_page.py.
ELSEWHERE = {ROOT / "docs" / "command_line.md"}
PAGES = sorted(
    {ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/tutorials").glob("*.md")}
    - ELSEWHERE
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_the_page_works(page: Path, tmp_path: Path) -> None:
    session = Session(tmp_path)
    for block in blocks(page):
        session.do(block)


def test_every_python_example_states_its_output_or_checks_itself() -> None:
    for page in PAGES:
        listed = blocks(page)
        for block, after in zip_longest(listed, listed[1:]):
            if block.language == "python" and "print(" in block.code and not block.mark:
                assert after is not None and after.language == "text", block.place


def test_pages_to_follow_do_not_rely_on_the_folder_of_the_repository() -> None:
    """Our test has links to it; a reader may stand anywhere."""
    for page in (ROOT / "docs" / "faq.md", *(ROOT / "docs/tutorials").glob("*.md")):
        for each in blocks(page):
            assert "urdf/" not in each.code and "config/" not in each.code, each.place


def block(language: str, code: str = "", mark: str = "", before: str = "") -> Block:
    return Block(language, mark, code, "page.md:1", before)


@pytest.mark.parametrize(
    "wrong",
    [
        [block("mermaid", "graph TD\n")],
        [block("", "ls\n")],
        [block("sh", "true\n", "no-run: ")],
        [block("sh", "true\n", "skip")],
        [block("yaml", "a: 1\n", before="A file:")],
        [block("yaml", "nothing like it\n", "part of config/crank_leg.yaml")],
        [block("sh", "closed-loop info no_such_robot.urdf\n")],
        [block("sh", "false\ntrue\n")],
        [block("text", "2\n")],
        [block("python", "print(1)\n"), block("text", "2\n")],
        [block("python", "print('a\\nb\\nc')\n"), block("text", "a\n...\nb\n")],
        [block("python", "x = 1\n"), block("sh", "true\n"), block("text", "1\n")],
    ],
)
def test_what_is_wrong_is_noticed(wrong: list[Block], tmp_path: Path) -> None:
    session = Session(tmp_path)
    for each in wrong[:-1]:
        session.do(each)
    with pytest.raises(AssertionError):
        session.do(wrong[-1])


def test_what_is_right_passes(tmp_path: Path) -> None:
    session = Session(tmp_path)
    for each in (
        block("yaml", "a: 1\n", before="From `x.yaml` to `y.yaml`:"),
        block("python", "text = open('y.yaml').read()\n"),
        block("python", "print(text, 1, 2, 3, sep='\\n')\n"),
        block("text", "a: 1\n...\n3\n"),
        block("sh", "cat y.yaml | tr a b > z.yaml; cat z.yaml\n"),
        block("text", "b: 1\n"),
        block("sh", "false\n", "no-run: needs ROS 2"),
    ):
        session.do(each)
