"""What a command reads. Such arguments have the type :class:`InputFile`, so that one check
(``output.check_place``) can keep every command from overwriting what it reads.
"""

from __future__ import annotations

from pathlib import Path

STANDARD = "-"


class InputFile(str):
    """A file or folder on the command line that is read; "-" is standard input."""

    def files(self) -> list[Path]:
        """The paths behind it."""
        return [] if self == STANDARD else [Path(self).expanduser()]

    def includes(self, path: Path) -> bool:
        """``path`` is one of the files, another name of one, or inside a folder of them."""
        return any(_includes(file, path) for file in self.files())


def _includes(file: Path, path: Path) -> bool:
    if file.is_dir():  # a bag
        inside = path.resolve().is_relative_to(file.resolve())
        return inside or any(_includes(entry, path) for entry in file.iterdir() if entry.is_file())
    return file.is_file() and path.exists() and path.samefile(file)
