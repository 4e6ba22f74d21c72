"""Where the generated files of a robot go."""

from __future__ import annotations

from pathlib import Path


def write_robot(name: str, urdf: str, submechanisms: str) -> None:
    """Write ``urdf/<name>.urdf`` and ``config/<name>.yaml`` below the current folder."""
    for path, text in (
        (Path(f"urdf/{name}.urdf"), urdf),
        (Path(f"config/{name}.yaml"), submechanisms),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")
