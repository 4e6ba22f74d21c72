"""Reads "a path or the text itself" into checked UTF-8 text, for the URDF and the YAML reader."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidInput, ModelError, did_you_mean

TEXT_FILE = "<text>"
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class SourceText:
    """The text of a description and where it came from.

    Attributes:
        text: the content, without byte order mark.
        file: the path as the user wrote it, or ``"<text>"``; for messages.
        path: of the file, None when the text was given directly.
    """

    text: str
    file: str
    path: Path | None

    @property
    def folder(self) -> Path | None:
        """Folder of the file."""
        return None if self.path is None else self.path.parent


@dataclass(frozen=True)
class TextReader:
    """Reads one kind of description.

    Attributes:
        what: ``"URDF"`` or ``"submechanism file"``, for messages.
        error: exception class to raise.
        max_bytes: larger inputs are refused before they are parsed.
        is_text: decides whether a str is the content itself rather than a path.
    """

    what: str
    error: type[ModelError]
    max_bytes: int
    is_text: Callable[[str], bool]

    def read(self, source: object) -> SourceText:
        """Turn ``source``, a str or os.PathLike, into text, or say what is wrong with it."""
        if isinstance(source, str) and self.is_text(source):
            return self._from_text(source)
        if not isinstance(source, (str, os.PathLike)):
            given = type(source).__name__
            problem = f"expected a path or the text of the {self.what}, got {given}"
            raise self._error(TEXT_FILE, problem, "give a str or pathlib.Path")
        return self._from_file(os.fsdecode(source))

    def _error(self, file: str, problem: str, remedy: str) -> ModelError:
        return self.error(problem, file=file, remedy=remedy)

    def _from_text(self, text: str) -> SourceText:
        try:
            size = len(text.encode("utf-8"))
        except UnicodeEncodeError as wrong:
            problem = f"the text has a character that is not Unicode (position {wrong.start})"
            remedy = "decode the file as UTF-8 before passing its text, or pass its path"
            raise self._error(TEXT_FILE, problem, remedy) from None
        self._check_size(size, TEXT_FILE)
        return SourceText(text.removeprefix(_BYTE_ORDER_MARK), TEXT_FILE, None)

    def _from_file(self, name: str) -> SourceText:
        if not name.strip():
            raise self._error(TEXT_FILE, f"no {self.what} given", "give its path or its text")
        file, path = clip(name, 200), Path(name)
        try:
            if not path.is_file():
                raise self._not_a_file(path, file)
            self._check_size(path.stat().st_size, file)
            data = path.read_bytes()
        except (OSError, ValueError) as wrong:  # ValueError: a null character in the path
            reason = getattr(wrong, "strerror", None) or wrong  # str(OSError) repeats the path
            problem = f"the {self.what} cannot be read ({reason})"
            raise self._error(file, problem, "check the path and the permissions") from None
        return SourceText(self._decode(data, file), file, path)

    def _decode(self, data: bytes, file: str) -> str:
        if not data.strip():
            remedy = "check that it was written completely"
            raise self._error(file, f"the {self.what} is empty", remedy)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as wrong:
            problem = f"the {self.what} is not UTF-8 text (byte {wrong.start})"
            remedy = "save it as UTF-8; if it is binary, it is the wrong file"
            raise self._error(file, problem, remedy) from None
        if "\0" in text:
            remedy = f"give the path of the {self.what} itself"
            raise self._error(file, f"the {self.what} is binary, not text", remedy)
        return text.removeprefix(_BYTE_ORDER_MARK)

    def _not_a_file(self, path: Path, file: str) -> ModelError:
        if path.is_dir():
            remedy = f"give the path of the {self.what} in it"
            return self._error(file, "is a folder, not a file", remedy)
        if path.exists():
            return self._error(file, "is not a regular file", f"give the path of a {self.what}")
        try:
            neighbours = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
        except OSError:
            remedy = f"the folder '{clip(str(path.parent), 200)}' does not exist; check the path"
        else:
            remedy = f"check the path; in that folder, {did_you_mean(path.name, neighbours)}"
        return self._error(file, "no such file", remedy)

    def _check_size(self, size: int, file: str) -> None:
        if size > self.max_bytes:
            found, most = (f"{number / 2**20:.0f} MB" for number in (size, self.max_bytes))
            problem = f"the {self.what} is too large ({found}, at most {most})"
            remedy = "check that this is the right file; meshes belong into files of their own"
            raise self._error(file, problem, remedy)


def clip(text: str, length: int = 80) -> str:
    """Text for messages: what a user gives, or a file holds, must not flood the terminal."""
    return text if len(text) <= length else text[:length] + "..."


def as_folders(
    search_path: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
) -> tuple[Path, ...]:
    """One folder or several, as they are given to ``load``."""
    if isinstance(search_path, (str, os.PathLike)):
        search_path = (search_path,)
    try:
        return tuple(Path(folder) for folder in search_path)
    except TypeError as error:
        raise InvalidInput(f"search_path is not a list of folders ({error})") from None
