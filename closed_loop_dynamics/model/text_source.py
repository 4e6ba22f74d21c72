"""Reads "a path or the text itself" into checked UTF-8 text, for the URDF and the YAML reader."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import ModelError, did_you_mean

TEXT_FILE = "<text>"
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class SourceText:
    """The text of a description and where it came from.

    Attributes:
        text: the content, without byte order mark.
        file: the path as the user wrote it, or ``"<text>"``; for messages.
        folder: folder of the file, None when the text was given directly.
    """

    text: str
    file: str
    folder: Path | None


def read_source(
    source: object,
    *,
    looks_like_text: Callable[[str], bool],
    error: type[ModelError],
    what: str,
    max_bytes: int,
) -> SourceText:
    """Turn ``source`` (path or text) into text, or raise ``error`` saying what is wrong with it.

    Args:
        source: str or os.PathLike.
        looks_like_text: decides whether a str is the content itself rather than a path.
        error: exception class to raise.
        what: ``"URDF"`` or ``"submechanism file"``, for messages.
        max_bytes: larger inputs are refused before they are parsed.
    """
    if isinstance(source, str) and looks_like_text(source):
        return _from_text(source, error, what, max_bytes)
    if not isinstance(source, (str, os.PathLike)):
        raise error(
            f"expected a path or the text of the {what}, got {type(source).__name__}",
            file=TEXT_FILE,
            remedy="give a str or pathlib.Path",
        )
    return _from_file(os.fspath(source), error, what, max_bytes)


def _from_text(text: str, error: type[ModelError], what: str, max_bytes: int) -> SourceText:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as problem:
        raise error(
            f"the text has a character that is not Unicode (position {problem.start})",
            file=TEXT_FILE,
            remedy="decode the file as UTF-8 before passing its text, or pass its path",
        ) from None
    _check_size(size, error, what, TEXT_FILE, max_bytes)
    return SourceText(text.removeprefix(_BYTE_ORDER_MARK), TEXT_FILE, None)


def _from_file(name: str | bytes, error: type[ModelError], what: str, limit: int) -> SourceText:
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    file = clip(name, 200)
    if not name.strip():
        raise error(f"no {what} given", file=TEXT_FILE, remedy="give its path or its text")
    path = Path(name)
    try:
        if not path.is_file():
            raise _not_a_file(path, error, what, file)
        _check_size(path.stat().st_size, error, what, file, limit)
        data = path.read_bytes()
    except (OSError, ValueError) as problem:  # ValueError: a null character in the path
        reason = getattr(problem, "strerror", None) or problem  # str(OSError) repeats the path
        raise error(
            f"the {what} cannot be read ({reason})",
            file=file,
            remedy="check the path and the permissions",
        ) from None
    return SourceText(_decode(data, error, what, file), file, path.parent)


def _decode(data: bytes, error: type[ModelError], what: str, file: str) -> str:
    if not data.strip():
        raise error(
            f"the {what} is empty", file=file, remedy="check that it was written completely"
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise error(
            f"the {what} is not UTF-8 text (byte {problem.start})",
            file=file,
            remedy="save it as UTF-8; if it is binary, it is the wrong file",
        ) from None
    if "\0" in text:
        raise error(
            f"the {what} is binary, not text",
            file=file,
            remedy=f"give the path of the {what} itself",
        )
    return text.removeprefix(_BYTE_ORDER_MARK)


def _not_a_file(path: Path, error: type[ModelError], what: str, file: str) -> ModelError:
    if path.is_dir():
        return error(
            "is a folder, not a file", file=file, remedy=f"give the path of the {what} in it"
        )
    if path.exists():
        return error("is not a regular file", file=file, remedy=f"give the path of a {what}")
    try:
        neighbours = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    except OSError:
        remedy = f"the folder '{clip(str(path.parent), 200)}' does not exist; check the path"
    else:
        remedy = f"check the path; in that folder, {did_you_mean(path.name, neighbours)}"
    return error("no such file", file=file, remedy=remedy)


def _check_size(size: int, error: type[ModelError], what: str, file: str, limit: int) -> None:
    if size > limit:
        raise error(
            f"the {what} is too large ({size / 2**20:.0f} MB, at most {limit / 2**20:.0f} MB)",
            file=file,
            remedy="check that this is the right file; meshes belong into files of their own",
        )


def clip(text: str, length: int = 80) -> str:
    """Text for messages: what a user gives, or a file holds, must not flood the terminal."""
    return text if len(text) <= length else text[:length] + "..."
