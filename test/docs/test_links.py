"""Links between pages lead somewhere, and the index lists every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.doc_pages import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), ROOT / "launch/README.md"])
INDEX = ROOT / "docs" / "README.md"
WRITTEN_HERE = ROOT / "docs" / "reproduction.md"  # by `make reproduce`, where it was run


def text_of(page: Path) -> str:
    """Without code blocks."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def links(page: Path) -> list[str]:
    text = text_of(page)
    found = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'<img src="([^"]+)"', text)
    return [link for link in found if "://" not in link]


def anchors(page: Path) -> set[str]:
    """As the usual renderers make them from headings."""
    headings = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_the_index_lists_every_page() -> None:
    listed = {(INDEX.parent / link.partition("#")[0]).resolve() for link in links(INDEX)}
    pages = {
        page
        for page in (ROOT / "docs").rglob("*.md")
        if page not in (INDEX, WRITTEN_HERE) and page.parent.name != "mechanisms"
    }
    assert pages <= listed, sorted(str(page) for page in pages - listed)


def test_the_first_page_leads_to_the_index_and_shows_a_picture() -> None:
    assert "docs/README.md" in links(ROOT / "README.md")
    assert any(link.endswith(".png") for link in links(ROOT / "README.md"))
