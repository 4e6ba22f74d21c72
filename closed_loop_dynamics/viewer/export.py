"""One HTML file that plays a motion without a server: viser's own client with the scene in it."""

from __future__ import annotations

from html import escape
from typing import Any

from ..cli.progress import progress
from .export_curves import force_curves
from .panel import legend
from .playback import Playback
from .window import Look

#: Frames per second of the file.
RATE = 30.0


def as_html(server: Any, look: Look, motion: Playback, title: str) -> str:
    """The whole page; it loads nothing from elsewhere."""
    serializer = server.get_scene_serializer()
    count = max(2, round(motion.duration * RATE) + 1)
    with progress("drawing", count) as bar:
        for i in range(count):
            look.scene.show(motion.snapshot(look.camera, motion.frame(i / RATE)))
            serializer.insert_sleep(1.0 / RATE)
            bar.at(i)
    page: str = serializer.as_html()
    page = page.replace("<title>Viser</title>", f"<title>{escape(title)}</title>", 1)
    head, body = page.rsplit("</body>", 1)
    caption = _caption(motion, title, force_curves(look.robot, motion))
    return f"{head}{caption}</body>{body}"


def _caption(motion: Playback, title: str, curves: str) -> str:
    return (
        '<div style="position:fixed;top:14px;right:14px;width:328px;box-sizing:border-box;'
        "padding:10px 14px;"
        "background:rgba(255,255,255,0.92);border-radius:6px;pointer-events:none;z-index:10;"
        'box-shadow:0 1px 5px rgba(0,0,0,0.15);font-family:sans-serif;color:#222">'
        f"<b>{escape(title)}</b>"
        f'<div style="font-size:12px;color:#666">actuators: {escape(motion.note or motion.source)}'
        f"</div>{legend()}{curves}</div>"
    )
