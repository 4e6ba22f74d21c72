"""A xacro file as the XML that it means."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from ...errors import UrdfError
from ..text_source import SourceText, clip

#: More than the processor time that it may take [s].
PATIENCE = 60.0


def expanded(
    given: SourceText,
    arguments: Mapping[str, object],
    folders: Iterable[str | os.PathLike[str]] = (),
) -> SourceText:
    """The text with all macros expanded.

    Args:
        given: a xacro file.
        arguments: of its ``<xacro:arg>``.
        folders: where packages of ``$(find ...)`` are looked for before the file's surroundings.

    Raises:
        UrdfError: xacro is not installed, or what it says.
    """
    if find_spec("xacro") is None:
        raise UrdfError(
            "it is a xacro file, and xacro, which expands it, is not installed",
            file=given.file,
            remedy="pip install closed_loop_dynamics[xacro], or expand it elsewhere: "
            "xacro robot.urdf.xacro > robot.urdf",
        )
    file = None if given.path is None else str(given.path)
    words = {str(key): str(value) for key, value in arguments.items()}
    order = json.dumps([file, given.text, words, [os.fspath(folder) for folder in folders]])
    answer = _asked(order)
    if "xml" not in answer:
        place = "; ".join(line.strip() for line in answer.get("where", "").splitlines())
        raise UrdfError(
            f"xacro: {clip(' '.join(answer['error'].split()), 400)}",
            file=given.file,
            place=clip(place, 400),
            remedy="correct the macro, or give its arguments: load(..., xacro={'name': 'value'})",
        )
    return SourceText(answer["xml"], f"{given.file} (expanded)", given.path)


def _asked(order: str) -> dict[str, str]:
    """The expander's answer, from a process of its own, whose time and memory are limited."""
    script = Path(__file__).with_name("expander.py")
    command = [sys.executable, str(script)]
    try:
        done = subprocess.run(command, input=order.encode(), capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:  # it waits, for a file that is a pipe, say
        return {"error": f"gave up after {PATIENCE:g} s"}
    try:
        return dict(json.loads(done.stdout))
    except ValueError:  # it was ended
        words = done.stderr.decode(errors="replace").strip().splitlines()
        last = f" ({words[-1]})" if words else ""
        return {"error": f"gave up, for want of time or memory{last}"}
