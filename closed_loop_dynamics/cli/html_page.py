"""A page in one HTML file, light or dark as the reader likes it, with tables and pictures in it."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from .terminal import is_number

_STYLE = """
:root{color-scheme:light dark;
--ink:#1d2430;--grey:#5d6675;--line:#d9dde3;--page:#fff;--head:#f3f5f8}
@media (prefers-color-scheme:dark){:root{
--ink:#e4e7ec;--grey:#9aa4b2;--line:#363d48;--page:#14171c;--head:#1d222a}
.two img{background:#c3c9d2;border-radius:8px}}
*{box-sizing:border-box}body{margin:0 auto;padding:20px;max-width:1120px;background:var(--page);
color:var(--ink);font:15px/1.45 system-ui,"Segoe UI",Helvetica,Arial,sans-serif}
h1{margin:0;font-size:26px}h2{margin:28px 0 8px;font-size:18px;border-bottom:1px solid var(--line)}
p{margin:4px 0 10px;color:var(--grey)}.two{display:flex;flex-wrap:wrap;gap:20px;align-items:center}
.two>*{flex:1 1 320px;min-width:0}.wide{overflow-x:auto;margin-bottom:12px}
table{border-collapse:collapse;font-size:13px}
td,th{padding:3px 10px;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}
th{background:var(--head);font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums}
img{max-width:100%;height:auto;display:block;margin:0 auto}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr));gap:14px}
.charts img{width:100%}
li{margin:4px 0}li,p,h1,h2{overflow-wrap:anywhere}
.error{color:#d62828}.warning{color:#c77700}.info{color:var(--grey)}
@media (max-width:600px){body{padding:12px}table{font-size:12px}
td,th{padding:3px 5px}td:not(.n),th{white-space:normal}}
@media print{body{max-width:none;font-size:11px}h2{break-after:avoid}img,tr{break-inside:avoid}}
"""


def page(title: str, parts: Sequence[str]) -> str:
    """The file."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def section(title: str, note: str, *parts: str) -> str:
    """A heading, a sentence, and what follows."""
    told = f"<p>{escape(note)}</p>" if note else ""
    return f"<h2>{escape(title)}</h2>{told}" + "".join(parts)


def table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head; columns of numbers stand to the right."""
    if len(rows) < 2:
        return ""
    right = [all(is_number(row[k]) for row in rows[1:]) for k in range(len(rows[0]))]
    lines = []
    for i, row in enumerate(rows):
        tag = "td" if i else "th"
        cells = (
            f"<{tag}{' class=n' * r}>{_broken(cell)}</{tag}>"
            for cell, r in zip(row, right, strict=True)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def _broken(text: str) -> str:
    """A cell whose names may go on below where the page is narrow."""
    return re.sub("([_~])", r"\1<wbr>", escape(text))


def picture(draw: Callable[[], Any], text: str) -> str:
    """A figure, drawn for light and for dark pages."""
    import matplotlib.style

    found = []
    for style in ("default", "dark_background"):
        data = io.BytesIO()
        with matplotlib.style.context(style):
            draw().savefig(data, dpi=100, format="png", transparent=True)
        found.append(f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}")
    light, dark = found
    other = f'<source media="(prefers-color-scheme: dark)" srcset="{dark}">' * (dark != light)
    return f'<picture>{other}<img alt="{escape(text)}" src="{light}"></picture>'
