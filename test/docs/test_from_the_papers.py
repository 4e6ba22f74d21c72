"""Every place that docs/from_the_papers.md names exists."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest
from support.doc_pages import ROOT

PAGE = (ROOT / "docs" / "from_the_papers.md").read_text(encoding="utf-8")
PLACES = sorted(set(re.findall(r"`([\w/]+\.py)(?::([\w.]+))?`", PAGE)))


@cache
def names_in(file: str) -> set[str]:
    """Functions, classes, methods (``Class.method``) and module constants of a file."""
    path = ROOT / file if file.startswith("tools/") else ROOT / "closed_loop_dynamics" / file
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (each for each in node.body if isinstance(each, ast.FunctionDef))
            found |= {f"{node.name}.{method.name}" for method in methods}
    return found


@pytest.mark.parametrize(("file", "name"), PLACES, ids=[":".join(place) for place in PLACES])
def test_the_place_exists(file: str, name: str) -> None:
    names = names_in(file)
    assert not name or name in names


def test_all_five_papers_are_mapped() -> None:
    papers = re.findall(r"^## (.*) \d{4}: ", PAGE, re.MULTILINE)
    assert len(papers) == 5 and len(PLACES) > 40


def test_every_code_cell_is_a_place() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "`" in line]
    assert rows
    for row in rows:
        cell = row.strip("| ").rpartition(" | ")[2]
        assert re.fullmatch(r"`[\w/]+\.py(:[\w.]+)?`(, `[\w/]+\.py(:[\w.]+)?`)*", cell), row
